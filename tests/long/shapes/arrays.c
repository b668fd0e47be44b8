// Arrays of structures, in every kind of memory.
//
/// array_malloc type=city bytes=128 hot=weight@96 path=main name=cities
/// array_calloc type=city bytes=128 hot=weight@96 path=main name=cities
/// array_realloc type=city bytes=128 hot=weight@96 path=grow,main name=cities,c
/// array_aligned type=city bytes=128 hot=weight@96 path=main name=cities
/// array_memalign type=city bytes=128 hot=weight@96 path=main name=cities
/// array_mmap type=city bytes=128 hot=weight@96 path=main name=cities
/// array_static type=star bytes=104 hot=mass@4,lum@60 name=stars
/// array_stack must=right type=star bytes=104 hot=mass@4,lum@60 name=stars,main,stack stack=1
/// array_union type=cell bytes=72 hot=second.level@40 path=main name=cells
/// array_bits type=sprite bytes=56 hot=kind|level|rest@32 path=main name=sprites
/// array_nested type=body bytes=104 hot=vel.y@40 path=main name=bodies
/// array_inner type=path bytes=136 hot=steps.cost@80+24*3 path=main name=paths
/// array_flexible type=row bytes=56 start=64 hot=cost@24 path=main name=rows,table
/// array_flexible or type=table hot=rows.cost@88+56*600000 path=main name=table
/// array_threads type=city bytes=128 hot=weight@96 path=main name=cities flags=-pthread
/// array_two type=first bytes=96 hot=key@72 path=make,main name=firsts
/// array_two and type=second bytes=96 hot=value@16 path=make,main name=seconds
/// array_middle type=city bytes=128 hot=weight@96 path=main name=cities
/// array_middle and type=double* bytes=8 path=main name=weights
/// array_reused type=late bytes=88 hot=gain@56 path=main name=late,early,block
/// array_O0 of=array_malloc flags=-O0
/// array_O1 of=array_malloc flags=-O1
/// array_O3 of=array_malloc flags=-O3
/// array_Os of=array_malloc flags=-Os
/// array_clang of=array_nested with=clang
/// array_clang_O0 of=array_static with=clang flags=-O0
/// array_sequential type=city bytes=128 hot=weight@96 path=main name=cities
/// array_unrolled of=array_sequential flags=-O3,-funroll-loops
/// array_vectors type=point bytes=56 hot=y@8,t@36 path=main name=points flags=-O3,-mavx2,-ffast-math
/// array_wide type=quad bytes=72 hot=x@32,y@36,z@40,w@44 path=main name=quads
/// array_stripped of=array_malloc strip=1
/// array_no_debug of=array_nested flags=-g0
#define _GNU_SOURCE
#include "shape.h"
#include <pthread.h>
#include <sys/mman.h>

enum { N = 1 << 19 };

struct city {
    char tag[12];
    int zone;
    double x;
    long pad[9];
    double weight;
    long rest[3];
};
struct star {
    int id;
    float mass;
    double pos[3], vel[3];
    int flags;
    float lum;
    long more[5];
};
union cell {
    struct {
        long key, next;
        double low[7];
    } first;
    struct {
        char text[40];
        long level, other[3];
    } second;
};
struct sprite {
    long id;
    double at[3];
    unsigned kind : 4, level : 12, rest : 16;
    unsigned frame;
    double last[2];
};
struct vec {
    double x, y, z;
};
struct body {
    long id;
    struct vec pos, vel;
    long n;
    double hist[5];
};
struct step {
    char name[8];
    double at;
    float cost, gain;
};
struct path {
    long id;
    char what[56];
    struct step steps[3];
};
struct row {
    long key, next;
    double mean, cost, more[3];
};
struct table {
    long count, size;
    char name[48];
    struct row rows[];
};
struct first {
    char name[64];
    long next, key, more[2];
};
struct second {
    double low, high, value, others[9];
};
struct early {
    double low, sum, rest[9];
};
struct late {
    char name[48];
    long seen;
    double gain, more[3];
};
struct point {
    double x, y;
    float u, v, w, q, s, t;
    double z[2];
};

struct quad {
    long id;
    char tag[24];
    float x, y, z, w;
    double more[3];
};
typedef float four __attribute__((vector_size(16), aligned(4), may_alias));

