/* Nodes of 384 bytes: one loop follows their chain, which goes anywhere; with a second argument another one goes over all of them after
 * it, and to other fields. -DSPLIT: those fields lie in an array of their own. */
#include <stdio.h>
#include <stdlib.h>
enum { NODES = 20000 };
struct rest {
    double a[40];
};
struct node {
    struct node *next;
    long id;
    double p[3], v[3];
#ifndef SPLIT
    struct rest rest;
#endif
};
static struct node *nodes[NODES];
#ifdef SPLIT
static struct node *pool;
static struct rest *rests;
#define REST(n) rests[(n)-pool]
#else
#define REST(n) (n)->rest
#endif
__attribute__((noinline)) static double chain(struct node *n)
{
    double s = 0;
    for (; n; n = n->next)
        s += n->p[0] * n->id + n->v[1];
    return s;
}
__attribute__((noinline)) static double all(void)
{
    double s = 0;
    for (int i = 0; i < NODES; i++) {
        struct rest *r = &REST(nodes[i]);
        s += r->a[0] + r->a[9] + r->a[17] + r->a[26] + r->a[38];
        r->a[33] = s;
    }
    return s;
}
int main(int argc, char **argv)
{
    int rounds = atoi(argv[1]), other = argc > 2;
    double s = 0;
#ifdef SPLIT
    pool = aligned_alloc(64, NODES * sizeof *pool);
    rests = aligned_alloc(64, NODES * sizeof *rests);
#endif
    for (int i = 0; i < NODES; i++) {
#ifdef SPLIT
        nodes[i] = &pool[i];
#else
        nodes[i] = malloc(sizeof **nodes);
#endif
        nodes[i]->id = i;
        for (int k = 0; k < 3; k++)
            nodes[i]->p[k] = nodes[i]->v[k] = k;
        for (int k = 0; k < 40; k++)
            REST(nodes[i]).a[k] = k;
    }
    static int order[NODES];
    for (int i = 0; i < NODES; i++)
        order[i] = i;
    for (int i = NODES - 1; i > 0; i--) {
        int j = (int)((unsigned long)rand() % (i + 1)), t = order[i];
        order[i] = order[j];
        order[j] = t;
    }
    for (int i = 0; i < NODES; i++)
        nodes[order[i]]->next = i + 1 < NODES ? nodes[order[i + 1]] : NULL;
    for (int r = 0; r < rounds; r++) {
        s += chain(nodes[order[0]]);
        if (other)
            s += all();
    }
    printf("%g\n", s);
}
