// Structures of pointers: lists, trees, hash tables.
//
/// list type=node bytes=72 hot=next@32,value@56 path=new_node,main name=first,node,next,all
/// list_two type=node bytes=72 hot=next@32,value@56 path=new_node,main name=first,node,next,all
/// tree type=branch bytes=96 hot=key@80,left@16,right@48 path=insert,new_branch,main name=root,branch,left,right
/// hash_chained type=entry bytes=88 hot=hash@0,next@64,value@48 path=add,main name=entry,table,buckets,next
/// hash_chained and type=entry* bytes=8 path=main name=table,buckets
/// hash_open type=place bytes=56 hot=key@16,value@40 path=main name=table,places
/// btree type=block bytes=512 hot=count@8,keys@24+8*30,down@264+8*31 path=new_block,build,main name=root,block,down
/// skip_list type=tower hot=height@0,value@24 path=new_tower,main name=first,tower,towers
/// skip_list and type=tower* bytes=8 path=main name=towers
/// matrix_rows type=row_of bytes=40 hot=data@16 path=main name=rows
/// matrix_rows and type=double bytes=8 path=main name=data,rows
/// strings type=word bytes=48 hot=text@24 path=main name=words
/// strings and type=char bytes=1 path=main name=text,words,strdup
/// queue type=job bytes=64 hot=cost@40 path=main name=ring,jobs
/// any_entry type=tag bytes=8 spacing=72 hot=hash@0 path=table_new,main name=tag,table,tags
/// any_entry and type=table bytes=24 hot=tags@0,apart@8,size@16 path=table_new,main name=table,tags
/// union_kinds type=value bytes=40 hot=kind@32,number|text@8 path=main name=values
/// interned type=text bytes=72 hot=key@16,left@40,right@56 path=intern,text_at,new_property,property_at,set,main name=texts,text,text_at,left,right
/// list_O3 of=list flags=-O3
/// list_clang of=list with=clang
/// tree_clang of=tree with=clang
/// hash_open_O1 of=hash_open flags=-O1
/// tree_no_debug of=tree flags=-g0
/// tree_grown like=tree flags=-DGROWN=100000
#include "shape.h"

enum { N = 1 << 19 };