#if defined shape_array_static
static struct star stars[N];
#endif

#if defined shape_array_static || defined shape_array_stack
NI static double walk(const struct star *s, size_t n)
{
    double sum = 0;
    EACH(i, n) sum += s[i].mass * s[i].lum;
    return sum;
}
int main(int argc, char **argv)
{
#ifdef shape_array_stack
    enum { COUNT = 1 << 16 };
    struct star stars[COUNT];
#else
    enum { COUNT = N };
#endif
    for (size_t i = 0; i < COUNT; i++)
        stars[i] = (struct star){.id = (int)i, .mass = 1, .lum = 2};
    REPEAT(walk(stars, COUNT));
    return 0;
}
#elif defined shape_array_union
NI static long walk(const union cell *c, size_t n)
{
    long sum = 0;
    EACH(i, n) sum += c[i].second.level;
    return sum;
}
int main(int argc, char **argv)
{
    union cell *cells = malloc(N * sizeof *cells);
    for (size_t i = 0; i < N; i++)
        memset(cells[i].second.text, 'a', 40), cells[i].second.level = (long)i;
    REPEAT(walk(cells, N));
    return 0;
}
#elif defined shape_array_bits
NI static long walk(const struct sprite *s, size_t n)
{
    long sum = 0;
    EACH(i, n) sum += s[i].level;
    return sum;
}
int main(int argc, char **argv)
{
    struct sprite *sprites = malloc(2 * N * sizeof *sprites);
    for (size_t i = 0; i < 2 * N; i++)
        sprites[i] = (struct sprite){.id = (long)i, .kind = 3, .level = 70, .frame = 7};
    REPEAT(walk(sprites, 2 * N));
    return 0;
}
#elif defined shape_array_nested
NI static double walk(const struct body *b, size_t n)
{
    double sum = 0;
    EACH(i, n) sum += b[i].vel.y;
    return sum;
}
int main(int argc, char **argv)
{
    struct body *bodies = malloc(N * sizeof *bodies);
    for (size_t i = 0; i < N; i++)
        bodies[i] = (struct body){.id = (long)i, .vel = {1, 2, 3}};
    REPEAT(walk(bodies, N));
    return 0;
}
#elif defined shape_array_inner
NI static double walk(const struct path *p, size_t n)
{
    double sum = 0;
    EACH(i, n) for (int k = 0; k < 3; k++) sum += p[i].steps[k].cost;
    return sum;
}
int main(int argc, char **argv)
{
    struct path *paths = calloc(N, sizeof *paths);
    for (size_t i = 0; i < N; i++)
        paths[i].id = (long)i, paths[i].steps[1].cost = 2;
    REPEAT(walk(paths, N));
    return 0;
}
#elif defined shape_array_flexible
NI static double walk(const struct table *t)
{
    double sum = 0;
    EACH(i, N) sum += t->rows[i].cost;
    return sum;
}
int main(int argc, char **argv)
{
    struct table *table = calloc(1, sizeof *table + N * sizeof table->rows[0]);
    for (size_t i = 0; i < N; i++)
        table->rows[i].key = (long)i, table->rows[i].cost = 1;
    REPEAT(walk(table));
    return 0;
}
#elif defined shape_array_threads
struct part {
    const struct city *cities;
    size_t n;
    double sum;
};
NI static double walk(const struct city *c, size_t n)
{
    double sum = 0;
    EACH(i, n) sum += c[i].weight;
    return sum;
}
static void *worker(void *data)
{
    struct part *p = data;
    p->sum = walk(p->cities, p->n);
    return NULL;
}
static double both(struct part *parts)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, worker, &parts[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return parts[0].sum + parts[1].sum;
}
int main(int argc, char **argv)
{
    struct city *cities = malloc(N * sizeof *cities);
    for (size_t i = 0; i < N; i++)
        cities[i] = (struct city){.zone = (int)i, .weight = 1};
    struct part parts[2] = {{cities, N / 2, 0}, {cities + N / 2, N / 2, 0}};
    REPEAT(both(parts));
    return 0;
}
#elif defined shape_array_two
NI static void *make(size_t bytes)
{
    void *p = malloc(bytes);
    memset(p, 1, bytes);
    return p;
}
NI static double walk_first(const struct first *f, size_t n)
{
    double sum = 0;
    EACH(i, n) sum += (double)f[i].key;
    return sum;
}
NI static double walk_second(const struct second *s, size_t n)
{
    double sum = 0;
    EACH(i, n) sum += s[i].value;
    return sum;
}
int main(int argc, char **argv)
{
    struct first *firsts = make(N * sizeof *firsts);
    struct second *seconds = make(N * sizeof *seconds);
    REPEAT(walk_first(firsts, N) + walk_first(firsts, N) + walk_second(seconds, N));
    return 0;
}
#elif defined shape_array_middle
NI static double walk(double *const *w, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += *w[i];
    return sum;
}
int main(int argc, char **argv)
{
    struct city *cities = malloc(N * sizeof *cities);
    double **weights = malloc(N * sizeof *weights);
    for (size_t i = 0; i < N; i++) {
        cities[i] = (struct city){.zone = (int)i, .weight = 1};
        weights[PLACE(i, N)] = &cities[i].weight;
    }
    REPEAT(walk(weights, N));
    return 0;
}
#elif defined shape_array_reused
NI static double begin(struct early *e, size_t n)
{
    double sum = 0;
    for (int k = 0; k < 2; k++)
        EACH(i, n) sum += e[i].sum;
    return sum;
}
NI static double walk(const struct late *l, size_t n)
{
    double sum = 0;
    EACH(i, n) sum += l[i].gain;
    return sum;
}
int main(int argc, char **argv)
{
    void *block = malloc(N * sizeof(struct late));
    memset(block, 0, N * sizeof(struct late));
    struct early *early = block;
    for (size_t i = 0; i < N; i++)
        early[i].low = 1, early[i].sum = 2;
    printf("%g\n", begin(early, N));
    struct late *late = block;
    for (size_t i = 0; i < N; i++)
        late[i].seen = 1, late[i].gain = 2;
    REPEAT(walk(late, N));
    return 0;
}
#elif defined shape_array_wide
NI static double walk(const struct quad *quads, size_t n)
{
    four sum = {0};
    EACH(i, n)
        sum += *(const four *)&quads[i].x; // one load of four fields
    return sum[0] + sum[1] + sum[2] + sum[3];
}
int main(int argc, char **argv)
{
    struct quad *quads = calloc(2 * N, sizeof *quads);
    for (size_t i = 0; i < 2 * N; i++)
        quads[i].id = (long)i, quads[i].x = 1;
    REPEAT(walk(quads, 2 * N));
    return 0;
}
#elif defined shape_array_vectors
NI static double walk(const struct point *p, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += p[i].y * p[i].t;
    return sum;
}
int main(int argc, char **argv)
{
    struct point *points = malloc(N * 2 * sizeof *points);
    for (size_t i = 0; i < N * 2; i++)
        points[i] = (struct point){.x = 1, .y = 2, .t = 3};
    REPEAT(walk(points, N * 2));
    return 0;
}
#else
NI static double walk(const struct city *c, size_t n)
{
    double sum = 0;
#ifdef shape_array_sequential
    for (size_t i = 0; i < n; i++)
        sum += c[i].weight;
#else
    EACH(i, n) sum += c[i].weight;
#endif
    return sum;
}
#ifdef shape_array_realloc
NI static struct city *grow(struct city *c, size_t n)
{
    return realloc(c, n * sizeof *c);
}
#endif
int main(int argc, char **argv)
{
#if defined shape_array_calloc
    struct city *cities = calloc(N, sizeof *cities);
#elif defined shape_array_aligned
    struct city *cities = aligned_alloc(64, N * sizeof *cities);
#elif defined shape_array_memalign
    struct city *cities;
    if (posix_memalign((void **)&cities, 128, N * sizeof *cities))
        return 1;
#elif defined shape_array_mmap
    struct city *cities = mmap(NULL, N * sizeof *cities, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
#elif defined shape_array_realloc
    struct city *cities = NULL;
    for (size_t i = 0, room = 0; i < N; i++) {
        if (i == room)
            cities = grow(cities, room = room ? 2 * room : 64);
        cities[i].zone = (int)i;
    }
#else
    struct city *cities = malloc(N * sizeof *cities);
#endif
    for (size_t i = 0; i < N; i++)
        cities[i] = (struct city){.zone = (int)i, .weight = 1};
    REPEAT(walk(cities, N));
    return 0;
}
#endif
