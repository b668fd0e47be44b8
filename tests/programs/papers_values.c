/* Loops of Wen's thesis whose redundancies are known in closed form, each beside a version without them:
 *
 *     papers_values CASE...
 *
 * prints "KIND AMOUNT FIRST SECOND", the lines of the pair ("-": of all first lines together); and of a mended version
 * "at_most KIND AMOUNT FROM TO". */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 400, SWEEPS = 25 };

#define CASE(name) __attribute__((noinline)) static void name(void)
#define FUNCTION   __attribute__((noipa)) static void

static double sum;

static void pair(const char *kind, long amount, int from, int to)
{
    if (from)
        printf("%s %ld %d %d\n", kind, amount, from, to);
    else
        printf("%s %ld - %d\n", kind, amount, to);
}

static void at_most(const char *kind, long amount, int from, int to)
{
    printf("at_most %s %ld %d %d\n", kind, amount, from, to);
}

/* ---- listing 2.14 (Sweep3D): hi and sigt hold one value, so that ci and dl are made again in each iteration ---- */

static double hi[N], sigt[N], phi[N], phii[N], phijb[N], phikb[N];

enum { CI = __LINE__ + 5, DL, INVERSE };
FUNCTION sweep(const double *mu, double cj, double ck)
{
    double phiir = 1;
    for (int i = 0; i < N; i++) {
        double ci = mu[0] * hi[i];
        double dl = sigt[i] + ci + cj + ck;
        dl = 1.0 / dl;
        double ql = phi[i] + ci * phiir + cj * phijb[i] + ck * phikb[i];
        phi[i] = ql * dl;
        phiir = 2.0 * phi[i] - phiir;
        phii[i] = phiir;
        phijb[i] = 2.0 * phi[i] - phijb[i];
        phikb[i] = 2.0 * phi[i] - phikb[i];
    }
}

enum { SWEEP_FIXED = __LINE__ };
FUNCTION sweep_fixed(const double *mu, double cj, double ck)
{
    double phiir = 1, ci = mu[0] * hi[0], dl = 1.0 / (sigt[0] + ci + cj + ck);
    for (int i = 0; i < N; i++) {
        double ql = phi[i] + ci * phiir + cj * phijb[i] + ck * phikb[i];
        phi[i] = ql * dl;
        phiir = 2.0 * phi[i] - phiir;
        phii[i] = phiir;
        phijb[i] = 2.0 * phi[i] - phijb[i];
        phikb[i] = 2.0 * phi[i] - phikb[i];
    }
}

static void sweep_begin(void)
{
    static volatile double width = 0.25, section = 1.5;
    const double w = width, s = section;
    for (int i = 0; i < N; i++) {
        hi[i] = w;
        sigt[i] = s;
        phi[i] = i * 0.37 + 1;
        phijb[i] = i * 0.41 + 1;
        phikb[i] = i * 0.43 + 1;
    }
}

CASE(sweep3d)
{
    const double mu = 0.7;
    sweep_begin();
    for (int k = 0; k < SWEEPS; k++)
        sweep(&mu, 0.3, 0.9);
    pair("computation", 1L * SWEEPS * N - 1, CI, CI);
    pair("computation", 3L * (SWEEPS * N - 1), DL, DL);
    pair("computation", 1L * SWEEPS * N - 1, INVERSE, INVERSE);
}

CASE(sweep3d_fixed)
{
    const double mu = 0.7;
    sweep_begin();
    for (int k = 0; k < SWEEPS; k++)
        sweep_fixed(&mu, 0.3, 0.9);
    at_most("computation", 5L * SWEEPS, SWEEP_FIXED, SWEEP_FIXED + 12); /* once a sweep */
}

/* ---- listing 2.12 (zeusmp): what is behind i was in front of it in the iteration before ---- */

static volatile double g2b[N + 1], b2[N + 1], g2ai[N + 1];
static volatile double d1b2oo[N + 1];

enum { AHEAD = __LINE__ + 5, BEHIND };
FUNCTION lorentz(void)
{
    for (int i = 1; i <= N; i++) {
        double product;
        const double ahead = (product = g2b[i] * b2[i], product * product);
        const double behind = (product = b2[i - 1] * g2b[i - 1], product * product); /* the operands the other way round: they commute */
        d1b2oo[i] = (ahead - behind) * g2ai[i];
    }
}

