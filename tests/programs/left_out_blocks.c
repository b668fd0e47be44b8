/* Two lists of 300,000 nodes each, one after the other. Nothing but the allocations takes time while they are made, so that most of them
 * are not recorded. */
#include <stdio.h>
#include <stdlib.h>

enum { NODES = 300000, ROUNDS = 2 };

struct node {
    struct node *next;
    long key, count[3];
};

static struct node *make_list(void)
{
    struct node *list = NULL;
    for (long i = 0; i < NODES; i++) {
        struct node *node = malloc(sizeof *node);
        if (!node)
            exit(1);
        *node = (struct node){.next = list, .key = i};
        list = node;
    }
    return list;
}

static void free_list(struct node *list)
{
    while (list) {
        struct node *next = list->next;
        free(list);
        list = next;
    }
}

int main(int count, char **arguments)
{
    long passes = count > 1 ? atol(arguments[1]) : 1, sum = 0;
    for (int round = 0; round < ROUNDS; round++) {
        struct node *list = make_list();
        for (long pass = 0; pass < passes; pass++)
            for (struct node *node = list; node; node = node->next)
                sum += node->key++;
        free_list(list);
    }
    printf("%ld\n", sum);
    return 0;
}
