// Allocators inside the program: arenas, slabs, pools, and objects inside others.
//
/// arena_one type=node bytes=88 start=16 hot=cost@40 path=arena_new,bump,main name=nodes,arena,chunk,node must=right spacing=88
/// arena_one and type=node* bytes=8 path=main name=nodes
/// arena_array type=node bytes=88 start=32 hot=cost@40 path=main,bump,arena_new name=nodes,arena,node spacing=88
/// arena_header type=node bytes=88|96 start=24 hot=cost@40 path=arena_new,bump,main name=nodes,arena,chunk,node spacing=96
/// arena_header and type=node* bytes=8 path=main name=nodes
/// arena_two type=node bytes=88 hot=cost@40 path=arena_new,bump,main name=nodes,arena,chunk,node start=any spacing=160
/// arena_two and type=edge bytes=72 hot=gain@56 path=arena_new,bump,main name=edges,arena,chunk,edge start=any spacing=160
/// arena_two and type=node* bytes=8 path=main name=nodes
/// arena_two and type=edge* bytes=8 path=main name=edges
/// arena_chunks type=node bytes=88 hot=cost@40 path=arena_new,new_chunk,main name=nodes,arena,chunk,node start=any
/// arena_chunks and type=edge bytes=72 hot=gain@56 path=arena_new,new_chunk,main name=edges,arena,chunk,edge start=any
/// arena_chunks and type=node* bytes=8 path=main name=nodes
/// arena_chunks and type=edge* bytes=8 path=main name=edges
/// arena_mixed type=node bytes=88 hot=cost@40 path=arena_new,bump,main name=nodes,arena,chunk,node start=any
/// arena_mixed and type=node* bytes=8 path=main name=nodes
/// slab type=node bytes=88 start=64 hot=cost@40 path=slab_new,new_node,main name=nodes,slab,node,objects spacing=88
/// slab or type=slab hot=objects.cost@104+88*45 path=slab_new,new_node,main name=slab,first
/// slab and type=node* bytes=8 path=main name=nodes
/// slab_mmap type=node bytes=88 start=64 hot=cost@40 path=slab_new,new_node,main name=nodes,slab,node,objects
/// slab_mmap or type=slab hot=objects.cost@104+88*45 path=slab_new,new_node,main name=slab,first
/// slab_mmap and type=node* bytes=8 path=main name=nodes
/// slab_items type=entry bytes=40 start=any hot=h_next@16,hash@24,nkey@39 path=slab_new,main name=hashtable,entry,slabs,free_items,item
/// slab_items and type=entry* bytes=8 path=main name=hashtable
/// pool_free_list type=node bytes=88 start=0 hot=cost@40 path=refill,pool_get,main name=nodes,pool,node,first
/// pool_free_list and type=node* bytes=8 path=main name=nodes
/// pool_union type=node|slot bytes=88 start=0 hot=cost|node.cost@40 path=refill,pool_get,main name=nodes,pool,node,slot,first
/// pool_union and type=node* bytes=8 path=main name=nodes
/// pool_mmap type=node bytes=88 start=0 hot=cost@40 path=main,pool_new name=nodes,pool,node
/// pool_mmap and type=node* bytes=8 path=main name=nodes
/// pool_reserved type=node bytes=88 start=0 hot=cost@40 path=main,pool_new name=nodes,pool,node must=right
/// pool_reserved and type=node* bytes=8 path=main name=nodes
/// pool_static type=node bytes=88 hot=cost@40 name=pool start=any
/// pool_static and type=node* bytes=8 path=main name=nodes
/// embedded_end type=outer bytes=160 hot=in.cost@112 path=main name=outers
/// embedded_end or type=node bytes=160|88 start=72 hot=cost@40 path=main name=outers,node
/// embedded_end and type=node* bytes=8 path=main name=nodes
/// embedded_middle type=device bytes=152 hot=in.cost@64 path=main name=devices
/// embedded_middle or type=node bytes=152|88 start=24 hot=cost@40 path=main name=devices,node
/// embedded_middle and type=node* bytes=8 path=main name=nodes
/// embedded_malloc type=outer bytes=160 hot=in.cost@112 path=new_outer,main name=nodes,outer,o
/// embedded_malloc or type=node bytes=160|88 start=72 hot=cost@40 path=new_outer,main name=nodes,node
/// embedded_malloc and type=node* bytes=8 path=main name=nodes
/// list_head type=item bytes=104 hot=link.next@48,weight@88 path=new_item,main name=item,head,items,link
/// list_head or type=list_head start=48 bytes=104|16 hot=next@0,weight@40 path=new_item,main name=link,head
/// list_head_array type=item bytes=104 hot=link.next@48,weight@88 path=main name=items
/// list_head_array or type=list_head start=48 bytes=104|16 hot=next@0,weight@40 path=main name=items,link
/// list_head_two type=task bytes=120 hot=by_time.next@72,load@104 path=new_task,main name=task,head
/// arena_one_threads of=arena_one flags=-fopenmp,-DTHREADS
/// list_head_threads of=list_head flags=-fopenmp,-DTHREADS
/// arena_one_O0 of=arena_one flags=-O0
/// arena_one_O3 of=arena_one flags=-O3
/// slab_clang of=slab with=clang
/// list_head_Os of=list_head flags=-Os
/// arena_one_stripped of=arena_one strip=1
/// embedded_end_clang of=embedded_end with=clang flags=-O3
#define _GNU_SOURCE
#include "shape.h"
#include <stddef.h>
#include <sys/mman.h>