enum { LORENTZ_FIXED = __LINE__ };
FUNCTION lorentz_fixed(void)
{
    double behind = g2b[0] * b2[0];
    behind *= behind;
    for (int i = 1; i <= N; i++) {
        double ahead = g2b[i] * b2[i];
        ahead *= ahead;
        d1b2oo[i] = (ahead - behind) * g2ai[i];
        behind = ahead;
    }
}

static void lorentz_round(int round)
{
    for (int i = 0; i <= N; i++) {
        g2b[i] = round * N + i + 1.5;
        b2[i] = round * N - i + 0.25;
        g2ai[i] = round + i;
    }
}

CASE(zeusmp)
{
    for (int k = 0; k < SWEEPS; k++) {
        lorentz_round(k);
        lorentz();
    }
    pair("computation", 2L * SWEEPS * (N - 1), AHEAD, BEHIND);
}

CASE(zeusmp_fixed)
{
    for (int k = 0; k < SWEEPS; k++) {
        lorentz_round(k);
        lorentz_fixed();
    }
    at_most("computation", 0, LORENTZ_FIXED, LORENTZ_FIXED + 12);
}

/* ---- listing 4.4 (Caffe): the gradient of average pooling, 3 by 3 at each second place; most of it is zero ---- */

enum { IMAGES = 4, CHANNELS = 3, POOLED = 8, WINDOW = 3, STRIDE = 2, WIDTH = STRIDE * (POOLED - 1) + WINDOW };
static volatile float top_diff[IMAGES][CHANNELS][POOLED * POOLED], bottom_diff[IMAGES][CHANNELS][WIDTH * WIDTH];

enum { ADDED = __LINE__ + 11 };
FUNCTION pool_backward(bool only_what_counts)
{
    for (int n = 0; n < IMAGES; n++)
        for (int c = 0; c < CHANNELS; c++)
            for (int ph = 0; ph < POOLED; ph++)
                for (int pw = 0; pw < POOLED; pw++) {
                    if (only_what_counts && top_diff[n][c][ph * POOLED + pw] == 0)
                        continue;
                    for (int h = ph * STRIDE; h < ph * STRIDE + WINDOW; h++)
                        for (int w = pw * STRIDE; w < pw * STRIDE + WINDOW; w++)
                            bottom_diff[n][c][h * WIDTH + w] += top_diff[n][c][ph * POOLED + pw] / (WINDOW * WINDOW);
                }
}

static long pool_begin(void) /* returns how many are zero */
{
    long zeros = 0;
    for (int i = 0; i < IMAGES * CHANNELS * POOLED * POOLED; i++) {
        float value = i * 7919 % 4 ? 0 : (float)(i % 13 + 1);
        (&top_diff[0][0][0])[i] = value;
        zeros += value == 0;
    }
    for (int i = 0; i < IMAGES * CHANNELS * WIDTH * WIDTH; i++)
        (&bottom_diff[0][0][0])[i] = 0;
    return zeros;
}

CASE(caffe)
{
    long zeros = pool_begin();
    pool_backward(false);
    pair("silent_store", zeros * WINDOW * WINDOW * (long)sizeof(float), 0, ADDED);
}

CASE(caffe_fixed)
{
    pool_begin();
    pool_backward(true);
    at_most("silent_store", 0, ADDED, ADDED);
}

/* ---- listing 4.6 (imagick): each of the loads brings what it brought in an iteration before ---- */

enum { IMAGE = 12, KERNEL = 5 };
struct pixel {
    double red, green, blue;
};
static volatile double kernel[KERNEL * KERNEL];
static volatile struct pixel kernel_pixels[KERNEL], pixel;

enum { RED = __LINE__ + 8, GREEN, BLUE };
FUNCTION convolve(void)
{
    for (int y = 0; y < IMAGE; y++)
        for (int x = 0; x < IMAGE; x++) {
            const volatile double *k = kernel;
            for (int v = 0; v < KERNEL; v++)
                for (int u = 0; u < KERNEL; u++) {
                    pixel.red += *k * kernel_pixels[u].red;
                    pixel.green += *k * kernel_pixels[u].green;
                    pixel.blue += *k * kernel_pixels[u].blue;
                    k++;
                }
        }
}

enum { CONVOLVE_FIXED = __LINE__ };
FUNCTION convolve_fixed(void) /* the sums in registers, zeros passed over */
{
    struct pixel kept[KERNEL];
    memcpy(kept, (const void *)kernel_pixels, sizeof kept);
    double red = 0, green = 0, blue = 0;
    for (int y = 0; y < IMAGE; y++)
        for (int x = 0; x < IMAGE; x++)
            for (int u = 0; u < KERNEL; u++)
                if (kept[u].red != 0) {
                    red += kept[u].red;
                    green += kept[u].green;
                    blue += kept[u].blue;
                }
    pixel.red = red;
    pixel.green = green;
    pixel.blue = blue;
}

