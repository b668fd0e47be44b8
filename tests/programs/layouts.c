/* Structures whose right advice is not simply a split.
 *
 *     layouts holes|tight|system|turns|slices|bits|linked|chain|hashed|walked|across|padded|mixed|begins
 *             [rounds]
 *
 * holes   all fields used by one loop, half of the bytes are holes: another order
 * tight   the same without holes: nothing
 * system  the C library's struct stat, one field used: not ours to split
 * turns   four threads own the elements in turn and write one field: splitting would make them share lines
 * slices  the same, each thread with a slice of its own: split
 * bits    bit fields, a union without a name, arrays, pointers to functions: they go where the compiler puts them
 * linked  elements of one array that point to each other: parts with a common index, pointers lead to the hot one
 * chain   nodes from malloc with an array of unknown length at their end
 * hashed  entries of a hash table, of which a search reads key and next, and who called it the value: these three together
 * walked  the same of lists of 400: the value goes with the rest
 * across  48-byte elements that are visited at random, half of them on two lines: nothing, processors fetch both at once
 * padded  elements of a whole line by padding, which four threads write as they come by: as it is
 * mixed   half of the time goes to loops that use everything, half to one that uses a little
 * begins  elements that begin with the members of a smaller structure, written again: pointers to that lead to them, too */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#if defined __GNUC__ && !defined __clang__
#define LOOP __attribute__((noipa))
#else
#define LOOP __attribute__((noinline))
#endif

enum { COUNT = 1000000, THREADS = 4 };

struct gappy {
    char kind;
    double weight;
    char colour;
    double height;
    char state;
    double width;
};

struct tight {
    double weight, height, width;
    char kind, colour, state, more[5];
};

struct task {
    double done;
    double history[7];
};

struct bits {
    unsigned kind : 3, state : 5;
    unsigned more : 8;
    unsigned last : 16;
    union {
        int number;
        float real;
    };
    struct {
        int x, y;
    } where;
    void (*call)(int, struct bits *);
    double weight;
    char name[20];
    int (*table)[4];
};

struct linked {
    struct linked *next;
    double value;
    double history[6];
};

struct chain {
    struct chain *next;
    long value;
    double history[6];
    char name[];
};

struct entry {
    struct entry *next;
    long key, rest[5], value;
};

typedef struct {
    double position[3], velocity[3];
} mover;

struct slot {
    long count;
    char pad[56];
};

struct mixed {
    double value;
    double more[7];
};

static struct task *tasks;
static struct slot *slots;
static atomic_size_t next_slot;
static size_t rounds = 40;
static int in_turns;

static void *take(size_t bytes)
{
    void *memory = malloc(bytes);
    if (!memory)
        exit(1);
    return memset(memory, 1, bytes); /* real pages, not one empty page for all */
}

/* Each instruction loads a field: whatever a sample finds, it is an access to the structure. */
/* A sum for each field: with one for all, the additions wait for each other longer than for memory, and no layout is faster. */
static LOOP double sum_gappy(const struct gappy *all)
{
    double weight = 0, height = 0, width = 0;
    for (size_t i = 0; i < COUNT; i++) {
        weight += all[i].weight;
        height += all[i].height;
        width += all[i].width;
        if (!all[i].kind || !all[i].colour || !all[i].state)
            break;
    }
    return weight + height + width;
}

static LOOP double sum_tight(const struct tight *all)
{
    double sum = 0;
    for (size_t i = 0; i < COUNT; i++)
        sum += all[i].weight + all[i].height * all[i].width +
               (all[i].kind ^ all[i].colour ^ all[i].state ^ all[i].more[3]);
    return sum;
}

static LOOP long sum_sizes(const struct stat *all)
{
    long sum = 0;
    for (size_t i = 0; i < COUNT; i++)
        sum += all[i].st_size;
    return sum;
}

static LOOP double sum_bits(const struct bits *all)
{
    double sum = 0;
    for (size_t i = 0; i < COUNT; i++)
        sum += all[i].more ? all[i].weight : 0;
    return sum;
}

/* As C derives without a member for the base. */
struct start {
    long kind;
    double weight;
    struct start *above;
};
struct started {
    long kind;
    double weight;
    struct started *above;
    double more[11], size;
};