enum { N = 1 << 19, CHUNK = 1 << 20 };

struct node {
    long id;
    char name[24];
    double at, cost, low, high;
    long flags[3];
};
struct edge {
    double length, mean[5];
    long to;
    double gain, loss;
};
struct outer {
    long key;
    char name[64];
    struct node in;
};
struct device {
    long key, more[2];
    struct node in;
    char name[40];
};
struct list_head {
    struct list_head *next, *prev;
};
struct item {
    long key;
    char name[40];
    struct list_head link;
    double pad[3], weight, last;
};
struct task {
    char name[48];
    long id;
    struct list_head by_name, by_time;
    double pad[2], load, last;
};

NI __attribute__((unused)) static double walk_nodes(struct node *const *nodes, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += nodes[i]->cost;
    return sum;
}

static inline void fill(struct node *node, size_t i)
{
    memset(node, 0, sizeof *node);
    node->id = (long)i;
    node->cost = 1;
}

#if defined shape_arena_one || defined shape_arena_header || defined shape_arena_two || defined shape_arena_mixed ||   \
    defined shape_arena_array || defined shape_arena_chunks
struct arena {
    char *at, *end;
};
#if defined shape_arena_array || defined shape_arena_chunks
#define CHUNK_BYTES ((size_t)128 << 20)
#else
#define CHUNK_BYTES CHUNK
#endif

#ifndef shape_arena_chunks
NI static void *bump(struct arena *a, size_t bytes)
{
#ifdef shape_arena_header
    bytes += 8;
#endif
    if (bytes > (size_t)(a->end - a->at)) {
        a->at = malloc(CHUNK_BYTES);
        a->end = a->at + CHUNK_BYTES;
#ifndef shape_arena_two
        a->at += 16; // what an arena keeps for itself
#endif
    }
    char *p = a->at;
    a->at += bytes;
#ifdef shape_arena_header
    memcpy(p, &bytes, 8);
    p += 8;
#endif
    return p;
}
#endif
#endif

