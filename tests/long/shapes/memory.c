// Memory that programs divide themselves: colours, packed records, rings, files, growth, hierarchies, obstacks, pools of threads.
//
/// slab_colour type=node bytes=88 start=any hot=cost@40 path=slab_new,new_node,main name=nodes,slab,node,at
/// slab_colour and type=node* bytes=8 path=main name=nodes
/// packed type=quote bytes=21 hot=price@1 path=main name=quotes
/// one_block type=double|int bytes=8|4 path=main,make name=block,xs,ys,ids,columns,x,y,id start=any
/// one_block or bytes=1|4|8 path=main,make name=block,columns
/// ring type=trade bytes=56 hot=price@16,head.kind|kind@0,head.bytes|bytes@4 path=main name=ring,trade,record start=any
/// ring or type=quote_record bytes=88 hot=bid@72,head.kind|kind@0,head.bytes|bytes@4 path=main name=ring,quote_record,record start=any
/// ring or type=record bytes=8 hot=kind@0,bytes@4 path=main name=ring,record start=any
/// mapped_file type=entry bytes=72 hot=weight@56 path=main,open_file name=entries,file,header,map,entry start=128
/// mapped_file or type=file hot=entries.weight@184+72*262144 path=main,open_file name=file,header,map
/// grown type=node bytes=88 hot=cost@40 path=add,main name=nodes,list,items
/// hierarchy type=node bytes=88 start=48 hot=cost@40 path=talloc,main name=nodes,node
/// hierarchy and type=edge bytes=72 start=48 hot=gain@56 path=talloc,main name=edges,edge
/// hierarchy and type=node* bytes=8 path=main name=nodes
/// hierarchy and type=edge* bytes=8 path=main name=edges
/// obstacks type=node bytes=88 start=any hot=cost@40 path=main,chunk_new name=nodes,node,pool,chunk wrappers=chunk_new
/// obstacks and type=node* bytes=8 path=main name=nodes
/// alloca_array type=node bytes=88 hot=cost@40 stack=1 name=nodes,main,run,node,stack start=any
/// thread_pool type=node bytes=88 start=any hot=cost@40 path=main,pool_new name=nodes,node,pool
/// thread_pool and type=node* bytes=8 path=main name=nodes
/// flexible_rest type=packet hot=length@8 path=packet_new,main name=packets,packet
/// flexible_rest and type=packet* bytes=8 path=main name=packets
/// tagged type=value bytes=40 hot=kind@0,as.number|number@8 path=main name=values
/// small_buffer type=text bytes=48 hot=length@0,data@8,inside@16+8*4 path=main name=texts
/// small_buffer and bytes=1|8|64 path=main,set name=texts,data,long
/// arena_aligned type=node bytes=88 start=any hot=cost@40 path=arena_new,main name=nodes,node,arena,memory,base
/// arena_aligned and type=edge bytes=72 start=any hot=gain@56 path=arena_new,main name=edges,edge,arena,memory,base
/// arena_aligned and type=node* bytes=8 path=main name=nodes
/// arena_aligned and type=edge* bytes=8 path=main name=edges
/// handles type=node bytes=88 hot=cost@40,next@80 path=main,pool_init name=nodes,pool,items
/// buddy type=node bytes=88 start=any hot=cost@40 path=main,buddy_init name=nodes,node,memory,base,buddy
/// buddy and type=edge bytes=72 start=any hot=gain@56 path=main,buddy_init name=edges,edge,memory,base,buddy
/// buddy and type=node* bytes=8 path=main name=nodes
/// buddy and type=edge* bytes=8 path=main name=edges
/// derived_first type=shape bytes=24|120 hot=area@16 path=circle_new,main name=shapes,circle,shape
/// derived_first or type=circle bytes=120 hot=base.area|area@16 path=circle_new,main name=shapes,circle,shape
/// derived_first and type=shape* bytes=8 path=main name=shapes
/// derived_two type=circle bytes=120 hot=base.area|area@16 path=circle_new,main name=shapes,circle,shape,all
/// derived_two or type=shape bytes=24|120 hot=area@16 path=circle_new,main name=shapes,circle,shape,all
/// derived_two and type=box bytes=72 hot=base.area|area@16 path=box_new,main name=shapes,box,shape,all
/// derived_two or type=shape bytes=24|72 hot=area@16 path=box_new,main name=shapes,box,shape,all
/// derived_two and type=shape* bytes=8 path=main name=shapes
/// free_list_union type=bucket bytes=48 start=0 path=more_items,take,main name=table,first,items,bucket,at wrappers=take,more_items
/// free_list_union and bytes=8 path=main name=table
/// gap_buffer type=node bytes=88 hot=cost@40 path=main name=nodes,buffer
/// slab_colour_O3 of=slab_colour flags=-O3
/// hierarchy_clang of=hierarchy with=clang
/// ring_clang of=ring with=clang
/// arena_aligned_Os of=arena_aligned flags=-Os
/// packed_clang of=packed with=clang
#define _GNU_SOURCE
#include "shape.h"
#include <alloca.h>
#include <obstack.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

