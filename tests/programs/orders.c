/* orders KIND ROUNDS: goes through records in an order that is not that of memory, the same each time ("list", or "pointers" or "indices":
 * an array of them), or through a list in the order of memory and one whose records change places ("moves"). Records that end in a text
 * each: of one length, in blocks of their own and in any order ("tails"), or of several, one behind the other in chunks ("chunks"). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RECORDS = 400000 };

struct track {
    struct track *next;
    double length;
    long plays;
};

struct place {
    double east, north, height, weight, rain, snow, sun, wind;
};

struct guest {
    struct guest *next;
    double pays;
    int table;
};

struct line {
    struct line *next;
    long number;
    char text[];
};

static unsigned long state = 1;

static size_t drawn(size_t below)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (state >> 33) % below;
}

static void shuffle(void **items)
{
    for (size_t i = RECORDS; i-- > 1;) {
        size_t k = drawn(i + 1);
        void *item = items[i];
        items[i] = items[k];
        items[k] = item;
    }
}

static struct track *tracks(int in_order)
{
    static void *made[RECORDS];
    for (size_t i = 0; i < RECORDS; i++) {
        struct track *track = malloc(sizeof *track);
        *track = (struct track){.length = (double)i, .plays = (long)i % 7};
        made[i] = track;
    }
    if (!in_order)
        shuffle(made);
    for (size_t i = 0; i < RECORDS; i++)
        ((struct track *)made[i])->next = i + 1 < RECORDS ? made[i + 1] : NULL;
    return made[0];
}

__attribute__((noinline)) static double played(const struct track *first)
{
    double sum = 0;
    for (const struct track *track = first; track; track = track->next)
        sum += track->length * (double)track->plays;
    return sum;
}

enum { CHUNK = 4000, TEXT = 40 };

static struct line *lines(int in_chunks)
{
    static void *made[RECORDS];
    char *now = NULL, *end = NULL;
    for (size_t i = 0; i < RECORDS; i++) {
        const size_t bytes = sizeof(struct line) + (in_chunks ? drawn(TEXT / 8) * 8 : TEXT);
        if (in_chunks && now + bytes > end) {
            now = malloc(CHUNK);
            end = now + CHUNK;
        }
        struct line *line = in_chunks ? (struct line *)now : malloc(bytes);
        now = in_chunks ? now + bytes : NULL;
        memset(line, 1, bytes);
        line->number = (long)i;
        made[i] = line;
    }
    if (!in_chunks)
        shuffle(made);
    for (size_t i = 0; i < RECORDS; i++)
        ((struct line *)made[i])->next = i + 1 < RECORDS ? made[i + 1] : NULL;
    return made[0];
}

__attribute__((noinline)) static double numbers(const struct line *first)
{
    double sum = 0;
    for (const struct line *line = first; line; line = line->next)
        sum += (double)line->number;
    return sum;
}

static struct place *places[RECORDS];

__attribute__((noinline)) static double heights(void)
{
    double sum = 0;
    for (size_t i = 0; i < RECORDS; i++) {
        const struct place *at = places[i];
        sum += (at->east + at->north) * at->height * at->weight + at->rain + at->snow + at->sun + at->wind;
    }
    return sum;
}

enum { PARTS = 2 * RECORDS };

static struct part {
    double weight, price, stock, sold;
} * parts;
static int order[PARTS];

__attribute__((noinline)) static double worth(void)
{
    double sum = 0;
    for (size_t i = 0; i < PARTS; i++) {
        struct part *part = &parts[order[i]];
        part->sold += part->weight;
        sum += part->price * part->stock;
    }
    return sum;
}

enum { TABLES = 64 };

/* Each guest goes on to another table now and then. */
__attribute__((noinline)) static double evening(struct guest **tables)
{
    struct guest *next[TABLES] = {NULL};
    double sum = 0;
    for (size_t t = 0; t < TABLES; t++)
        for (struct guest *guest = tables[t], *after; guest; guest = after) {
            after = guest->next;
            sum += guest->pays;
            guest->table = (int)drawn(TABLES);
            guest->next = next[guest->table];
            next[guest->table] = guest;
        }
    memcpy(tables, next, sizeof next);
    for (size_t t = 0; t < TABLES; t++)
        for (const struct guest *guest = tables[t]; guest; guest = guest->next)
            sum += guest->pays * guest->table;
    return sum;
}

static void make_places(void)
{
    for (size_t i = 0; i < RECORDS; i++) {
        places[i] = malloc(sizeof **places);
        *places[i] = (struct place){.height = (double)i, .weight = 1};
    }
    shuffle((void **)places);
}

static void make_parts(void)
{
    parts = malloc(PARTS * sizeof *parts);
    for (size_t i = 0; i < PARTS; i++) {
        parts[i] = (struct part){.weight = 1, .price = (double)i, .stock = 2};
        order[i] = (int)i;
    }
    for (size_t i = PARTS; i-- > 1;) {
        const size_t k = drawn(i + 1);
        const int part = order[i];
        order[i] = order[k];
        order[k] = part;
    }
}

static void make_guests(struct guest **tables)
{
    for (size_t i = 0; i < RECORDS; i++) {
        struct guest *guest = malloc(sizeof *guest);
        *guest = (struct guest){.next = tables[i % TABLES], .pays = (double)i};
        tables[i % TABLES] = guest;
    }
}

int main(int count, char **arguments)
{
    const char *kind = count < 2 ? "list" : arguments[1];
    const long rounds = count < 3 ? 10 : atol(arguments[2]);
    const int pointers = strcmp(kind, "pointers") == 0, moves = strcmp(kind, "moves") == 0;
    static struct guest *tables[TABLES];
    double sum = 0;
    const int indices = strcmp(kind, "indices") == 0;
    const int tails = strcmp(kind, "tails") == 0, chunks = strcmp(kind, "chunks") == 0;
    struct line *line = tails || chunks ? lines(chunks) : NULL;
    struct track *first = pointers || indices || line ? NULL : tracks(moves);
    if (pointers)
        make_places();
    if (indices)
        make_parts();
    if (moves)
        make_guests(tables);
    for (long r = 0; r < rounds; r++)
        sum += pointers ? heights() : indices ? worth() : line ? numbers(line) : played(first) + (moves ? evening(tables) : 0);
    return printf("%g\n", sum) < 0;
}