static void convolve_begin(void)
{
    for (int i = 0; i < KERNEL * KERNEL; i++)
        kernel[i] = i + 1;
    for (int u = 0; u < KERNEL; u++) {
        double value = u == 2 ? 0.5 : 0; /* mostly zeros */
        kernel_pixels[u].red = kernel_pixels[u].green = kernel_pixels[u].blue = value;
    }
    pixel.red = pixel.green = pixel.blue = 0;
}

CASE(imagick)
{
    const long all = (long)IMAGE * IMAGE * KERNEL * KERNEL, zeros = (long)IMAGE * IMAGE * KERNEL * (KERNEL - 1);
    convolve_begin();
    convolve();
    /* a color of the pixel, where the addend of the iteration before was zero (as the last one's is); of kernel_pixels all but the first
     * round of each; of the kernel all but the first pixel's, but green and blue load what red has just loaded */
    pair("silent_load", 8 * (zeros - 1 + (all - KERNEL) + (all - KERNEL * KERNEL)), 0, RED);
    pair("silent_load", 8 * (zeros - 1 + (all - KERNEL) + all), 0, GREEN);
    pair("silent_load", 8 * (zeros - 1 + (all - KERNEL) + all), 0, BLUE);
    pair("silent_store", 8 * (zeros - 1), RED, RED); /* and one over what was there at first */
}

CASE(imagick_fixed)
{
    convolve_begin();
    convolve_fixed();
    at_most("silent_store", 0, CONVOLVE_FIXED, CONVOLVE_FIXED + 18);
}

/* ---- listing 4.5 (binutils): a search through a list that goes on when it has found ---- */

enum { FUNCTIONS = 300, LOOKUPS = 40 };
struct arange {
    struct arange *next;
    unsigned long low, high;
};
struct function {
    struct function *next;
    struct arange arange;
};
static struct function *table;

enum { LOW = __LINE__ + 8, HIGH };
__attribute__((noipa)) static const struct function *lookup(unsigned long address)
{
    const struct function *best = NULL;
    unsigned long best_length = 0;
    for (const struct function *each = table; each; each = each->next)
        for (const struct arange *range = &each->arange; range; range = range->next) {
            unsigned long low, high;
            if (address >= (low = *(volatile const unsigned long *)&range->low) &&
                address < (high = *(volatile const unsigned long *)&range->high)) {
                if (!best || high - low < best_length) {
                    best = each;
                    best_length = high - low;
                }
            }
        }
    return best;
}

CASE(binutils)
{
    long high_again = 0;
    bool seen[FUNCTIONS] = {false};
    for (long i = 0; i < FUNCTIONS; i++) {
        struct function *one = calloc(1, sizeof *one);
        one->arange = (struct arange){NULL, (unsigned long)i * 16, (unsigned long)i * 16 + 16};
        one->next = table;
        table = one;
    }
    for (long i = 0; i < LOOKUPS; i++) {
        const unsigned long address = (unsigned long)(i * 7919 % FUNCTIONS) * 16 + 3;
        sum += lookup(address) != NULL;
        for (long k = 0; k < FUNCTIONS; k++) { /* the upper end is loaded where the lower is not above */
            bool high = address >= (unsigned long)k * 16;
            high_again += high && seen[k];
            seen[k] |= high;
        }
    }
    pair("silent_load", 8L * (LOOKUPS - 1) * FUNCTIONS, LOW, LOW);
    pair("silent_load", 8 * high_again, HIGH, HIGH);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } cases[] = {{"sweep3d", sweep3d},  {"sweep3d_fixed", sweep3d_fixed}, {"zeusmp", zeusmp},   {"zeusmp_fixed", zeusmp_fixed},
                 {"caffe", caffe},      {"caffe_fixed", caffe_fixed},     {"imagick", imagick}, {"imagick_fixed", imagick_fixed},
                 {"binutils", binutils}};
    int met = 0;
    for (int k = 1; k < argc; k++)
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
            if (strcmp(argv[k], cases[i].name) == 0) {
                cases[i].run();
                met++;
            }
    return met == argc - 1 && met && sum != 12345.5 ? 0 : 2;
}
