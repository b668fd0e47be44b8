/* Blocks whose elements are known by construction, walked in the ways compilers and people do: one shape for a run.
 *
 * Prints for each block "block BYTES SIZES START" (SIZES: the element sizes that are right, with commas; the first is
 * the declared one), and for each loop "use FUNCTION BYTES OFFSETS": where in the element of that block it reads. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef __clang__
#define LOOP __attribute__((noinline)) static
#else
#define LOOP __attribute__((noinline, noclone)) static
#endif
#define TOTAL ((size_t)24 << 20)

static double seconds = 0.5;
static int one = 1; /* not known to the compiler */
static volatile double sink;

static void *block(size_t bytes, const char *sizes, size_t start)
{
    char *memory = malloc(bytes);
    if (!memory)
        exit(1);
    for (size_t i = 0; i < bytes / 8; i++)
        ((double *)memory)[i] = (double)(i % 64);
    printf("block %zu %s %zu\n", bytes, sizes, start);
    return memory;
}

#define REPEAT(call)                                                                                                   \
    while ((double)clock() < seconds * CLOCKS_PER_SEC) {                                                               \
        __asm__ volatile("" ::: "memory");                                                                             \
        sink += (double)(call);                                                                                        \
    }

/* ---- unrolled loops ---- */

struct triple {
    double a, b;
    int32_t c, d;
};