enum { N = 1 << 18 };
struct node {
    long id;
    char name[24];
    double at, cost, low, high;
    long flags[2];
    int next, rest[1];
};
struct edge {
    double length, mean[5];
    long to;
    double gain, loss;
};

__attribute__((unused)) NI static double walk_nodes(struct node *const *nodes, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += nodes[i]->cost;
    return sum;
}
__attribute__((unused)) NI static double walk_edges(struct edge *const *edges, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += edges[i]->gain;
    return sum;
}
__attribute__((unused)) NI static double walk_all(const struct node *node, size_t n)
{
    double sum = 0;
    EACH(i, n) sum += node[i].cost;
    return sum;
}
__attribute__((unused)) static void fill(struct node *node, size_t i)
{
    memset(node, 0, sizeof *node);
    node->id = (long)i;
    node->cost = 1;
}
__attribute__((unused)) static void fill_edge(struct edge *edge)
{
    memset(edge, 0, sizeof *edge);
    edge->gain = 1;
}

#if defined shape_slab_colour
struct slab {
    struct slab *next;
    char *at, *end;
    long used;
};
static unsigned colour;
NI static struct slab *slab_new(struct slab *next)
{
    struct slab *slab = aligned_alloc(8192, 8192);
    colour = (colour + 64) % 256;
    *slab = (struct slab){next, (char *)(slab + 1) + colour, (char *)slab + 8192, 0};
    return slab;
}
NI static struct node *new_node(struct slab **slab)
{
    if (!*slab || (*slab)->end - (*slab)->at < (long)sizeof(struct node))
        *slab = slab_new(*slab);
    struct node *node = (struct node *)(*slab)->at;
    (*slab)->at += sizeof *node;
    (*slab)->used++;
    return node;
}
int main(int argc, char **argv)
{
    struct slab *slab = NULL;
    struct node **nodes = malloc(N * sizeof *nodes);
    for (size_t i = 0; i < N; i++)
        fill(nodes[PLACE(i, N)] = new_node(&slab), i);
    REPEAT(walk_nodes(nodes, N));
}
#elif defined shape_packed
struct __attribute__((packed)) quote {
    char kind;
    double price;
    int volume;
    long at;
};
NI static double walk(const struct quote *quote, size_t n)
{
    double sum = 0;
    EACH(i, n) sum += quote[i].price;
    return sum;
}
int main(int argc, char **argv)
{
    enum { COUNT = 1 << 20 };
    struct quote *quotes = malloc(COUNT * sizeof *quotes);
    for (size_t i = 0; i < COUNT; i++)
        quotes[i] = (struct quote){'a', 1, 2, (long)i};
    REPEAT(walk(quotes, COUNT));
}
#elif defined shape_one_block
struct columns {
    double *x, *y;
    int *id;
};
NI static double walk(const struct columns *of, size_t n)
{
    double sum = 0;
    EACH(i, n) sum += of->x[i] * of->id[i];
    return sum;
}
NI static void make(struct columns *columns, size_t n)
{
    char *block = malloc(n * (2 * sizeof(double) + sizeof(int)));
    columns->x = (double *)block;
    columns->y = columns->x + n;
    columns->id = (int *)(columns->y + n);
}
int main(int argc, char **argv)
{
    enum { COUNT = 1 << 21 };
    struct columns columns;
    make(&columns, COUNT);
    for (size_t i = 0; i < COUNT; i++)
        columns.x[i] = columns.y[i] = columns.id[i] = (int)i & 3;
    REPEAT(walk(&columns, COUNT));
}
#elif defined shape_ring
struct record {
    int kind, bytes;
};
struct trade {
    struct record head;
    long at;
    double price, volume;
    long more[3];
};
struct quote_record {
    struct record head;
    char name[64];
    double bid, ask;
};
NI static double walk(const char *ring, size_t bytes)
{
    double sum = 0;
    for (const char *at = ring; at < ring + bytes; at += ((const struct record *)at)->bytes) {
        const struct record *record = (const struct record *)at;
        sum += record->kind ? ((const struct trade *)record)->price : ((const struct quote_record *)record)->bid;
    }
    return sum;
}
int main(int argc, char **argv)
{
    enum { BYTES = 64 << 20 };
    char *ring = malloc(BYTES);
    size_t used = 0;
    memset(ring, 0, BYTES);
    for (unsigned i = 1; used < BYTES - 200; i = i * 1664525 + 1013904223) {
        struct record *record = (struct record *)(ring + used);
        *record = (struct record){i >> 30 & 1, i >> 30 & 1 ? sizeof(struct trade) : sizeof(struct quote_record)};
        if (record->kind)
            ((struct trade *)record)->price = 1;
        else
            ((struct quote_record *)record)->bid = 1;
        used += (size_t)record->bytes;
    }
    REPEAT(walk(ring, used));
}
#elif defined shape_mapped_file
struct entry {
    char name[48];
    long id;
    double weight, rest;
};
struct file {
    char magic[8];
    long count;
    char title[112];
    struct entry entries[];
};
NI static double walk(const struct file *file)
{
    double sum = 0;
    EACH(i, (size_t)file->count) sum += file->entries[i].weight;
    return sum;
}
NI static struct file *open_file(size_t bytes)
{
    FILE *made = tmpfile();
    if (!made || ftruncate(fileno(made), (off_t)bytes))
        exit(1);
    void *map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fileno(made), 0);
    fclose(made);
    return map;
}
int main(int argc, char **argv)
{
    struct file *file = open_file(sizeof *file + N * sizeof(struct entry));
    file->count = N;
    for (size_t i = 0; i < N; i++)
        file->entries[i] = (struct entry){"", (long)i, 1, 2};
    REPEAT(walk(file));
}
#elif defined shape_grown
struct list {
    struct node *items;
    size_t count, room;
};
NI static void add(struct list *list, size_t i)
{
    if (list->count == list->room)
        list->items = realloc(list->items, (list->room = 2 * list->room + 64) * sizeof *list->items);
    fill(&list->items[list->count++], i);
}
int main(int argc, char **argv)
{
    struct list list = {NULL, 0, 0};
    for (size_t i = 0; i < N; i++)
        add(&list, i);
    REPEAT(walk_all(list.items, N));
}
#elif defined shape_hierarchy
struct chunk {
    struct chunk *parent, *child, *next, *prev;
    size_t bytes;
    const char *name;
};
NI static void *talloc(void *parent, size_t bytes, const char *name)
{
    struct chunk *chunk = malloc(sizeof *chunk + bytes), *of = parent ? (struct chunk *)parent - 1 : NULL;
    *chunk = (struct chunk){of, NULL, of ? of->child : NULL, NULL, bytes, name};
    if (of && of->child)
        of->child->prev = chunk;
    if (of)
        of->child = chunk;
    return memset(chunk + 1, 0, bytes);
}
int main(int argc, char **argv)
{
    void *top = talloc(NULL, 1, "top");
    struct node **nodes = malloc(N * sizeof *nodes);
    struct edge **edges = malloc(N * sizeof *edges);
    for (size_t i = 0; i < N; i++) {
        fill(nodes[PLACE(i, N)] = talloc(top, sizeof **nodes, "node"), i);
        fill_edge(edges[PLACE(i, N)] = talloc(top, sizeof **edges, "edge"));
    }
    REPEAT(walk_nodes(nodes, N) + walk_edges(edges, N));
}
#elif defined shape_obstacks
NI static void *chunk_new(size_t bytes)
{
    return malloc(bytes);
}
#define obstack_chunk_alloc chunk_new
#define obstack_chunk_free  free
int main(int argc, char **argv)
{
    struct obstack pool;
    struct node **nodes = malloc(N * sizeof *nodes);
    obstack_init(&pool);
    for (size_t i = 0; i < N; i++)
        fill(nodes[PLACE(i, N)] = obstack_alloc(&pool, sizeof **nodes), i);
    REPEAT(walk_nodes(nodes, N));
}
#elif defined shape_alloca_array
NI static int run(size_t n, int argc, char **argv)
{
    struct node *nodes = alloca(n * sizeof *nodes);
    for (size_t i = 0; i < n; i++)
        fill(&nodes[i], i);
    REPEAT(walk_all(nodes, n));
    return 0;
}
int main(int argc, char **argv)
{
    return run(1 << 16, argc, argv);
}
#elif defined shape_thread_pool
static __thread struct pool {
    struct node *free;
    char *at, *end;
} pool;
NI static struct node *pool_new(void)
{
    if ((size_t)(pool.end - pool.at) < sizeof(struct node)) {
        pool.at = mmap(NULL, 4 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        pool.end = pool.at + (4 << 20);
    }
    pool.at += sizeof(struct node);
    return (struct node *)pool.at - 1;
}
int main(int argc, char **argv)
{
    struct node **nodes = malloc(N * sizeof *nodes);
    for (size_t i = 0; i < N; i++)
        fill(nodes[PLACE(i, N)] = pool_new(), i);
    REPEAT(walk_nodes(nodes, N));
}
#elif defined shape_flexible_rest
struct packet {
    long id;
    long length;
    char from[32];
    char data[];
};
struct trailer {
    long checksum, next;
};
NI static struct packet *packet_new(size_t bytes)
{
    struct packet *packet = calloc(1, sizeof *packet + bytes + sizeof(struct trailer));
    packet->length = (long)bytes;
    ((struct trailer *)(packet->data + bytes))->checksum = 1;
    return packet;
}
NI static double walk(struct packet *const *packets, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (double)packets[i]->length;
    return sum;
}
int main(int argc, char **argv)
{
    struct packet **packets = malloc(N * sizeof *packets);
    for (size_t i = 0; i < N; i++)
        packets[PLACE(i, N)] = packet_new(i * 8 % 200);
    REPEAT(walk(packets, N));
}
#elif defined shape_tagged
struct value {
    int kind, line;
    union {
        double number;
        char text[32];
        struct {
            long from, to;
        } range;
    } as;
};
NI static double walk(const struct value *value, size_t n)
{
    double sum = 0;
    EACH(i, n) sum += value[i].kind == 1 ? value[i].as.number : 0;
    return sum;
}
int main(int argc, char **argv)
{
    enum { COUNT = 1 << 20 };
    struct value *values = calloc(COUNT, sizeof *values);
    for (size_t i = 0; i < COUNT; i++) {
        values[i].kind = 1;
        values[i].as.number = 1;
    }
    REPEAT(walk(values, COUNT));
}
#elif defined shape_small_buffer
struct text {
    size_t length;
    char *data;
    char inside[32];
};
NI static void set(struct text *text, size_t length)
{
    text->length = length;
    text->data = length < sizeof text->inside ? text->inside : malloc(length + 1);
    memset(text->data, 'a', length);
    text->data[length] = 0;
}
NI static double walk(const struct text *text, size_t n)
{
    double sum = 0;
    EACH(i, n) sum += (double)text[i].length + text[i].data[0];
    return sum;
}
int main(int argc, char **argv)
{
    struct text *texts = malloc(N * sizeof *texts);
    for (size_t i = 0; i < N; i++)
        set(&texts[i], i % 8 ? i % 30 : 60);
    REPEAT(walk(texts, N));
}
#elif defined shape_arena_aligned
struct arena {
    char *base;
    size_t at, room;
};
NI static void *arena_new(struct arena *arena, size_t bytes, size_t align)
{
    size_t at = (arena->at + align - 1) & ~(align - 1);
    if (!arena->base || at + bytes > arena->room) {
        arena->base = malloc(arena->room = 1 << 20);
        at = (align - (uintptr_t)arena->base % align) % align;
    }
    arena->at = at + bytes;
    return arena->base + at;
}
int main(int argc, char **argv)
{
    struct arena arena = {NULL, 0, 0};
    struct node **nodes = malloc(N * sizeof *nodes);
    struct edge **edges = malloc(N * sizeof *edges);
    for (size_t i = 0; i < N; i++) {
        fill(nodes[PLACE(i, N)] = arena_new(&arena, sizeof **nodes, 64), i);
        if (i % 3 == 0)
            arena_new(&arena, i % 29 + 1, 1);
        fill_edge(edges[PLACE(i, N)] = arena_new(&arena, sizeof **edges, 8));
    }
    REPEAT(walk_nodes(nodes, N) + walk_edges(edges, N));
}
#elif defined shape_handles
struct pool {
    struct node *items;
    int first;
};
NI static double walk(const struct pool *pool)
{
    double sum = 0;
    for (int at = pool->first; at >= 0; at = pool->items[at].next)
        sum += pool->items[at].cost;
    return sum;
}
NI static void pool_init(struct pool *pool)
{
    pool->items = calloc(N, sizeof *pool->items);
    for (size_t i = 0; i < N; i++) {
        struct node *node = &pool->items[PLACE(i, N)];
        fill(node, i);
        node->next = i + 1 < N ? (int)PLACE(i + 1, N) : -1;
    }
    pool->first = 0;
}
int main(int argc, char **argv)
{
    struct pool pool;
    pool_init(&pool);
    REPEAT(walk(&pool));
}
#elif defined shape_free_list_union
union bucket {
    struct {
        union bucket *next;
        long key, more[4];
    } s;
    struct {
        union bucket *next;
        double values[5];
    } d;
};
struct item { /* what is free of any type */
    struct item *next;
};
static struct item *items;
NI static struct item *more_items(size_t size)
{
    enum { ITEMS = 100 };
    struct item *first = malloc(ITEMS * size);
    char *at = (char *)first;
    for (int i = 0; i < ITEMS; i++, at += size)
        ((struct item *)at)->next = i + 1 < ITEMS ? (struct item *)(at + size) : NULL;
    items = first->next;
    return first;
}
NI static void *take(size_t size)
{
    struct item *taken = items;
    if (!taken)
        return more_items(size);
    items = taken->next;
    return taken;
}
NI static long walk(union bucket *const *table)
{
    long sum = 0;
    for (size_t i = 0; i < N / 4; i++)
        for (const union bucket *at = table[i]; at; at = at->s.next)
            sum += at->s.key;
    return sum;
}
int main(int argc, char **argv)
{
    union bucket **table = calloc(N / 4, sizeof *table);
    for (size_t i = 0; i < N; i++) {
        union bucket *bucket = take(sizeof *bucket), **first = &table[PLACE(i, N / 4)];
        *bucket = (union bucket){.s = {.next = *first, .key = (long)i}};
        *first = bucket;
    }
    REPEAT(walk(table));
}
#elif defined shape_buddy
static struct buddy {
    char *base;
    size_t at;
} buddy;
NI static void buddy_init(void)
{
    buddy.base = mmap(NULL, (size_t)N * 256, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}
NI static void *buddy_get(size_t bytes)
{
    size_t size = 64;
    while (size < bytes)
        size *= 2;
    buddy.at += size;
    return buddy.base + buddy.at - size;
}
int main(int argc, char **argv)
{
    struct node **nodes = malloc(N * sizeof *nodes);
    struct edge **edges = malloc(N * sizeof *edges);
    buddy_init();
    for (size_t i = 0; i < N; i++) {
        fill(nodes[PLACE(i, N)] = buddy_get(sizeof **nodes), i);
        fill_edge(edges[PLACE(i, N)] = buddy_get(sizeof **edges));
    }
    REPEAT(walk_nodes(nodes, N) + walk_edges(edges, N));
}
#elif defined shape_derived_first || defined shape_derived_two // C's way to derive: the base is the first member
struct shape {
    long kind, id;
    double area;
};
struct circle {
    struct shape base;
    double x, y, r;
    char name[72];
};
struct box {
    struct shape base;
    double side[6];
};
NI static struct shape *circle_new(size_t i)
{
    struct circle *circle = calloc(1, sizeof *circle);
    circle->base = (struct shape){1, (long)i, 1};
    circle->r = 1;
    return &circle->base;
}
NI __attribute__((unused)) static struct shape *box_new(size_t i)
{
    struct box *box = calloc(1, sizeof *box);
    box->base = (struct shape){2, (long)i, 1};
    box->side[2] = 3;
    return &box->base;
}
NI static double walk(struct shape *const *shapes, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += shapes[i]->area;
    return sum;
}
int main(int argc, char **argv)
{
    struct shape **shapes = malloc(N * sizeof *shapes);
    for (size_t i = 0; i < N; i++)
#ifdef shape_derived_two
        shapes[PLACE(i, N)] = i & 1 ? circle_new(i) : box_new(i);
#else
        shapes[PLACE(i, N)] = circle_new(i);
#endif
    REPEAT(walk(shapes, N));
}
#elif defined shape_gap_buffer // an array with a gap in the middle
NI static double walk(const struct node *buffer, size_t gap, size_t behind, size_t n)
{
    double sum = 0;
    EACH(i, n) sum += buffer[i < gap ? i : i + behind].cost;
    return sum;
}
int main(int argc, char **argv)
{
    struct node *buffer = malloc((N + 1000) * sizeof *buffer);
    memset(buffer, 0, (N + 1000) * sizeof *buffer);
    for (size_t i = 0; i < N; i++)
        fill(&buffer[i < N / 3 ? i : i + 1000], i);
    REPEAT(walk(buffer, N / 3, 1000, N));
}
#endif