#if defined shape_arena_one || defined shape_arena_header
NI static struct node *arena_new(struct arena *a, size_t i)
{
    struct node *node = bump(a, sizeof *node);
    fill(node, i);
    return node;
}
int main(int argc, char **argv)
{
    struct arena arena = {NULL, NULL};
    struct node **nodes = malloc(N * sizeof *nodes);
    for (size_t i = 0; i < N; i++)
        nodes[PLACE(i, N)] = arena_new(&arena, i);
    REPEAT(walk_nodes(nodes, N));
    return 0;
}
#elif defined shape_arena_array
NI static double walk(const struct node *node, size_t n)
{
    double sum = 0;
    EACH(i, n) sum += node[i].cost;
    return sum;
}
int main(int argc, char **argv)
{
    struct arena arena = {NULL, NULL};
    long *sizes = bump(&arena, 16);
    struct node *nodes = bump(&arena, N * sizeof *nodes);
    sizes[0] = N;
    for (size_t i = 0; i < N; i++)
        fill(&nodes[i], i);
    REPEAT(walk(nodes, N));
    return sizes[0] != N;
}
#elif defined shape_arena_two || defined shape_arena_chunks
#ifdef shape_arena_chunks // each chunk is for objects of one size
NI static char *new_chunk(void)
{
    return malloc(CHUNK);
}
NI static void *arena_new(struct arena *a, size_t bytes)
{
    if (bytes > (size_t)(a->end - a->at)) {
        a->at = new_chunk();
        a->end = a->at + CHUNK;
    }
    a->at += bytes;
    return a->at - bytes;
}
#else
#define arena_new bump
#endif
NI static double walk_edges(struct edge *const *edges, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += edges[i]->gain;
    return sum;
}
int main(int argc, char **argv)
{
    struct arena arenas[2] = {{NULL, NULL}, {NULL, NULL}}, *arena = arenas;
    struct node **nodes = malloc(N * sizeof *nodes);
    struct edge **edges = malloc(N * sizeof *edges);
    for (size_t i = 0; i < N; i++) {
        struct node *node = nodes[PLACE(i, N)] = arena_new(arena, sizeof *node);
        fill(node, i);
#ifdef shape_arena_chunks
        arena = &arenas[1];
#endif
        struct edge *edge = edges[PLACE(i, N)] = arena_new(arena, sizeof *edge);
        memset(edge, 0, sizeof *edge);
        edge->gain = 1;
        arena = arenas;
    }
    REPEAT(walk_nodes(nodes, N) + walk_edges(edges, N));
    return 0;
}
#elif defined shape_arena_mixed // strings of all lengths between the nodes
NI static void *arena_new(struct arena *a, size_t bytes)
{
    return bump(a, (bytes + 7) & ~(size_t)7);
}
int main(int argc, char **argv)
{
    struct arena arena = {NULL, NULL};
    struct node **nodes = malloc(N * sizeof *nodes);
    for (size_t i = 0; i < N; i++) {
        struct node *node = nodes[PLACE(i, N)] = arena_new(&arena, sizeof *node);
        fill(node, i);
        memset(arena_new(&arena, i * 7 % 40 + 1), 'a', i * 7 % 40 + 1);
    }
    REPEAT(walk_nodes(nodes, N));
    return 0;
}
#elif defined shape_slab_items
/* A cache's entries: a header, then a key of another length each, in slabs of entries of one size; found through a hash table. */
enum { SLAB = 1 << 20 };
struct entry {
    struct entry *next, *prev, *h_next;
    unsigned hash, time;
    int nbytes;
    unsigned short refcount;
    unsigned char flags, nkey;
    union {
        unsigned long cas;
        char end;
    } data[];
};
static void *slabs[64];
static struct entry **hashtable, *free_items;
NI static void slab_new(int at)
{
    slabs[at] = malloc(SLAB);
    int bytes = 96 + 8 * (at % 7);
    for (char *item_at = slabs[at]; item_at + bytes <= (char *)slabs[at] + SLAB; item_at += bytes) {
        struct entry *new = (struct entry *)(void *)item_at;
        new->next = free_items;
        free_items = new;
    }
}
NI static double walk(unsigned seed)
{
    double sum = 0;
    for (int i = 0; i < N; i++) {
        seed = seed * 1664525 + 1013904223;
        struct entry *item = hashtable[seed >> 15];
        while (item && item->hash != seed >> 14)
            item = item->h_next;
        if (item && item->nkey > 2)
            sum += ((char *)item->data)[item->nkey];
    }
    return sum;
}
int main(int argc, char **argv)
{
    hashtable = calloc(1 << 17, sizeof *hashtable);
    for (int at = 0; at < 40; at++)
        slab_new(at);
    for (unsigned hash = 0; hash < 1 << 18; hash++) {
        struct entry *item = free_items;
        free_items = item->next;
        *item = (struct entry){.hash = hash, .nkey = (unsigned char)(8 + hash % 40), .h_next = hashtable[hash >> 1]};
        memset(item->data, 1, 56);
        hashtable[hash >> 1] = item;
    }
    REPEAT(walk(7));
}
#elif defined shape_slab || defined shape_slab_mmap
struct slab {
    unsigned long used;
    struct slab *next;
    char what[48];
    struct node objects[45];
};
NI static struct slab *slab_new(struct slab *next)
{
#ifdef shape_slab_mmap
    struct slab *slab = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
#else
    struct slab *slab = aligned_alloc(4096, 4096);
#endif
    memset(slab, 0, sizeof *slab);
    slab->next = next;
    return slab;
}
NI static struct node *new_node(struct slab **first)
{
    if (!*first || (*first)->used == (1ul << 45) - 1)
        *first = slab_new(*first);
    struct slab *slab = *first;
    int at = __builtin_ctzl(~slab->used);
    slab->used |= 1ul << at;
    return &slab->objects[at];
}
int main(int argc, char **argv)
{
#ifdef shape_slab_mmap
    enum { COUNT = 1 << 18 };
#else
    enum { COUNT = N };
#endif
    struct slab *first = NULL;
    struct node **nodes = malloc(COUNT * sizeof *nodes);
    for (size_t i = 0; i < COUNT; i++)
        fill(nodes[PLACE(i, COUNT)] = new_node(&first), i);
    REPEAT(walk_nodes(nodes, COUNT));
    return 0;
}
#elif defined shape_pool_free_list || defined shape_pool_union
#ifdef shape_pool_union
union slot {
    union slot *next;
    struct node node;
};
#define next_of(p) ((p)->next)
#else
union slot {
    char bytes[sizeof(struct node)];
};
#define next_of(p) (*(union slot **)(p)->bytes)
#endif
struct pool {
    union slot *first;
};
NI static void refill(struct pool *pool)
{
    enum { AT_ONCE = 1000 };
    union slot *slots = malloc(AT_ONCE * sizeof *slots);
    for (int i = AT_ONCE; i--; pool->first = &slots[i])
        next_of(&slots[i]) = pool->first;
}
NI static void *pool_get(struct pool *pool)
{
    if (!pool->first)
        refill(pool);
    union slot *slot = pool->first;
    pool->first = next_of(slot);
    return slot;
}
int main(int argc, char **argv)
{
    struct pool pool = {NULL};
    struct node **nodes = malloc(N * sizeof *nodes);
    for (size_t i = 0; i < N; i++)
        fill(nodes[PLACE(i, N)] = pool_get(&pool), i);
    REPEAT(walk_nodes(nodes, N));
    return 0;
}
#elif defined shape_pool_mmap || defined shape_pool_static || defined shape_pool_reserved
#ifdef shape_pool_static
static char pool[N * sizeof(struct node) + 64];
#define pool_new() (pool + 8)
#elif defined shape_pool_reserved /* an address space, of which a part can be used */
NI static char *pool_new(void)
{
    char *pool = mmap(NULL, 1ul << 32, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    for (size_t usable = 0; usable < N * sizeof(struct node); usable += 1 << 20)
        if (mprotect(pool + usable, 1 << 20, PROT_READ | PROT_WRITE))
            exit(1);
    return pool;
}
#else
NI static char *pool_new(void)
{
    return mmap(NULL, N * sizeof(struct node), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}
#endif
int main(int argc, char **argv)
{
    char *memory = pool_new();
    struct node **nodes = malloc(N * sizeof *nodes);
    for (size_t i = 0; i < N; i++, memory += sizeof(struct node))
        fill(nodes[PLACE(i, N)] = (struct node *)memory, i);
    REPEAT(walk_nodes(nodes, N));
    return 0;
}
#elif defined shape_embedded_end || defined shape_embedded_middle || defined shape_embedded_malloc
#ifdef shape_embedded_malloc
NI static struct outer *new_outer(size_t i)
{
    struct outer *o = malloc(sizeof *o);
    memset(o, 0, sizeof *o);
    o->key = (long)i;
    return o;
}
#endif
int main(int argc, char **argv)
{
    struct node **nodes = malloc(N * sizeof *nodes);
#ifdef shape_embedded_end
    struct outer *outers = malloc(N * sizeof *outers);
    for (size_t i = 0; i < N; i++)
        outers[i].key = (long)i, fill(nodes[PLACE(i, N)] = &outers[i].in, i);
#elif defined shape_embedded_middle
    struct device *devices = malloc(N * sizeof *devices);
    for (size_t i = 0; i < N; i++)
        devices[i].key = (long)i, fill(nodes[PLACE(i, N)] = &devices[i].in, i);
#else
    for (size_t i = 0; i < N; i++)
        fill(nodes[PLACE(i, N)] = &new_outer(i)->in, i);
#endif
    REPEAT(walk_nodes(nodes, N));
    return 0;
}
#else // lists through a list_head inside
#ifdef shape_list_head_two
#define item   task
#define link   by_time
#define weight load
#endif
#define item_of(p) ((struct item *)((char *)(p)-offsetof(struct item, link)))
NI static double walk(const struct list_head *head)
{
    double sum = 0;
    for (const struct list_head *p = head->next; p != head; p = p->next)
        sum += item_of(p)->weight;
    return sum;
}
#ifndef shape_list_head_array
NI static struct item *
#ifdef shape_list_head_two
new_task(void)
{
#else
new_item(void)
{
#endif
    struct item *item = malloc(sizeof *item);
    memset(item, 0, sizeof *item);
    return item;
}
#endif
int main(int argc, char **argv)
{
    enum { COUNT = 1 << 18 };
    struct list_head head = {&head, &head}, **all = malloc(COUNT * sizeof *all);
#ifdef shape_list_head_array
    struct item *items = calloc(COUNT, sizeof *items);
#endif
    for (size_t i = 0; i < COUNT; i++) {
#ifdef shape_list_head_array
        struct item *item = &items[i];
#elif defined shape_list_head_two
        struct task *item = new_task();
        item->by_name.next = &head;
#else
        struct item *item = new_item();
#endif
        item->weight = 1;
        all[PLACE(i, COUNT)] = &item->link;
    }
    for (size_t i = 0; i < COUNT; i++) {
        all[i]->next = i + 1 < COUNT ? all[i + 1] : &head;
        all[i]->prev = i ? all[i - 1] : &head;
    }
    head.next = all[0];
    free(all);
    REPEAT(walk(&head));
    return 0;
}
#endif