#define UNROLLED(name, times)                                                                                          \
    LOOP double name##_one(const struct triple *items, size_t count)                                                   \
    {                                                                                                                  \
        double sum = 0;                                                                                                \
        _Pragma(times) for (size_t i = 0; i < count; i++) sum += items[i].b;                                           \
        return sum;                                                                                                    \
    }                                                                                                                  \
    LOOP double name##_two(const struct triple *items, size_t count)                                                   \
    {                                                                                                                  \
        double sum = 0;                                                                                                \
        _Pragma(times) for (size_t i = 0; i < count; i++) sum += items[i].a * items[i].c;                              \
        return sum;                                                                                                    \
    }                                                                                                                  \
    static void name(void)                                                                                             \
    {                                                                                                                  \
        size_t count = TOTAL / sizeof(struct triple);                                                                  \
        struct triple *items = block(count * sizeof *items, "24", 0);                                                  \
        printf("use " #name "_one %zu 8\nuse " #name "_two %zu 0,16\n", count * sizeof *items, count * sizeof *items); \
        REPEAT(name##_one(items, count) + name##_two(items, count));                                                   \
        free(items);                                                                                                   \
    }
UNROLLED(unrolled2, "GCC unroll 2")
UNROLLED(unrolled4, "GCC unroll 4")
UNROLLED(unrolled8, "GCC unroll 8")

LOOP double unrolled_scalars_sum(const double *values, size_t count)
{
    double sum = 0;
    _Pragma("GCC unroll 4") for (size_t i = 0; i < count; i++) sum += values[i];
    return sum;
}

static void unrolled_scalars(void)
{
    size_t count = TOTAL / sizeof(double) + 3;
    double *values = block(count * sizeof *values, "8", 0);
    REPEAT(unrolled_scalars_sum(values, count));
    free(values);
}

/* ---- vectors ---- */

LOOP int64_t vector_scalars_sum(const int64_t *values, size_t count)
{
    int64_t sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += values[i];
    return sum;
}

static void vector_scalars(void)
{
    size_t count = TOTAL / sizeof(int64_t);
    int64_t *values = block(count * sizeof *values, "8", 0);
    REPEAT(vector_scalars_sum(values, count));
    free(values);
}

struct pair {
    int64_t x, y;
};

LOOP int64_t vector_pairs_x(const struct pair *items, size_t count)
{
    int64_t sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += items[i].x;
    return sum;
}

LOOP int64_t vector_pairs_both(const struct pair *items, size_t count)
{
    int64_t sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += items[i].x ^ items[i].y;
    return sum;
}

static void vector_pairs(void)
{
    size_t count = TOTAL / sizeof(struct pair);
    struct pair *items = block(count * sizeof *items, "16", 0);
    REPEAT(vector_pairs_x(items, count) + vector_pairs_both(items, count));
    free(items);
}

struct point {
    float x, y, z;
};

LOOP float vector_points_move(struct point *items, size_t count, float by)
{
    for (size_t i = 0; i < count; i++) {
        items[i].x += by;
        items[i].z += by;
    }
    return items[0].x;
}

static void vector_points(void)
{
    size_t count = TOTAL / sizeof(struct point);
    struct point *items = block(count * sizeof *items, "12", 0);
    REPEAT(vector_points_move(items, count, 0.5f));
    free(items);
}

struct quad {
    int32_t key, value, left, right;
};

LOOP int64_t gather_sum(const struct quad *items, const int32_t *order, size_t count)
{
    int32_t sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += items[order[i]].value;
    return sum;
}

static void gather(void)
{
    size_t count = TOTAL / sizeof(struct quad);
    struct quad *items = block(count * sizeof *items, "16", 0);
    int32_t *order = block(count * sizeof *order, "4", 0);
    printf("use gather_sum %zu 4\n", count * sizeof *items);
    for (size_t i = 0; i < count; i++)
        order[i] = (int32_t)(i * 7919 % count);
    REPEAT(gather_sum(items, order, count));
    free(items);
    free(order);
}

/* Both halves alike and always used together: from the addresses it could as well be half as large. */

struct complex_value {
    double re, im;
};

LOOP double halves_norm(const struct complex_value *items, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += items[i].re * items[i].re + items[i].im * items[i].im;
    return sum;
}

static void halves(void)
{
    size_t count = TOTAL / sizeof(struct complex_value);
    struct complex_value *items = block(count * sizeof *items, "16", 0);
    REPEAT(halves_norm(items, count));
    free(items);
}

/* ---- directions and dimensions ---- */

struct record {
    double key;
    int64_t rest[3];
    double value;
};

LOOP double backwards_sum(const struct record *items, size_t count)
{
    double sum = 0;
    for (size_t i = count; i-- > 0;)
        sum += items[i].value;
    return sum;
}

static void backwards(void)
{
    size_t count = TOTAL / sizeof(struct record);
    struct record *items = block(count * sizeof *items, "40", 0);
    printf("use backwards_sum %zu 32\n", count * sizeof *items);
    REPEAT(backwards_sum(items, count));
    free(items);
}

enum { ROWS = 1500, COLUMNS = 1003 };

LOOP double matrix_columns(double (*matrix)[COLUMNS])
{
    double sum = 0;
    for (size_t j = 0; j < COLUMNS; j++)
        for (size_t i = 0; i < ROWS; i++)
            sum += matrix[i][j];
    return sum;
}

LOOP double matrix_rows(double (*matrix)[COLUMNS])
{
    double sum = 0;
    for (size_t i = 0; i < ROWS; i++)
        for (size_t j = 0; j < COLUMNS; j++)
            sum += matrix[i][j];
    return sum;
}

static void matrix(void)
{
    double(*values)[COLUMNS] = block(ROWS * sizeof *values, "8", 0);
    REPEAT(matrix_columns(values) + matrix_rows(values));
    free(values);
}

LOOP double struct_matrix_columns(const struct triple *items, size_t rows, size_t columns)
{
    double sum = 0;
    for (size_t j = 0; j < columns; j++)
        for (size_t i = 0; i < rows; i++)
            sum += items[i * columns + j].b;
    return sum;
}

static void struct_matrix(void)
{
    struct triple *items = block(1001 * 1002 * sizeof *items, "24", 0);
    printf("use struct_matrix_columns %zu 8\n", 1001 * 1002 * sizeof *items);
    REPEAT(struct_matrix_columns(items, 1001, 1002));
    free(items);
}

LOOP double triples_first(double (*rows)[3], size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += rows[i][0];
    return sum;
}

LOOP double triples_all(double (*rows)[3], size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += rows[i][0] * rows[i][1] - rows[i][2];
    return sum;
}

static void triples(void)
{
    size_t count = TOTAL / 24;
    double(*rows)[3] = block(count * sizeof *rows, "8,24", 0);
    REPEAT(triples_first(rows, count) + triples_all(rows, count));
    free(rows);
}

struct body {
    double position[3], velocity[3];
};

LOOP double bodies_extent(const struct body *items, size_t count, size_t dimensions)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < dimensions; k++)
            sum += items[i].position[k];
    return sum;
}

static void bodies(void)
{
    size_t count = TOTAL / sizeof(struct body);
    struct body *items = block(count * sizeof *items, "48", 0);
    printf("use bodies_extent %zu 0\n", count * sizeof *items);
    REPEAT(bodies_extent(items, count, (size_t)one * 3));
    free(items);
}

/* ---- at unforeseeable places ---- */

struct entry {
    uint64_t key, count;
    char text[40];
};

LOOP uint64_t random_lookups(const struct entry *items, size_t count)
{
    uint64_t at = 88172645463325252u, sum = 0;
    for (size_t i = 0; i < count; i++) {
        at = at * 6364136223846793005u + 1442695040888963407u;
        sum += items[(at >> 33) % count].count;
    }
    return sum;
}

static void random_places(void)
{
    size_t count = TOTAL / sizeof(struct entry);
    struct entry *items = block(count * sizeof *items, "56", 0);
    printf("use random_lookups %zu 8\n", count * sizeof *items);
    REPEAT(random_lookups(items, count));
    free(items);
}

