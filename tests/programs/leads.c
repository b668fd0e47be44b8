/* Loops that go where the numbers lead that they loaded (led_), and loops that do not (free_). */
#define LOOP __attribute__((noinline))

LOOP long led_list(const int *next, const long *capacity, const int *to, int e)
{
    long sum = 0;
    for (; e >= 0; e = next[e])
        if (capacity[e] > 0)
            sum += to[e];
    return sum;
}

LOOP unsigned long led_computed(const unsigned *places, unsigned at, int n)
{
    for (int i = 0; i < n; i++)
        at = (places[at] + 7 * at) & 1023;
    return at;
}

struct node {
    long value;
    struct node *next;
};

LOOP long led_nodes(const struct node *node)
{
    long sum = 0;
    for (; node; node = node->next)
        sum += node->value;
    return sum;
}

/* The registers that hold what was loaded are used again. */
LOOP long free_gather(const int *index, const int *a, const int *b, int n)
{
    long sum = 0;
    for (int i = 0; i < n; i++)
        sum += a[index[i]] ^ b[index[i] + 1];
    return sum;
}

LOOP long free_twice(const int *index, const int *rows, const long *values, int n)
{
    long sum = 0;
    for (int i = 0; i < n; i++)
        sum += values[rows[index[i]]];
    return sum;
}

int main(int argc, char **argv)
{
    static int index[1024], a[1025];
    static long values[1024];
    struct node node = {argc, 0};
    (void)argv;
    return (int)(led_list(a, values, index, argc - 2) + (long)led_computed((unsigned *)index, 1, argc) + led_nodes(&node) +
                 free_gather(index, a, a, argc) + free_twice(index, a, values, argc));
}
