/* Loops whose loads wait for each other, and others. */
struct node {
    struct node *next;
    long value;
};

__attribute__((noipa)) long list(const struct node *node)
{
    long sum = 0;
    for (; node; node = node->next)
        sum += node->value;
    return sum;
}

__attribute__((noipa)) long array(const struct node *node, long count)
{
    long sum = 0;
    for (long i = 0; i < count; i++)
        sum += node[i].value;
    return sum;
}

__attribute__((noipa)) long jumps(const struct node *node, const int *index, long count)
{
    long sum = 0;
    for (long i = 0; i < count; i++)
        sum += node[index[i]].value;
    return sum;
}

/* Where the next one is it computes without loading anything. */
__attribute__((noipa)) long drawn(const struct node *node, long count)
{
    long sum = 0;
    unsigned long at = 1;
    for (long i = 0; i < count; i++) {
        at = at * 6364136223846793005u + 1442695040888963407u;
        sum += node[at >> 60].value;
    }
    return sum;
}

/* A sum, and an address of it and eight times it: that takes longer than one without a factor. */
__attribute__((noipa)) long ninefold(const struct node *node, long count)
{
    long sum = 0;
    for (long i = 0; i < count; i++)
        sum = (sum + node[i].value) * 9;
    return sum;
}

/* Sums that wait for each other, and sums of which two do not. */
__attribute__((noipa)) void row_sum(double (*rows)[5], long count)
{
    for (long i = 0; i < count; i++)
        rows[i][4] = (((rows[i][0] + rows[i][1]) + rows[i][2]) + rows[i][3]) * 0.5;
}

__attribute__((noipa)) void pair_sums(double (*rows)[5], long count)
{
    for (long i = 0; i < count; i++)
        rows[i][4] = ((rows[i][0] + rows[i][1]) + (rows[i][2] + rows[i][3])) * 0.5;
}

/* The index of the next one is in the element. */
__attribute__((noipa)) long chain(const struct node *node, long count)
{
    long at = 0;
    for (long i = 0; i < count; i++)
        at = node[at].value;
    return at;
}

__attribute__((noipa)) long nest(const struct node *node, long count)
{
    long sum = 0;
    for (long i = 0; i < count; i++) {
        sum += node[i].value;
        for (long k = 0; k < sum; k++)
            __asm__ volatile("");
    }
    return sum;
}

/* Of two sorted lists: which of them goes on is known once both values have come. */
__attribute__((noipa)) long merge(const struct node *a, const struct node *b)
{
    long sum = 0;
    while (a->value >= 0 && b->value >= 0) {
        if (a->value < b->value) {
            a++;
        } else if (a->value > b->value) {
            b++;
        } else {
            sum += (long)(a->next == b->next);
            a++;
            b++;
        }
    }
    return sum;
}

/* Where an array of pointers leads, and some of these elements change. */
__attribute__((noipa)) void led(struct node *const *nodes, long count)
{
    for (long i = 0; i < count; i++)
        if (nodes[i]->value & 1)
            nodes[i]->next = 0;
}

__attribute__((noipa)) void touch(struct node *node)
{
    node->value++;
}

/* A function is called for each element of an array of pointers. */
__attribute__((noipa)) void hand_on(struct node *const *nodes, long count)
{
    for (long i = 0; i < count; i++)
        touch(nodes[i]);
}

/* Calls of what an array says. */
__attribute__((noipa)) long told(long (*const *functions)(long), long count)
{
    long sum = 0;
    for (long i = 0; i < count; i++)
        sum += functions[i](i);
    return sum;
}

/* ... of floating-point numbers, whose sum is in memory over each call. */
__attribute__((noipa)) void weigh(double (*const *functions)(long), long count, double *sum)
{
    for (long i = 0; i < count; i++)
        *sum += functions[i](i);
}

static double half(long value)
{
    return 0.5 * (double)value;
}

static long twice(long value)
{
    return 2 * value;
}

/* Values that are stored as they were loaded, through others' registers, and values that are computed. */
__attribute__((noipa)) void swap(struct node *node, long *other, long count)
{
    for (long i = 0; i < count; i++) {
        long value = node[i].value;
        node[i].value = *other;
        __asm__ volatile("" ::: "memory");
        *other = value;
    }
}

__attribute__((noipa)) void add(struct node *node, long *other, long count)
{
    for (long i = 0; i < count; i++) {
        long sum = node[i].value + *other;
        __asm__ volatile("" : "+r"(sum)::"memory");
        node[i].value = sum;
    }
}

__attribute__((noipa)) void decide(long *to, const struct node *node, long count, long limit) /* which way down a tree */
{
    for (long i = 0; i < count; i++) {
        long less = node[i].value < limit;
        __asm__ volatile("" ::: "memory");
        to[i] = less;
    }
}

/* The register of what is loaded and stored is one in which something is made afterwards, as compilers have it. */
__attribute__((noipa)) void widen(long *to, const unsigned short *from, long count)
{
    __asm__ volatile("1: movzwl (%1), %%eax\n\t"
                     "movq %%rax, (%0)\n\t"
                     "leaq 8(%1, %2), %%rax\n\t"
                     "movl %%eax, 8(%0)\n\t"
                     "decq %2\n\t"
                     "jnz 1b"
                     : "+r"(to), "+r"(from), "+r"(count)
                     :
                     : "rax", "memory", "cc");
}

