/* Where every hot loop's data is known: each "TRUTH function: type { fields }" names what its accesses go to.
 * Run by tests/truth/named_types.sh; the argument is the number of rounds. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __clang__
#define HOT __attribute__((noinline))
#else
#define HOT __attribute__((noinline, noclone))
#endif
enum { COUNT = 600000 };

struct node {
    long key;
    struct node *next;
    char name[24];
    double weight;
};

struct vec3 {
    double x, y, z;
};

struct body {
    struct vec3 position, velocity;
    double mass;
    float history[6];
};

struct shape {
    double (*area)(const struct shape *shape);
    double width, height;
    const char *label;
};

struct packet {
    unsigned kind : 4, flags : 12;
    unsigned length;
    uint64_t payload;
    uint64_t checksum;
};

struct value {
    int tag;
    union {
        double real;
        long integer;
    };
    const char *unit;
};

typedef struct {
    float heat, flow;
    int neighbours[4];
} cell_t;

struct row {
    size_t count;
    double sum;
    double values[];
};

struct edge {
    int from, to;
    double cost;
};

struct graph {
    size_t nodes, edges;
    struct vec3 *node;
    struct edge *edge;
};

struct slot {
    uint64_t key;
    uint32_t hits, misses;
    void *data;
};

static cell_t grid[1000][600];
static struct slot table[1 << 20];
static unsigned random_state = 1;

static unsigned next_random(void)
{
    random_state = random_state * 1664525u + 1013904223u;
    return random_state >> 4;
}

/* TRUTH walk_list: struct node { key, next } */
HOT static long walk_list(const struct node *list)
{
    long sum = 0;
    for (; list; list = list->next)
        sum += list->key;
    return sum;
}

static inline double dot(const struct vec3 *a, const struct vec3 *b)
{
    return a->x * b->x + a->y * b->y + a->z * b->z;
}

static inline void add(struct vec3 *to, const struct vec3 *what, double factor)
{
    to->x += what->x * factor;
    to->y += what->y * factor;
    to->z += what->z * factor;
}

/* TRUTH kinetic: struct body { velocity, mass } */
HOT static double kinetic(const struct body *bodies, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += bodies[i].mass * dot(&bodies[i].velocity, &bodies[i].velocity);
    return sum;
}

/* TRUTH move: struct body { position, velocity } */
HOT static void move(struct body *bodies, size_t count, double step)
{
    for (struct body *body = bodies; body < bodies + count; body++)
        add(&body->position, &body->velocity, step);
}

/* TRUTH smooth: struct body { history } */
HOT static float smooth(struct body *bodies, size_t count)
{
    float last = 0;
    for (size_t i = 0; i < count; i++)
        for (int k = 1; k < 6; k++) {
            bodies[i].history[k] = 0.5f * (bodies[i].history[k - 1] + bodies[i].history[k]);
            last += bodies[i].history[k];
        }
    return last;
}

/* TRUTH area_rectangle: struct shape { width, height } */
HOT static double area_rectangle(const struct shape *shape)
{
    return shape->width * shape->height;
}

/* TRUTH area_ellipse: struct shape { width, height } */
HOT static double area_ellipse(const struct shape *shape)
{
    return shape->width * shape->height * 3.14159 / 4;
}

/* TRUTH all_areas: struct shape { area, width, height } */
HOT static double all_areas(const struct shape *shapes, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += shapes[i].area(&shapes[i]);
    return sum;
}

/* TRUTH count_kinds: struct packet { kind, flags; length } */
HOT static uint64_t count_kinds(const struct packet *packets, size_t count, unsigned kind)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < count; i++)
        if (packets[i].kind == kind && packets[i].flags != 7)
            sum += packets[i].length;
    return sum;
}

/* TRUTH add_values: struct value { tag; real, integer } */
HOT static double add_values(const struct value *values, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += values[i].tag ? values[i].real : (double)values[i].integer;
    return sum;
}

/* TRUTH heat_up: cell_t { heat, neighbours } */
HOT static float heat_up(int rounds)
{
    float most = 0;
    for (int round = 0; round < rounds; round++)
        for (int y = 0; y < 1000; y++)
            for (int x = 0; x < 600; x++) {
                grid[y][x].heat += 0.5f * (float)grid[y][x].neighbours[x & 3];
                if (grid[y][x].heat > most)
                    most = grid[y][x].heat;
            }
    return most;
}

/* TRUTH add_rows: struct row { count, values } */
/* TRUTH add_rows: struct row * { } */
HOT static double add_rows(struct row *const *rows, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < rows[i]->count; k += 2)
            sum += rows[i]->values[k];
    return sum;
}

/* TRUTH relax: struct edge { from, to, cost } */
/* TRUTH relax: struct vec3 { x } */
HOT static double relax(struct graph *graph)
{
    double best = 0;
    for (size_t i = 0; i < graph->edges; i++) {
        double there = graph->node[graph->edge[i].to].x + graph->edge[i].cost;
        if (there > graph->node[graph->edge[i].from].x)
            graph->node[graph->edge[i].from].x = there;
        best = there > best ? there : best;
    }
    return best;
}