#if defined shape_list || defined shape_list_two
struct node {
    char name[32];
    struct node *next, *prev;
    long id;
    double value, last;
};
#ifdef shape_list_two
struct other { // of the same size, and from the same malloc
    double low, high, more[7];
};
#endif
NI static struct node *new_node(void)
{
    struct node *node = malloc(sizeof *node);
    memset(node, 0, sizeof *node);
    return node;
}
NI static double walk(const struct node *node)
{
    double sum = 0;
    for (; node; node = node->next)
        sum += node->value;
    return sum;
}
int main(int argc, char **argv)
{
    struct node **all = malloc(N * sizeof *all), *first;
#ifdef shape_list_two
    struct other **others = malloc(N * sizeof *others);
    for (size_t i = 0; i < N; i++) {
        all[PLACE(i, N)] = new_node();
        others[i] = malloc(sizeof **others);
        others[i]->high = 1;
    }
#else
    for (size_t i = 0; i < N; i++)
        all[PLACE(i, N)] = new_node();
#endif
    for (size_t i = 0; i < N; i++)
        all[i]->value = 1, all[i]->next = i + 1 < N ? all[i + 1] : NULL;
    first = all[0];
    free(all);
    REPEAT(walk(first));
    return 0;
}
#elif defined shape_tree || defined shape_tree_grown
struct branch {
    long id, more;
    struct branch *left;
    long what[3];
    struct branch *right;
    char name[24];
    unsigned long key;
    double last;
};
NI static struct branch *new_branch(unsigned long key)
{
    struct branch *branch = calloc(1, sizeof *branch);
    branch->key = key;
    return branch;
}
NI static void insert(struct branch **at, unsigned long key)
{
    while (*at && (*at)->key != key)
        at = key < (*at)->key ? &(*at)->left : &(*at)->right;
    if (!*at)
        *at = new_branch(key);
}
#ifndef GROWN
#define GROWN 0
#endif
/* Finds what main() has put there; with GROWN most of the time. */
NI static void look_up(struct branch **root, unsigned long seed)
{
    for (int i = 0; i < GROWN; i++)
        insert(root, ((seed + i) % (N / 2) * 2654435761u) & (2 * N - 1));
}
NI static long walk(const struct branch *root, unsigned long seed)
{
    long found = 0;
    for (int i = 0; i < 10000; i++) {
        seed = seed * 6364136223846793005ul + 1442695040888963407ul;
        const struct branch *b = root;
        while (b && b->key != seed >> 44)
            b = seed >> 44 < b->key ? b->left : b->right;
        found += b != NULL;
    }
    return found;
}
int main(int argc, char **argv)
{
    struct branch *root = NULL;
    for (size_t i = 0; i < N / 2; i++)
        insert(&root, (i * 2654435761u) & (2 * N - 1));
    unsigned long seed = 1;
    REPEAT((look_up(&root, seed), walk(root, seed += 7919)));
    return 0;
}
#elif defined shape_hash_chained
struct entry {
    unsigned long hash;
    char name[40];
    double value, last;
    struct entry *next;
    long more[2];
};
NI static void add(struct entry **bucket, unsigned long hash)
{
    struct entry *entry = calloc(1, sizeof *entry);
    entry->hash = hash, entry->value = 1;
    entry->next = *bucket;
    *bucket = entry;
}
NI static double walk(struct entry *const *buckets, size_t n)
{
    double sum = 0;
    EACH(i, n)
    {
        unsigned long hash = i * 2654435761u;
        for (const struct entry *e = buckets[hash & (n / 2 - 1)]; e; e = e->next)
            if (e->hash == hash) {
                sum += e->value;
                break;
            }
    }
    return sum;
}
int main(int argc, char **argv)
{
    struct entry **table = calloc(N / 2, sizeof *table);
    for (size_t i = 0; i < N; i++)
        add(&table[(i * 2654435761u) & (N / 2 - 1)], i * 2654435761u);
    REPEAT(walk(table, N));
    return 0;
}
#elif defined shape_hash_open
struct place {
    double low, high;
    unsigned long key;
    long more[2];
    double value, last;
};
NI static double walk(const struct place *places, size_t n)
{
    double sum = 0;
    EACH(i, n)
    {
        unsigned long key = i + 1, at = key * 2654435761u >> 8;
        while (places[at & (2 * n - 1)].key != key)
            at++;
        sum += places[at & (2 * n - 1)].value;
    }
    return sum;
}
int main(int argc, char **argv)
{
    struct place *table = calloc(2 * N, sizeof *table);
    for (size_t i = 0; i < N; i++) {
        unsigned long at = (i + 1) * 2654435761u >> 8;
        while (table[at & (2 * N - 1)].key)
            at++;
        table[at & (2 * N - 1)].key = i + 1, table[at & (2 * N - 1)].value = 1;
    }
    REPEAT(walk(table, N));
    return 0;
}
#elif defined shape_btree
enum { KEYS = 30 };
struct block {
    long id, count, more;
    unsigned long keys[KEYS];
    struct block *down[KEYS + 1];
};
NI static struct block *new_block(void)
{
    return calloc(1, sizeof(struct block));
}
NI static struct block *build(unsigned long low, unsigned long step, int depth)
{
    struct block *block = new_block();
    block->count = KEYS;
    for (int i = 0; i <= KEYS; i++) {
        if (depth)
            block->down[i] = build(low + i * step, step / (KEYS + 1), depth - 1);
        if (i < KEYS)
            block->keys[i] = low + (i + 1) * step - 1;
    }
    return block;
}
NI static long walk(const struct block *root, unsigned long range, unsigned long seed)
{
    long found = 0;
    for (int i = 0; i < 10000; i++) {
        seed = seed * 6364136223846793005ul + 1442695040888963407ul;
        unsigned long key = (seed >> 33) % range;
        for (const struct block *b = root; b;) {
            long at = 0;
            while (at < b->count && b->keys[at] < key)
                at++;
            if (at < b->count && b->keys[at] == key)
                found++;
            b = b->down[at];
        }
    }
    return found;
}
int main(int argc, char **argv)
{
    unsigned long step = 31ul * 31 * 31 * 31, seed = 1;
    struct block *root = build(0, step, 3);
    REPEAT(walk(root, step * 31, seed += 7919));
    return 0;
}
#elif defined shape_skip_list
struct tower { // of as many links as it is high
    long height, id, more;
    double value;
    struct tower *links[];
};
NI static struct tower *new_tower(size_t height)
{
    struct tower *tower = calloc(1, sizeof *tower + height * sizeof tower->links[0]);
    tower->height = (long)height, tower->value = 1;
    return tower;
}
NI static double walk(struct tower *const *towers, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += towers[i]->value * (double)towers[i]->height;
    return sum;
}
int main(int argc, char **argv)
{
    struct tower **towers = malloc(2 * N * sizeof *towers);
    for (size_t i = 0; i < 2 * N; i++)
        towers[PLACE(i, 2 * N)] = new_tower(1 + i % 7);
    REPEAT(walk(towers, 2 * N));
    return 0;
}
#elif defined shape_matrix_rows
struct row_of {
    long id, count;
    double *data;
    long more[2];
};
NI static double walk(const struct row_of *rows, size_t n)
{
    double sum = 0;
    EACH(i, n) sum += rows[i].data[i % 12];
    return sum;
}
int main(int argc, char **argv)
{
    struct row_of *rows = calloc(N, sizeof *rows);
    for (size_t i = 0; i < N; i++)
        rows[i].data = calloc(12, sizeof(double));
    REPEAT(walk(rows, N));
    return 0;
}
#elif defined shape_strings
struct word {
    long id, count, hash;
    char *text;
    long more[2];
};
NI static long walk(const struct word *words, size_t n)
{
    long sum = 0;
    EACH(i, n) sum += words[i].text[i % 20];
    return sum;
}
int main(int argc, char **argv)
{
    struct word *words = calloc(N, sizeof *words);
    for (size_t i = 0; i < N; i++) {
        words[i].text = malloc(24);
        strcpy(words[i].text, "abcdefghijklmnopqrstuv");
    }
    REPEAT(walk(words, N));
    return 0;
}
#elif defined shape_queue
struct job {
    char name[40];
    double cost;
    long more[2];
};
NI static double walk(const struct job *ring, size_t n)
{
    double sum = 0;
    size_t at = n / 3 * 2;
    for (size_t i = 0; i < n; i++, at = at + 5 < n ? at + 5 : at + 5 - n)
        sum += ring[at].cost;
    return sum;
}
int main(int argc, char **argv)
{
    struct job *ring = calloc(2 * N, sizeof *ring);
    for (size_t i = 0; i < 2 * N; i++)
        ring[i].cost = 1;
    REPEAT(walk(ring, 2 * N));
    return 0;
}
#elif defined shape_union_kinds
struct value {
    long id;
    union {
        double number;
        char text[24];
    };
    long kind;
};
NI static double walk(const struct value *values, size_t n)
{
    double sum = 0;
    EACH(i, n) sum += values[i].kind ? values[i].number : values[i].text[0];
    return sum;
}
int main(int argc, char **argv)
{
    struct value *values = calloc(4 * N, sizeof *values);
    for (size_t i = 0; i < 4 * N; i++)
        values[i].kind = i % 3 > 0, values[i].number = 1;
    REPEAT(walk(values, 4 * N));
    return 0;
}
#elif defined shape_any_entry
/* A table of anything: a header, then what the user gave, of which the table knows the size only. */
struct tag {
    unsigned hash, used;
};
struct user {
    long key;
    double credit;
    char mail[48];
};
struct table {
    char *tags;
    size_t apart, size;
};
NI static struct table *table_new(size_t size, size_t bytes)
{
    struct table *table = malloc(sizeof *table);
    *table = (struct table){calloc(size, sizeof(struct tag) + bytes), sizeof(struct tag) + bytes, size};
    return table;
}
NI static const void *table_find(const struct table *table, size_t i)
{
    const struct tag *tag = (const struct tag *)(table->tags + table->apart * (i % table->size));
    return tag->hash ? tag + 1 : NULL;
}
NI static double walk(const struct table *table)
{
    double sum = 0;
    EACH(i, N)
    {
        const void *found = table_find(table, i);
        if (found)
            sum += ((const double *)found)[1];
    }
    return sum;
}
int main(int argc, char **argv)
{
    struct table *table = table_new(N, sizeof(struct user));
    for (size_t i = 0; i < N; i++) {
        struct tag *tag = (struct tag *)(table->tags + table->apart * i);
        tag->hash = 1;
        ((struct user *)(tag + 1))->credit = 1;
    }
    REPEAT(walk(table));
}
#elif defined shape_interned
/* One recursion makes the texts while another makes the properties whose names they are. */
struct text {
    long id, length;
    unsigned long key;
    long more[2];
    struct text *left;
    long count;
    struct text *right;
    long last;
};
struct property {
    struct property *left, *right;
    const struct text *name;
    unsigned long key;
};
struct state {
    struct text *texts;
    struct property *properties;
};
static struct text *text_at(struct text *text, unsigned long key, const struct text **found)
{
    if (!text) {
        text = calloc(1, sizeof *text);
        text->key = key;
        *found = text;
    } else if (key < text->key) {
        text->left = text_at(text->left, key, found);
    } else {
        text->right = text_at(text->right, key, found);
    }
    return text;
}
static const struct text *intern(struct state *state, unsigned long key)
{
    const struct text *found;
    state->texts = text_at(state->texts, key, &found);
    return found;
}
static struct property *new_property(struct state *state, unsigned long key)
{
    struct property *property = calloc(1, sizeof *property);
    property->key = key;
    property->name = intern(state, key);
    return property;
}
static struct property *property_at(struct state *state, struct property *property, unsigned long key)
{
    if (!property)
        return new_property(state, key);
    if (key < property->key)
        property->left = property_at(state, property->left, key);
    else
        property->right = property_at(state, property->right, key);
    return property;
}
NI static void set(struct state *state, unsigned long key)
{
    state->properties = property_at(state, state->properties, key);
}
NI static long walk(const struct text *root, unsigned long seed)
{
    long found = 0;
    for (int i = 0; i < 10000; i++) {
        seed = seed * 6364136223846793005ul + 1442695040888963407ul;
        const struct text *text = root;
        while (text && text->key != seed >> 44)
            text = seed >> 44 < text->key ? text->left : text->right;
        found += text != NULL;
    }
    return found;
}
int main(int argc, char **argv)
{
    struct state state = {NULL, NULL};
    for (size_t i = 0; i < N / 8; i++)
        set(&state, (i * 2654435761u) & (2 * N - 1));
    unsigned long seed = 1;
    REPEAT(walk(state.texts, seed += 7919));
    return 0;
}
#endif