/* Six instructions behind a jump past them. */
__attribute__((noipa)) void rarely(const long *from, long count)
{
    __asm__ volatile("1: movq (%0), %%rax\n\t"
                     "testq %%rax, %%rax\n\t"
                     "jz 2f\n\t"
                     "imulq $3, %%rax, %%rax\n\t"
                     "imulq $3, %%rax, %%rax\n\t"
                     "imulq $3, %%rax, %%rax\n\t"
                     "imulq $3, %%rax, %%rax\n\t"
                     "imulq $3, %%rax, %%rax\n\t"
                     "addq %%rax, %%rcx\n\t"
                     "2: leaq 8(%0), %0\n\t"
                     "decq %1\n\t"
                     "jnz 1b"
                     : "+r"(from), "+r"(count)
                     :
                     : "rax", "rcx", "memory", "cc");
}

/* The smaller of what is there and a new value; the larger one so far; and the smaller of two others. */
__attribute__((noipa)) void smaller(long *to, const long *from, long count)
{
    __asm__ volatile("1: movq (%0), %%rax\n\t"
                     "movq (%1), %%rcx\n\t"
                     "cmpq %%rax, %%rcx\n\t"
                     "cmovgq %%rax, %%rcx\n\t"
                     "movq %%rcx, (%0)\n\t"
                     "leaq 8(%0), %0\n\t"
                     "leaq 8(%1), %1\n\t"
                     "decq %2\n\t"
                     "jnz 1b"
                     : "+r"(to), "+r"(from), "+r"(count)
                     :
                     : "rax", "rcx", "memory", "cc");
}

__attribute__((noipa)) void larger(double *to, const double *from, long count)
{
    __asm__ volatile("xorps %%xmm0, %%xmm0\n\t"
                     "1: maxsd (%1), %%xmm0\n\t"
                     "movsd %%xmm0, (%0)\n\t"
                     "leaq 8(%1), %1\n\t"
                     "decq %2\n\t"
                     "jnz 1b"
                     : "+r"(to), "+r"(from), "+r"(count)
                     :
                     : "xmm0", "memory", "cc");
}

__attribute__((noipa)) void largest(long *to, const long *from, long count)
{
    __asm__ volatile("xorl %%eax, %%eax\n\t"
                     "1: movq (%1), %%rcx\n\t"
                     "cmpq %%rcx, %%rax\n\t"
                     "cmovlq %%rcx, %%rax\n\t"
                     "leaq 8(%1), %1\n\t"
                     "movq %%rax, (%0)\n\t"
                     "decq %2\n\t"
                     "jnz 1b"
                     : "+r"(to), "+r"(from), "+r"(count)
                     :
                     : "rax", "rcx", "memory", "cc");
}

__attribute__((noipa)) void others(long *to, const long *from, long count)
{
    __asm__ volatile("1: movq 8(%1), %%rax\n\t"
                     "movq (%1), %%rcx\n\t"
                     "cmpq %%rax, %%rcx\n\t"
                     "cmovgq %%rax, %%rcx\n\t"
                     "movq %%rcx, (%0)\n\t"
                     "leaq 8(%0), %0\n\t"
                     "leaq 8(%1), %1\n\t"
                     "decq %2\n\t"
                     "jnz 1b"
                     : "+r"(to), "+r"(from), "+r"(count)
                     :
                     : "rax", "rcx", "memory", "cc");
}

/* The same register has the address of a bucket's first node and of the one behind it. */
__attribute__((noipa)) long looked_up(struct node *const *buckets, long count)
{
    long sum = 0;
    __asm__ volatile("1: movq (%1), %%rax\n\t"
                     "movq (%%rax), %%rax\n\t"
                     "addq 8(%%rax), %0\n\t"
                     "leaq 8(%1), %1\n\t"
                     "decq %2\n\t"
                     "jnz 1b"
                     : "+r"(sum), "+r"(buckets), "+r"(count)
                     :
                     : "rax", "memory", "cc");
    return sum;
}

/* A list whose next node is kept on the stack. */
__attribute__((noipa)) long kept(struct node *node)
{
    long sum = 0;
    __asm__ volatile("subq $256, %%rsp\n\t"
                     "movq %1, 16(%%rsp)\n\t"
                     "1: movq 16(%%rsp), %%rax\n\t"
                     "addq 8(%%rax), %0\n\t"
                     "movq (%%rax), %%rcx\n\t"
                     "movq %%rcx, 16(%%rsp)\n\t"
                     "testq %%rcx, %%rcx\n\t"
                     "jnz 1b\n\t"
                     "addq $256, %%rsp"
                     : "+r"(sum), "+r"(node)
                     :
                     : "rax", "rcx", "memory", "cc");
    return sum;
}

__attribute__((noipa)) static struct node *next_of(struct node *node)
{
    return node->next;
}

__attribute__((noipa)) long asked(struct node *node)
{
    long sum = 0;
    for (; node; node = next_of(node))
        sum += node->value;
    return sum;
}

int main(void)
{
    struct node node = {0, 0}, last = {0, -1};
    long other = 0;
    long wide[2];
    swap(&node, &other, 1), add(&node, &other, 1), widen(wide, &(unsigned short){0}, 1), decide(wide, &node, 1, 1);
    const long two[2] = {0, 1};
    double most = 0;
    smaller(&other, two, 1), larger(&most, &most, 1), largest(&other, two, 1), others(&other, two, 1);
    int index = 0;
    led(&(struct node *const){&node}, 1), hand_on(&(struct node *const){&node}, 1);
    static double rows[1][5];
    row_sum(rows, 1), pair_sums(rows, 1), rarely(two, 2);
    struct node before = {&node, 0}, *const buckets[] = {&before};
    index += (int)(looked_up(buckets, 1) + kept(&node) + asked(&node));
    index += told(&(long (*const)(long)){twice}, 1) != 0;
    weigh(&(double (*const)(long)){half}, 1, &most);
    return (int)(list(&node) + array(&node, 1) + jumps(&node, &index, 1) + drawn(&node, 0) + ninefold(&node, 1) + chain(&node, 1) +
                 nest(&node, 1) + merge(&node, &last));
}
