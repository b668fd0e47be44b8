/* Harder to name: pointers into the middle of blocks, buffers of bytes, containers and their nodes. Run as records.c.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define HOT __attribute__((noinline))
enum { COUNT = 200000 };
struct link {
    struct link *next, *prev;
};
struct task {
    int id;
    struct link links;
    double cost;
    long runs;
};
struct base {
    int kind;
    struct base *peer;
};
struct circle {
    struct base base;
    double radius, area;
};
struct box {
    struct base base;
    double w, h, d;
};
struct entry {
    uint64_t hash;
    void *value;
};
struct map {
    size_t size;
    struct entry *entries;
};
struct payload {
    double a, b;
    long hits;
};
struct header {
    size_t count;
    size_t used;
};
struct sample {
    float x, y;
    int n;
    int pad;
};
struct pool {
    char *memory;
    size_t used;
};
struct cell {
    struct cell *next;
    long key;
    double v;
};
struct vecs {
    double *xs;
    double *ys;
    int n;
};
struct grow {
    struct sample *items;
    size_t count, room;
};
#define container_of(p, t, m) ((t *)((char *)(p)-offsetof(t, m)))
static unsigned rs = 1;
static unsigned rnd(void)
{
    rs = rs * 1664525u + 1013904223u;
    return rs >> 4;
}
static void *xmalloc(size_t n)
{
    void *p = malloc(n);
    if (!p)
        abort();
    return p;
}
/* TRUTH walk_tasks: struct task { links, cost, runs } */
HOT double walk_tasks(struct link *head)
{
    double s = 0;
    for (struct link *l = head->next; l != head; l = l->next) {
        struct task *t = container_of(l, struct task, links);
        s += t->cost;
        t->runs++;
    }
    return s;
}
/* TRUTH areas: struct base * { } */
/* TRUTH areas: struct circle { base, radius, area } */
/* TRUTH areas: struct box { base, w, h } */
HOT double areas(struct base **all, int n)
{
    double s = 0;
    for (int i = 0; i < n; i++) {
        if (all[i]->kind) {
            struct circle *c = (struct circle *)all[i];
            c->area = c->radius * c->radius;
            s += c->area;
        } else {
            struct box *b = (struct box *)all[i];
            s += b->w * b->h;
        }
    }
    return s;
}
/* TRUTH kinds: struct base * { } */
/* TRUTH kinds: struct circle { base } */
/* TRUTH kinds: struct box { base } */
HOT long kinds(struct base **all, int n)
{
    long s = 0;
    for (int i = 0; i < n; i++)
        s += all[i]->kind;
    return s;
}
/* TRUTH find: struct entry { hash, value } */
HOT struct entry *find(struct map *m, uint64_t h)
{
    size_t i = h & (m->size - 1);
    while (m->entries[i].hash && m->entries[i].hash != h)
        i = (i + 1) & (m->size - 1);
    return &m->entries[i];
}
/* TRUTH touch: struct payload { a, hits } */
/* TRUTH touch: struct entry { hash, value } */
HOT double touch(struct map *m, int n)
{
    double s = 0;
    for (int i = 0; i < n; i++) {
        struct entry *e = find(m, rnd() % COUNT + 1);
        if (e->hash) {
            struct payload *p = e->value;
            s += p->a;
            p->hits++;
        }
    }
    return s;
}
/* TRUTH compare: struct sample { x } */
HOT static int compare(const void *a, const void *b)
{
    const struct sample *x = a, *y = b;
    return x->x < y->x ? -1 : x->x > y->x;
}
/* TRUTH differences: struct sample { x } */
HOT double differences(const struct sample *samples, int n)
{
    double s = 0;
    for (int i = 1; i < n; i++)
        s += samples[i].x - samples[i - 1].x;
    return s;
}
/* TRUTH headed: struct sample { x, n } */
HOT double headed(struct header *h)
{
    struct sample *s = (struct sample *)(h + 1);
    double t = 0;
    for (size_t i = 0; i < h->count; i++)
        t += s[i].x * s[i].n;
    return t;
}
static void *pool_get(struct pool *p, size_t n)
{
    void *r = p->memory + p->used;
    p->used += n;
    return r;
}
/* TRUTH cells: struct cell { next, key, v } */
HOT double cells(struct cell *c)
{
    double s = 0;
    for (; c; c = c->next)
        s += c->v + c->key;
    return s;
}
/* TRUTH dotted: double { } */
HOT double dotted(struct vecs *v)
{
    double s = 0;
    for (int i = 0; i < v->n; i++)
        s += v->xs[i] * v->ys[i];
    return s;
}
static void add(struct grow *g, struct sample s)
{
    if (g->count == g->room) {
        g->room = g->room ? g->room * 2 : 16;
        g->items = realloc(g->items, g->room * sizeof *g->items);
        if (!g->items)
            abort();
    }
    g->items[g->count++] = s;
}
/* TRUTH grown: struct sample { x, y } */
HOT double grown(const struct grow *g)
{
    double t = 0;
    for (size_t i = 0; i < g->count; i++)
        t += g->items[i].x * g->items[i].y;
    return t;
}
/* TRUTH bytes: unsigned char { } */
HOT long bytes(const unsigned char *p, size_t n)
{
    long s = 0;
    for (size_t i = 0; i < n; i++)
        s = s * 31 + p[i];
    return s;
}
/* TRUTH matrix: double { } */
/* TRUTH matrix: double * { } */
HOT double matrix(double **m, int n)
{
    double s = 0;
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++)
            s += m[i][j];
    return s;
}
/* TRUTH anywhere: uint64_t { } */
/* TRUTH anywhere: unsigned int { } */
/* TRUTH anywhere: struct task * { } */
int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 10;
    struct link head = {&head, &head};
    double s = 0;
    struct task **order = xmalloc(COUNT * sizeof *order);
    for (int i = 0; i < COUNT; i++) {
        order[i] = xmalloc(sizeof(struct task));
        order[i]->cost = i;
        order[i]->runs = 0;
    }
    for (int i = 0; i < COUNT; i++) {
        struct link *l = &order[rnd() % COUNT]->links;
        (void)l;
        l = &order[i]->links;
        l->prev = head.prev;
        l->next = &head;
        head.prev->next = l;
        head.prev = l;
    }
    struct base **all = xmalloc(COUNT * sizeof *all);
    for (int i = 0; i < COUNT; i++)
        if (rnd() & 1) {
            struct circle *c = xmalloc(sizeof *c);
            c->base.kind = 1;
            c->radius = i;
            all[i] = &c->base;
        } else {
            struct box *b = xmalloc(sizeof *b);
            b->base.kind = 0;
            b->w = b->h = i;
            all[i] = &b->base;
        }
    struct map map = {1 << 19, calloc(1 << 19, sizeof(struct entry))};
    for (int i = 0; i < COUNT; i++) {
        struct entry *e = find(&map, i + 1);
        struct payload *p = xmalloc(sizeof *p);
        p->a = i;
        p->hits = 0;
        e->hash = i + 1;
        e->value = p;
    }
    struct header *h = xmalloc(sizeof *h + COUNT * sizeof(struct sample));
    h->count = COUNT;
    struct sample *in = (struct sample *)(h + 1);
    for (int i = 0; i < COUNT; i++)
        in[i] = (struct sample){rnd() % 1000, 1, 2, 0};
    struct sample *sorted = xmalloc(COUNT * sizeof *sorted);
    struct pool pool = {xmalloc(COUNT * sizeof(struct cell)), 0};
    struct cell *list = NULL;
    for (int i = 0; i < COUNT; i++) {
        struct cell *c = pool_get(&pool, sizeof *c);
        c->key = i;
        c->v = 1;
        c->next = list;
        list = c;
    }
    struct vecs v = {xmalloc(COUNT * 8), xmalloc(COUNT * 8), COUNT};
    for (int i = 0; i < COUNT; i++)
        v.xs[i] = v.ys[i] = i;
    struct grow g = {0};
    for (int i = 0; i < COUNT * 4; i++)
        add(&g, (struct sample){i, 1, 1, 0});
    unsigned char *raw = xmalloc(1 << 20);
    memset(raw, 1, 1 << 20);
    double **m = xmalloc(600 * sizeof *m);
    for (int i = 0; i < 600; i++) {
        m[i] = xmalloc(600 * 8);
        for (int j = 0; j < 600; j++)
            m[i][j] = j;
    }
    for (int r = 0; r < rounds; r++) {
        s += walk_tasks(&head) + areas(all, COUNT) + kinds(all, COUNT) + touch(&map, COUNT) + headed(h) + cells(list) +
             dotted(&v) + grown(&g) + bytes(raw, 1 << 20) + matrix(m, 600);
        if (r % 32 == 0) { /* what it copies to is the C library's own, whose type nobody knows */
            memcpy(sorted, in, COUNT * sizeof *in);
            qsort(sorted, COUNT, sizeof *sorted, compare);
        }
        s += differences(sorted, COUNT);
    }
    printf("%g\n", s);
    return 0;
}
