/* The access patterns of LWPTool's case studies (Yu et al., TPDS 2018, sections 7.4, 7.5, 7.8, 7.10), small: papers_layout CASE. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOOP __attribute__((noipa))

/* ---- MSER: only parent is used in the hot loop ---- */

enum { NODES = 1 << 17 };
typedef struct node {
    int parent, shortcut, region, area;
} node_t;

LOOP static long find_roots(const node_t *nodes, long count)
{
    long roots = 0;
    for (long i = 0; i < count; i++)
        roots += nodes[i].parent == (int)i;
    return roots;
}

LOOP static long add_areas(const node_t *nodes, long count)
{
    long sum = 0;
    for (long i = 0; i < count; i++)
        sum += nodes[i].area + nodes[i].region + nodes[i].shortcut;
    return sum;
}

static long mser(void)
{
    node_t *nodes = malloc(NODES * sizeof *nodes);
    long sum = 0;
    for (int i = 0; i < NODES; i++)
        nodes[i] = (node_t){i / 2, i, i % 7, 1};
    for (int round = 0; round < 8; round++)
        sum += find_roots(nodes, NODES);
    sum += add_areas(nodes, NODES);
    free(nodes);
    return sum;
}

/* ---- CLOMP: one thread allocates the zones, all go through theirs, by value and nextZone only ---- */

enum { PARTS = 4, ZONES = 1 << 15 };
typedef struct zone {
    long zoneId, partId;
    double value;
    struct zone *nextZone;
} Zone;
static Zone *parts[PARTS];

LOOP static double update_part(const Zone *zone, double deposit)
{
    double left = deposit;
    for (Zone *at = (Zone *)zone; at; at = at->nextZone) {
        at->value += left * 0.01;
        left -= left * 0.01;
    }
    return left;
}

static void *clomp_part(void *number)
{
    double left = 1;
    for (int round = 0; round < 4; round++)
        left = update_part(parts[(long)number], left);
    return left > 2 ? number : NULL;
}

static long clomp(void)
{
    pthread_t threads[PARTS];
    Zone *zones = calloc(PARTS * ZONES, sizeof *zones);
    for (long i = 0; i < PARTS * ZONES; i++)
        zones[i] = (Zone){i % ZONES, i / ZONES, 0, i % ZONES == ZONES - 1 ? NULL : &zones[i + 1]};
    for (long part = 0; part < PARTS; part++) {
        parts[part] = &zones[part * ZONES];
        pthread_create(&threads[part], NULL, clomp_part, (void *)part);
    }
    for (long part = 0; part < PARTS; part++)
        pthread_join(threads[part], NULL);
    long sum = zones[5].zoneId;
    free(zones);
    return sum;
}

/* ---- SRAD: six arrays of the image are used together, four short ones of indices beside them ---- */

enum { ROWS = 300, COLUMNS = 300, SIZE = ROWS * COLUMNS };
static float *J, *c, *dN, *dS, *dW, *dE;
static int *iN, *iS, *jW, *jE;

LOOP static void derivatives(float q0)
{
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++) {
            const int k = i * COLUMNS + j;
            const float Jc = J[k];
            dN[k] = J[iN[i] * COLUMNS + j] - Jc;
            dS[k] = J[iS[i] * COLUMNS + j] - Jc;
            dW[k] = J[i * COLUMNS + jW[j]] - Jc;
            dE[k] = J[i * COLUMNS + jE[j]] - Jc;
            const float g = (dN[k] * dN[k] + dS[k] * dS[k] + dW[k] * dW[k] + dE[k] * dE[k]) / (Jc * Jc);
            const float of = 1 / (1 + (g - q0) / (q0 * (1 + q0)));
            c[k] = of < 0 ? 0 : of > 1 ? 1 : of;
        }
}

LOOP static void diverge(float lambda)
{
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++) {
            const int k = i * COLUMNS + j;
            const float D = c[k] * dN[k] + c[iS[i] * COLUMNS + j] * dS[k] + c[k] * dW[k] + c[i * COLUMNS + jE[j]] * dE[k];
            J[k] += 0.25f * lambda * D;
        }
}

static long srad(void)
{
    J = malloc(SIZE * sizeof *J);
    c = malloc(SIZE * sizeof *c);
    dN = malloc(SIZE * sizeof *dN);
    dS = malloc(SIZE * sizeof *dS);
    dW = malloc(SIZE * sizeof *dW);
    dE = malloc(SIZE * sizeof *dE);
    iN = malloc(ROWS * sizeof *iN);
    iS = malloc(ROWS * sizeof *iS);
    jW = malloc(COLUMNS * sizeof *jW);
    jE = malloc(COLUMNS * sizeof *jE);
    for (int i = 0; i < ROWS; i++) {
        iN[i] = i ? i - 1 : 0;
        iS[i] = i < ROWS - 1 ? i + 1 : i;
    }
    for (int j = 0; j < COLUMNS; j++) {
        jW[j] = j ? j - 1 : 0;
        jE[j] = j < COLUMNS - 1 ? j + 1 : j;
    }
    for (int k = 0; k < SIZE; k++)
        J[k] = 1 + (float)(k % 13) * 0.01f;
    for (int round = 0; round < 4; round++) {
        derivatives(0.05f);
        diverge(0.5f);
    }
    return (long)(J[17] * 100);
}

/* ---- IRSmk: 27 arrays of coefficients and the vector that they are multiplied with ---- */

enum { SIDE = 22, CELLS = SIDE * SIDE * SIDE, COEFFICIENTS = 27 };
static double *x, *b;
#define ARRAYS(of)                                                                                                                         \
    of(dbl) of(dbc) of(dbr) of(dcl) of(dcc) of(dcr) of(dfl) of(dfc) of(dfr) of(cbl) of(cbc) of(cbr) of(ccl) of(ccc) of(ccr) of(cfl)        \
        of(cfc) of(cfr) of(ubl) of(ubc) of(ubr) of(ucl) of(ucc) of(ucr) of(ufl) of(ufc) of(ufr)
#define DECLARE(name) static double *name;
ARRAYS(DECLARE)

LOOP static void multiply(void)
{
    for (int k = 1; k < SIDE - 1; k++)
        for (int j = 1; j < SIDE - 1; j++)
            for (int i = 1; i < SIDE - 1; i++) {
                const int at = (k * SIDE + j) * SIDE + i;
                const double *row = x + at;
                double sum = 0;
#define DOT(name) sum += name[at] * *row, row = row == x + at ? x + at + 1 : x + at;
                ARRAYS(DOT)
                b[at] = sum;
            }
}

static long irsmk(void)
{
    x = malloc(CELLS * sizeof *x);
    b = malloc(CELLS * sizeof *b);
#define MAKE(name) name = malloc((CELLS + 8 * (sizeof #name % 3)) * sizeof *name);
    ARRAYS(MAKE)
    for (int i = 0; i < CELLS; i++) {
        x[i] = i;
#define FILL(name) name[i] = i % 5;
        ARRAYS(FILL)
    }
    for (int round = 0; round < 4; round++)
        multiply();
    return (long)b[CELLS / 2];
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";
    long (*run)(void) = strcmp(name, "mser") == 0    ? mser
                        : strcmp(name, "clomp") == 0 ? clomp
                        : strcmp(name, "srad") == 0  ? srad
                        : strcmp(name, "irsmk") == 0 ? irsmk
                                                     : NULL;
    return run ? printf("%ld\n", run()) < 0 : 2;
}
