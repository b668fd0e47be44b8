// Structures that begin with another one, and pointers to that which are cast, as in C's way of deriving.
//
/// derived_sizes type=wide bytes=160 hot=head|head.kind@4,keys@16+1*16,down@32+8*16 path=new_head,main name=wide,all
/// derived_sizes and type=head* bytes=8 path=main name=all
/// derived_flexible type=instance bytes=48|24 hot=head|head.kind@0,head|head.fields@8,values@24+8*3 path=new_instance,allocate,main
///     name=instance,all wrappers=allocate
/// derived_flexible and type=head* bytes=8 path=main name=all
/// derived_last type=shape bytes=64 hot=head|head.kind@0,box|box.high@32 path=new_shape,main name=shape,all
/// derived_last and type=head* bytes=8 path=main name=all
/// derived_repeats type=body bytes=120 hot=kind@0,mass@8,position@16+8*3,phi@112 path=main name=body,bodies,all
///     must=right
/// derived_repeats and type=node* bytes=8 path=main name=all
/// derived_sizes_O3 of=derived_sizes flags=-O3
/// derived_flexible_clang of=derived_flexible with=clang
#include "shape.h"

enum { N = 1 << 17 };

#if defined shape_derived_sizes
/* Nodes of a radix tree: each kind of node is as large as it has children. */
struct head {
    unsigned count;
    unsigned char kind, more[11];
};
struct wide {
    struct head head;
    unsigned char keys[16];
    struct head *down[16];
};
struct narrow {
    struct head head;
    unsigned char keys[4];
    struct head *down[4];
};
NI static struct head *new_head(int kind)
{
    struct head *head = calloc(1, kind ? sizeof(struct wide) : sizeof(struct narrow));
    head->kind = (unsigned char)kind;
    return head;
}
NI static struct head *find(struct head *head, unsigned char key)
{
    union {
        struct wide *wide;
        struct narrow *narrow;
    } of;
    if (head->kind) {
        of.wide = (struct wide *)head;
        for (int i = 0; i < 16; i++)
            if (of.wide->keys[i] == key)
                return of.wide->down[i];
    } else {
        of.narrow = (struct narrow *)head;
        for (int i = 0; i < 4; i++)
            if (of.narrow->keys[i] == key)
                return of.narrow->down[i];
    }
    return NULL;
}
NI static double walk(struct head **all)
{
    double sum = 0;
    EACH(i, N) sum += find(all[i], (unsigned char)(i * 7 % 16)) != NULL;
    return sum;
}
int main(int argc, char **argv)
{
    struct head **all = malloc(N * sizeof *all);
    for (size_t i = 0; i < N; i++) {
        struct wide *wide = (struct wide *)new_head(1);
        for (int k = 0; k < 16; k++) {
            wide->keys[k] = (unsigned char)k;
            wide->down[k] = i ? all[0] : &wide->head;
        }
        all[PLACE(i, N)] = &wide->head;
        if (i == 0)
            all[0] = &wide->head;
    }
    REPEAT(walk(all));
}
#elif defined shape_derived_flexible
/* Objects of an interpreter. */
struct head {
    int kind;
    char dark;
    long fields;
    struct head *next;
};
struct instance {
    struct head head;
    double values[];
};
static struct head *objects;
NI static void *allocate(size_t bytes)
{
    return realloc(NULL, bytes);
}
static void head_init(struct head *head, long fields)
{
    *head = (struct head){1, 0, fields, objects};
    objects = head;
}
NI static struct head *new_instance(long fields)
{
    struct instance *instance = allocate(sizeof *instance + sizeof(double) * (size_t)fields);
    head_init(&instance->head, fields);
    for (long i = 0; i < fields; i++)
        instance->values[i] = 1;
    return &instance->head;
}
NI static double walk(struct head **all)
{
    double sum = 0;
    EACH(i, N)
    {
        struct head *head = all[i];
        if (head->kind == 1)
            sum += ((struct instance *)head)->values[head->fields - 1 - (long)(i & 1)];
    }
    return sum;
}
int main(int argc, char **argv)
{
    struct head **all = malloc(N * sizeof *all);
    for (size_t i = 0; i < N; i++)
        all[PLACE(i, N)] = new_instance(argc > 2 ? 4 : 3);
    REPEAT(walk(all));
}
#elif defined shape_derived_last
/* A member that holds the rest, twice as large as the head. */
struct head {
    int kind;
    float margin;
    struct head *next;
};
struct shape {
    struct head head;
    struct {
        double low[2], high[2];
        double around[2];
    } box;
};
NI static struct shape *new_shape(void)
{
    return malloc(sizeof(struct shape));
}
NI static double walk(struct head **all)
{
    double sum = 0;
    EACH(i, N)
    {
        if (all[i]->kind)
            sum += ((struct shape *)all[i])->box.high[0];
    }
    return sum;
}
int main(int argc, char **argv)
{
    struct head **all = malloc(N * sizeof *all);
    for (size_t i = 0; i < N; i++) {
        struct shape *shape = new_shape();
        *shape = (struct shape){{1, 0, NULL}, {{0}, {1, 1}, {0}}};
        all[PLACE(i, N)] = &shape->head;
    }
    REPEAT(walk(all));
}
#elif defined shape_derived_repeats
/* Bodies of a simulation: each kind of node repeats the members that all of them begin with. */
struct node {
    short kind;
    double mass, position[3];
    int cost, level;
    struct node *parent;
    int place;
};
struct leaf;
struct body {
    short kind;
    double mass, position[3];
    int cost, level;
    struct leaf *parent;
    int place;
    double velocity[3], acceleration[3], phi;
};
struct cell {
    short kind;
    double mass, position[3];
    int cost, level;
    struct cell *parent;
    int place;
    struct node *below[8];
};
NI static double pull(struct node *node)
{
    return node->mass * (node->position[0] + node->position[1] + node->position[2]);
}
NI static double walk(struct node **all)
{
    double sum = 0;
    EACH(i, N) sum += all[i]->kind == 1 ? pull(all[i]) + ((struct body *)all[i])->phi : ((struct cell *)all[i])->below[0]->mass;
    return sum;
}
int main(int argc, char **argv)
{
    struct node **all = malloc(N * sizeof *all);
    struct body *bodies = calloc(N, sizeof *bodies);
    for (size_t i = 0; i < N; i++) {
        struct body *body = &bodies[PLACE(i, N)];
        body->kind = 1;
        body->mass = body->phi = (double)i;
        all[i] = (struct node *)body;
    }
    REPEAT(walk(all));
}
#endif
