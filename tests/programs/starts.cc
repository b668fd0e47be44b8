/* Elements that do not begin where their block does; each loop reads nothing but `price`, 48 bytes into a Rec of 136.
 * starts SHAPE ROUNDS */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace
{

enum { COUNT = 1 << 16 };

struct Rec {
    long key, more[5];
    double price;
    long rest[6];
    std::string name;
    ~Rec()
    {
        if (key == -1)
            puts("never");
    }
};

struct Node { /* of C: nothing but bytes */
    long key, more[5];
    double price;
    long rest[10];
};

struct Edge {
    long from, to;
    double length[6];
};

/* Another view of the same bytes: what is at 48 in a Node is at 40 here, as if it began 8 bytes later. */
struct View {
    long more[5];
    double worth;
    long rest[11];
};

struct Arena {
    char *at, *end;
};

__attribute__((noipa)) double sum(Rec *records)
{
    double total = 0;
    for (long i = 0; i < COUNT; i++)
        total += records[i].price;
    return total;
}

__attribute__((noipa)) double sum_nodes(Node **nodes)
{
    double total = 0;
    for (long i = 0; i < COUNT; i++)
        total += nodes[i]->price;
    return total;
}

__attribute__((noipa)) double sum_views(View **views)
{
    double total = 0;
    for (long i = 0; i < COUNT; i++)
        total += views[i]->worth;
    return total;
}

/* A header before each block, as wrappers put there to know its size. */
__attribute__((noipa)) void *wrapped(size_t bytes)
{
    size_t *header = static_cast<size_t *>(malloc(bytes + sizeof *header));
    *header = bytes;
    return header + 1;
}

__attribute__((noipa)) void *carved(Arena *arena, size_t bytes)
{
    enum { CHUNK = 1 << 20, OWN = 24 };
    if (bytes > static_cast<size_t>(arena->end - arena->at)) {
        arena->at = static_cast<char *>(malloc(CHUNK));
        arena->end = arena->at + CHUNK;
        arena->at += OWN;
    }
    arena->at += bytes;
    return arena->at - bytes;
}

Node *make(Arena *arena, const char *shape)
{
    if (strcmp(shape, "wrapper") == 0)
        return static_cast<Node *>(wrapped(sizeof(Node)));
    if (strcmp(shape, "types") == 0)
        static_cast<Edge *>(carved(arena, sizeof(Edge)))->from = 1;
    return static_cast<Node *>(carved(arena, sizeof(Node)));
}

} // namespace

int main(int argc, char **argv)
{
    const char *shape = argc > 1 ? argv[1] : "cookie";
    long rounds = argc > 2 ? atol(argv[2]) : 1;
    double total = 0;
    if (strcmp(shape, "cookie") == 0) {
        Rec *records = new Rec[COUNT];
        for (long i = 0; i < COUNT; i++)
            records[i].price = 1;
        for (long r = 0; r < rounds; r++)
            total += sum(records);
        delete[] records;
    } else {
        Arena arena = {};
        Node **nodes = static_cast<Node **>(malloc(COUNT * sizeof *nodes));
        for (long i = 0; i < COUNT; i++) {
            Node *node = make(&arena, shape);
            memset(node, 0, sizeof *node);
            node->price = 1;
            nodes[i * 7919 % COUNT] = node;
        }
        for (long r = 0; r < rounds; r++) {
            total += sum_nodes(nodes);
            if (strcmp(shape, "views") == 0) {
                for (long i = 0; i < COUNT; i++)
                    nodes[i] = reinterpret_cast<Node *>(reinterpret_cast<char *>(nodes[i]) + 8);
                total += sum_views(reinterpret_cast<View **>(nodes));
                for (long i = 0; i < COUNT; i++)
                    nodes[i] = reinterpret_cast<Node *>(reinterpret_cast<char *>(nodes[i]) - 8);
            }
        }
    }
    printf("%g\n", total);
    return 0;
}