static LOOP double sum_starts(struct start *const *all)
{
    double sum = 0;
    for (size_t i = 0; i < COUNT; i++)
        sum += all[i]->weight;
    return sum;
}
static LOOP double sum_sizes_of(const struct started *all)
{
    double sum = 0;
    for (size_t i = 0; i < COUNT; i++)
        sum += all[i].size;
    return sum;
}

static LOOP double sum_linked(const struct linked *at)
{
    double sum = 0;
    for (; at; at = at->next)
        sum += at->value;
    return sum;
}

static LOOP long sum_chain(const struct chain *at)
{
    long sum = 0;
    for (; at; at = at->next)
        sum += at->value;
    return sum;
}

static LOOP const struct entry *find_entry(const struct entry *at, long key)
{
    while (at && at->key != key)
        at = at->next;
    return at;
}

static LOOP long sum_found(struct entry *const *heads, size_t buckets, const unsigned *keys, size_t count)
{
    long sum = 0;
    for (size_t i = 0; i < count; i++) {
        const struct entry *found = find_entry(heads[keys[i] % buckets], keys[i]);
        sum += found ? found->value : 1;
    }
    return sum;
}

static LOOP double sum_movers(const mover *all, const unsigned *order)
{
    double sum = 0;
    for (size_t i = 0; i < COUNT; i++) {
        const mover *m = &all[order[i]];
        sum += m->position[0] * m->velocity[0] + m->position[1] * m->velocity[1] + m->position[2] * m->velocity[2];
    }
    return sum;
}

static LOOP double sum_everything(const struct mixed *all)
{
    double sum = 0;
    for (size_t i = 0; i < COUNT; i++) {
        sum += all[i].value;
        for (int k = 0; k < 7; k++)
            sum += all[i].more[k];
    }
    return sum;
}

static LOOP double sum_values(const struct mixed *all)
{
    double sum = 0;
    for (size_t i = 0; i < COUNT; i++)
        sum += all[i].value;
    return sum;
}

static LOOP void count_slots(size_t first, size_t end)
{
    for (size_t i = first; i < end; i++)
        slots[i].count++;
}

static unsigned *shuffled(void)
{
    unsigned *order = take(COUNT * sizeof *order);
    uint64_t seed = 7;
    for (unsigned i = 0; i < COUNT; i++)
        order[i] = i;
    for (unsigned i = COUNT - 1; i; i--) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        unsigned other = (unsigned)((seed >> 33) % (i + 1)), kept = order[i];
        order[i] = order[other];
        order[other] = kept;
    }
    return order;
}

static double follow(size_t chased, int chain)
{
    unsigned *order = shuffled();
    double sum = 0;
    if (chain) {
        struct chain **all = take(COUNT * sizeof *all), *head = NULL;
        for (size_t i = 0; i < COUNT; i++)
            all[i] = take(sizeof **all + 8);
        for (size_t i = 0; i < COUNT; i++) {
            all[order[i]]->next = head;
            head = all[order[i]];
        }
        free(all);
        for (size_t r = 0; r < chased; r++)
            sum += (double)sum_chain(head);
    } else {
        struct linked *all = take(COUNT * sizeof *all), *head = NULL;
        for (size_t i = 0; i < COUNT; i++) {
            all[order[i]].next = head;
            head = &all[order[i]];
        }
        for (size_t r = 0; r < chased; r++)
            sum += sum_linked(head);
    }
    free(order);
    return sum;
}

static double search(size_t searched, size_t buckets)
{
    unsigned *order = shuffled();
    struct entry *all = take(COUNT * sizeof *all), **heads = calloc(buckets, sizeof *heads);
    long sum = 0;
    for (size_t i = 0; i < COUNT; i++) { /* neighbours in a list are not neighbours in memory */
        struct entry *entry = &all[order[i]];
        entry->key = (long)i;
        entry->next = heads[i % buckets];
        heads[i % buckets] = entry;
    }
    for (size_t r = 0; r < searched; r++)
        sum += sum_found(heads, buckets, order, buckets < COUNT / 16 ? COUNT / 400 : COUNT);
    free(order);
    return (double)sum;
}