LOOP uint64_t texts_hash(const struct entry *items, size_t count)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < count; i++) {
        for (const char *c = items[i].text; *c; c++)
            sum = sum * 31 + (unsigned char)*c;
        sum += items[i].key;
    }
    return sum;
}

static void texts(void)
{
    size_t count = TOTAL / sizeof(struct entry);
    struct entry *items = block(count * sizeof *items, "56", 0);
    printf("use texts_hash %zu 0,16\n", count * sizeof *items);
    for (size_t i = 0; i < count; i++)
        snprintf(items[i].text, sizeof items[i].text, "the text number %zu", i);
    REPEAT(texts_hash(items, count));
    free(items);
}

/* ---- blocks that hold more than one array ---- */

struct list {
    size_t used;
    double scale;
    size_t room;
    struct record items[];
};

LOOP double header_sum(const struct list *list)
{
    double sum = 0;
    for (size_t i = 0; i < list->used; i++)
        sum += list->items[i].value * list->scale;
    return sum;
}

LOOP void header_set(struct list *list)
{
    for (size_t i = 0; i < list->used; i++) {
        list->items[i].key = (double)i;
        list->items[i].value = 1;
    }
}

static void header(void)
{
    size_t count = TOTAL / sizeof(struct record) - 1, bytes = sizeof(struct list) + count * sizeof(struct record);
    struct list *list = block(bytes, "40", sizeof(struct list));
    printf("use header_sum %zu 32\nuse header_set %zu 0,32\n", bytes, bytes);
    list->used = count;
    while ((double)clock() < seconds * CLOCKS_PER_SEC) {
        header_set(list);
        sink += header_sum(list);
    }
    free(list);
}

struct six {
    double a, b, c, d, e, f;
};

LOOP double arena_six(const struct six *items, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += items[i].a;
    return sum;
}

LOOP double arena_records(const struct record *items, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += items[i].value;
    return sum;
}

LOOP double arena_values(const float *items, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += items[i];
    return sum;
}

static void arena(void)
{
    size_t count = TOTAL / 100;
    char *memory = block(count * (48 + 40 + 4), "unknown", 0);
    struct six *sixes = (struct six *)memory;
    struct record *records = (struct record *)(memory + count * 48);
    float *values = (float *)(memory + count * 88);
    REPEAT(arena_six(sixes, count) + arena_records(records, count) + arena_values(values, count));
    free(memory);
}

static void small_arena(void) /* nearly all of it one type */
{
    size_t count = TOTAL / 50, few = count / 12;
    char *memory = block(count * 48 + few * 40, "unknown,48", 0);
    struct six *sixes = (struct six *)memory;
    struct record *records = (struct record *)(memory + count * 48);
    REPEAT(arena_six(sixes, count) + arena_records(records, few));
    free(memory);
}

/* ---- blocks of their own ---- */

LOOP double pointers_sum(struct six **items, size_t count)
{
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += items[i]->c;
    return sum;
}

static void pointers(void)
{
    size_t count = TOTAL / 64;
    struct six **items = block(count * sizeof *items, "8", 0);
    for (size_t i = 0; i < count; i++)
        items[i] = calloc(1, sizeof **items);
    printf("block %zu 48 0\nuse pointers_sum %zu 16\n", count * 48, count * 48);
    REPEAT(pointers_sum(items, count));
}

/* ---- static ---- */

static struct record table[500000];

LOOP double table_sum(void)
{
    double sum = 0;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        sum += table[i].key;
    return sum;
}

static void static_table(void)
{
    printf("block %zu 40 0\nuse table_sum %zu 0\n", sizeof table, sizeof table);
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        table[i].key = (double)i;
    REPEAT(table_sum());
}

static const struct {
    const char *name;
    void (*run)(void);
} shapes[] = {
    {"unrolled2", unrolled2},
    {"unrolled4", unrolled4},
    {"unrolled8", unrolled8},
    {"unrolled_scalars", unrolled_scalars},
    {"vector_scalars", vector_scalars},
    {"vector_pairs", vector_pairs},
    {"vector_points", vector_points},
    {"gather", gather},
    {"halves", halves},
    {"backwards", backwards},
    {"matrix", matrix},
    {"struct_matrix", struct_matrix},
    {"triples", triples},
    {"bodies", bodies},
    {"random_places", random_places},
    {"texts", texts},
    {"header", header},
    {"arena", arena},
    {"small_arena", small_arena},
    {"pointers", pointers},
    {"static_table", static_table},
};

int main(int argc, char **argv)
{
    if (argc < 2) {
        for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
            puts(shapes[i].name);
        return 0;
    }
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        if (strcmp(shapes[i].name, argv[1]) == 0) {
            seconds = argc > 2 ? atof(argv[2]) : seconds;
            one = argc > 1;
            shapes[i].run();
            return 0;
        }
    return 2;
}