/* TRUTH look_up: struct slot { key, hits, misses } */
HOT static uint64_t look_up(size_t count)
{
    uint64_t found = 0;
    for (size_t i = 0; i < count; i++) {
        struct slot *slot = &table[next_random() & ((1 << 20) - 1)];
        if (slot->key & 1)
            found += ++slot->hits;
        else
            slot->misses++;
    }
    return found;
}

/* TRUTH add_keys: struct node { key } */
/* TRUTH add_keys: struct node * { } */
HOT static long add_keys(struct node *const *nodes, size_t count)
{
    long sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += nodes[i]->key;
    return sum;
}

static void *make(size_t bytes)
{
    void *made = calloc(1, bytes);
    if (!made)
        abort();
    return made;
}

/* What is in front of the bytes given out says nothing of them. */
void *make_counted(size_t bytes)
{
    size_t *made = malloc(sizeof *made + bytes);
    if (!made)
        abort();
    *made = bytes;
    return made + 1;
}

/* The member keeps the block, the variable with a type only looks through it. */
struct pool {
    void *start;
    long used;
};

void make_pool(struct pool *pool, size_t count)
{
    pool->start = malloc(count * sizeof(struct node));
    if (!pool->start)
        abort();
    struct node *node = pool->start;
    for (size_t i = 0; i + 1 < count; i++, node++)
        node->next = node + 1;
    node->next = NULL;
}

/* An allocator's own last block: the caller keeps it. */
void *last_made;

struct node *make_noted(size_t count)
{
    struct node *made = malloc(count * sizeof *made);
    if (!made)
        abort();
    return last_made = made;
}

/* The numbers given out are more of the same. */
double *make_from_one(size_t count)
{
    double *made = malloc((1 + count) * sizeof *made);
    if (!made)
        abort();
    *made = 0;
    return made + 1;
}

/* What the caller keeps by a name of its own. */
size_t make_given(double **given, size_t count)
{
    *given = malloc(count * sizeof **given);
    if (!*given)
        abort();
    for (size_t i = 0; i < count; i++)
        (*given)[i] = 0.5;
    return count;
}

static struct node *make_list(struct node **nodes)
{
    for (int i = 0; i < COUNT; i++) {
        nodes[i] = malloc(sizeof *nodes[i]);
        if (!nodes[i])
            abort();
        nodes[i]->key = i;
        memset(nodes[i]->name, 'a', sizeof nodes[i]->name);
    }
    for (int i = COUNT - 1; i > 0; i--) {
        unsigned other = next_random() % (unsigned)(i + 1);
        struct node *swap = nodes[i];
        nodes[i] = nodes[other];
        nodes[other] = swap;
    }
    for (int i = 0; i < COUNT; i++)
        nodes[i]->next = i + 1 < COUNT ? nodes[i + 1] : NULL;
    return nodes[0];
}

/* TRUTH anywhere: unsigned int { } */
int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 10;
    struct node **nodes = make(COUNT * sizeof *nodes), *list = make_list(nodes);
    struct body *bodies = make(COUNT * sizeof *bodies);
    struct shape *shapes = make(COUNT * sizeof *shapes);
    struct packet *packets = make(COUNT * sizeof *packets);
    struct value *values = malloc(COUNT * sizeof(struct value));
    struct row **rows = malloc(COUNT / 8 * sizeof *rows);
    struct graph graph = {COUNT / 4, COUNT, make(COUNT / 4 * sizeof *graph.node), make(COUNT * sizeof *graph.edge)};
    double sum = 0;
    if (!values || !rows)
        abort();
    for (int i = 0; i < COUNT; i++) {
        bodies[i].mass = i;
        shapes[i] = (struct shape){next_random() & 1 ? area_rectangle : area_ellipse, i, 2, "shape"};
        packets[i] = (struct packet){next_random() & 15, next_random() & 0xfff, 100, 1, 2};
        values[i] = (struct value){.tag = next_random() & 1, .real = 0.5, .unit = "m"};
        graph.edge[i] = (struct edge){(int)(next_random() % (COUNT / 4)), (int)(next_random() % (COUNT / 4)), 1};
    }
    for (int i = 0; i < COUNT / 8; i++) {
        rows[i] = make(sizeof *rows[i] + 24 * sizeof(double));
        rows[i]->count = 24;
    }
    for (int i = 0; i < 1 << 20; i++)
        table[i].key = next_random();
    for (int i = 0; i < rounds; i++) {
        if (i % 8 == 0)
            sum += (double)walk_list(list);
        sum += kinetic(bodies, COUNT) + (double)smooth(bodies, COUNT);
        move(bodies, COUNT, 0.1);
        sum += all_areas(shapes, COUNT) + (double)count_kinds(packets, COUNT, 3) + add_values(values, COUNT);
        sum += (double)heat_up(2) + add_rows(rows, COUNT / 8) + relax(&graph) + (double)look_up(COUNT);
        sum += (double)add_keys(nodes, COUNT);
    }
    printf("%g\n", sum);
    return 0;
}