static LOOP void work_in_turns(size_t first)
{
    for (size_t i = first; i < COUNT; i += THREADS)
        tasks[i].done += 1;
}

static LOOP void work_in_slices(size_t first, size_t end)
{
    for (size_t i = first; i < end; i++)
        tasks[i].done += 1;
}

static LOOP void remember(size_t first, size_t end)
{
    for (size_t i = first; i < end; i++)
        for (int h = 0; h < 7; h++)
            tasks[i].history[h] += h;
}

static void *run(void *argument)
{
    size_t number = (size_t)(uintptr_t)argument;
    if (slots) {
        size_t first;
        while ((first = atomic_fetch_add(&next_slot, 8)) < rounds * COUNT)
            count_slots(first % COUNT, first % COUNT + 8);
        return NULL;
    }
    remember(number * COUNT / THREADS, (number + 1) * COUNT / THREADS);
    for (size_t r = 0; r < rounds; r++)
        if (in_turns)
            work_in_turns(number);
        else
            work_in_slices(number * COUNT / THREADS, (number + 1) * COUNT / THREADS);
    return NULL;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "holes";
    double sum = 0;
    if (argc > 2)
        rounds = (size_t)atol(argv[2]);
    if (strcmp(what, "holes") == 0) {
        struct gappy *all = take(COUNT * sizeof *all);
        for (size_t r = 0; r < rounds; r++)
            sum += sum_gappy(all);
    } else if (strcmp(what, "tight") == 0) {
        struct tight *all = take(COUNT * sizeof *all);
        for (size_t r = 0; r < rounds; r++)
            sum += sum_tight(all);
    } else if (strcmp(what, "system") == 0) {
        struct stat *all = take(COUNT * sizeof *all);
        for (size_t r = 0; r < rounds; r++)
            sum += (double)sum_sizes(all);
    } else if (strcmp(what, "bits") == 0) {
        struct bits *all = take(COUNT * sizeof *all);
        for (size_t r = 0; r < rounds; r++)
            sum += sum_bits(all);
    } else if (strcmp(what, "linked") == 0 || strcmp(what, "chain") == 0) {
        sum = follow(rounds / 100, what[0] == 'c');
    } else if (strcmp(what, "hashed") == 0 || strcmp(what, "walked") == 0) {
        sum = search(rounds / 16, what[0] == 'h' ? COUNT / 2 : COUNT / 400);
    } else if (strcmp(what, "across") == 0) {
        mover *all = take(COUNT * sizeof *all);
        unsigned *order = shuffled();
        for (size_t r = 0; r < rounds / 8; r++)
            sum += sum_movers(all, order);
    } else if (strcmp(what, "mixed") == 0) {
        struct mixed *all = take(COUNT * sizeof *all);
        for (size_t r = 0; r < rounds / 2; r++)
            sum += sum_everything(all) + sum_values(all);
    } else if (strcmp(what, "begins") == 0) {
        struct started *all = take(COUNT * sizeof *all);
        struct start **starts = take(COUNT * sizeof *starts);
        for (size_t i = 0; i < COUNT; i++)
            starts[i] = (struct start *)&all[i];
        for (size_t r = 0; r < rounds / 2; r++)
            sum += sum_starts(starts) + sum_sizes_of(all);
    } else if (strcmp(what, "turns") == 0 || strcmp(what, "slices") == 0 || strcmp(what, "padded") == 0) {
        pthread_t threads[THREADS];
        in_turns = what[0] == 't';
        if (what[0] == 'p')
            slots = take(COUNT * sizeof *slots);
        else
            tasks = take(COUNT * sizeof *tasks);
        for (size_t i = 0; i < THREADS; i++)
            pthread_create(&threads[i], NULL, run, (void *)(uintptr_t)i);
        for (size_t i = 0; i < THREADS; i++)
            pthread_join(threads[i], NULL);
        sum = tasks ? tasks[COUNT - 1].done : (double)slots[COUNT - 1].count;
    } else {
        return 2;
    }
    printf("%s %.0f\n", what, sum);
    return 0;
}
