/* Small, since a fuzzer starts from it (make fuzz-dwarf): structs, a union, bit-fields, statics, inlining, loops. */
struct node {
    int key;
    struct node *left, *right;
    double w[4];
    union {
        int a;
        float b;
    };
    unsigned x : 3, y : 9;
};

typedef struct {
    struct node n[3];
    const struct node *const p;
} box;

extern box boxes[4];
box boxes[4];
static long total[7][3];

static inline int get(const struct node *n, int i)
{
    return n[i].key;
}

long sum(const struct node *list, int n);
long sum(const struct node *list, int n)
{
    long s = 0;
    for (int i = 0; i < n; i++) {
        s += get(list, i);
        total[i % 7][1] += s;
    }
    return s;
}

double walk(struct node *n);
double walk(struct node *n)
{
    double d = 0;
    while (n) {
        d += n->w[2];
        n = n->left ? n->left : n->right;
    }
    return d + boxes[1].n[2].key;
}
