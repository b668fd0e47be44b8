/* How often the stride of a simulated stream is found from k sampled addresses: by the plain GCD of LWPTool, by lwp,
 * and as eq. 4 of LWPTool predicts; with no stray addresses, 1 % and 5 %. Also what probability lwp states.
 *
 *     strides [SVG]     prints a table; draws the same curves into the file */
#include "analysis/statistics/stride.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ELEMENTS = 100000, RUNS = 20000, MOST = 40, RATES = 3 };

static const size_t counts[] = {2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 14, 16, 20, 24, 32, 40};
enum { COUNTS = sizeof counts / sizeof *counts };
static const unsigned rates[RATES] = {0, 10, 50}; /* strays in a thousand */

struct row {
    double paper, plain[RATES], robust[RATES], said[RATES];
};

static uint64_t seed = 20260101;

static uint64_t random_below(uint64_t limit)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (seed >> 33) % limit;
}

/* Eq. 4: 1 - sum over primes p of C(n/p, k) / C(n, k). */
static double paper_accuracy(double n, double k)
{
    static const int primes[] = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47};
    double wrong = 0;
    for (size_t i = 0; i < sizeof primes / sizeof *primes; i++) {
        double part = floor(n / primes[i]);
        if (part >= k)
            wrong += exp(lgamma(part + 1) - lgamma(part - k + 1) - lgamma(n + 1) + lgamma(n - k + 1));
    }
    return fmax(0, 1 - wrong);
}

static void measure(size_t k, unsigned rate, double *plain, double *robust, double *said)
{
    *plain = *robust = *said = 0;
    for (int run = 0; run < RUNS; run++) {
        uint64_t addresses[MOST], stride = 4 * (1 + random_below(50)), gcd = 0;
        for (size_t i = 0; i < k; i++)
            addresses[i] =
                random_below(1000) < rate ? random_below(ELEMENTS * stride) : stride * random_below(ELEMENTS);
        for (size_t i = 1; i < k; i++)
            gcd = lwp_stride_gcd(
                addresses[i] > addresses[0] ? addresses[i] - addresses[0] : addresses[0] - addresses[i], gcd);
        struct lwp_stride found = lwp_stride_estimate(addresses, k);
        *plain += gcd == stride;
        *robust += found.bytes == stride;
        *said += found.probability;
    }
    *plain /= RUNS;
    *robust /= RUNS;
    *said /= RUNS;
}

/* ---- drawing ---- */

enum { WIDTH = 760, HEIGHT = 460, LEFT = 60, RIGHT = 200, TOP = 40, BOTTOM = 50 };

static double at_x(double k)
{
    return LEFT + (WIDTH - LEFT - RIGHT) * log(k / 2) / log(MOST / 2.0);
}

static double at_y(double accuracy)
{
    return TOP + (HEIGHT - TOP - BOTTOM) * (1 - accuracy);
}

static void draw_curve(FILE *svg, const struct row *rows, size_t offset, const char *colour, const char *dash,
                       const char *name, int line)
{
    fprintf(svg, "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"2\" stroke-dasharray=\"%s\" points=\"", colour,
            dash);
    for (size_t i = 0; i < COUNTS; i++) {
        double value;
        memcpy(&value, (const char *)&rows[i] + offset, sizeof value);
        fprintf(svg, "%.1f,%.1f ", at_x((double)counts[i]), at_y(value));
    }
    int y = TOP + 10 + 22 * line;
    fprintf(svg,
            "\"/>\n<line x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\" stroke=\"%s\" stroke-width=\"2\" "
            "stroke-dasharray=\"%s\"/><text x=\"%d\" y=\"%d\">%s</text>\n",
            WIDTH - RIGHT + 15, y, WIDTH - RIGHT + 50, y, colour, dash, WIDTH - RIGHT + 56, y + 4, name);
}

static int draw(const char *path, const struct row *rows)
{
    static const char *const colours[RATES] = {"#1b6ca8", "#2e8b57", "#c0392b"};
    static const char *const plain[RATES] = {"plain GCD, no strays", "plain GCD, 1 %", "plain GCD, 5 %"};
    static const char *const robust[RATES] = {"lwp, no strays", "lwp, 1 % strays", "lwp, 5 % strays"};
    FILE *svg = fopen(path, "we");
    if (!svg)
        return -1;
    fprintf(svg,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" font-family=\"sans-serif\" "
            "font-size=\"12\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n"
            "<text x=\"%d\" y=\"22\" font-size=\"14\">Streams whose stride is found, by sampled addresses</text>\n",
            WIDTH, HEIGHT, LEFT);
    for (int tenth = 0; tenth <= 10; tenth += 2)
        fprintf(svg,
                "<line x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\" stroke=\"#ddd\"/>"
                "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%d %%</text>\n",
                LEFT, at_y(tenth / 10.0), WIDTH - RIGHT, at_y(tenth / 10.0), LEFT - 6, at_y(tenth / 10.0) + 4,
                tenth * 10);
    for (size_t i = 0; i < COUNTS; i++)
        if (counts[i] <= 6 || counts[i] % 4 == 0)
            fprintf(svg, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%zu</text>\n", at_x((double)counts[i]),
                    HEIGHT - BOTTOM + 18, counts[i]);
    fprintf(svg, "<text x=\"%d\" y=\"%d\">k, sampled addresses</text>\n", (WIDTH - RIGHT) / 2, HEIGHT - 12);
    draw_curve(svg, rows, offsetof(struct row, paper), "#555", "2,3", "eq. 4 (LWPTool)", 0);
    for (size_t r = 0; r < RATES; r++) {
        draw_curve(svg, rows, offsetof(struct row, plain) + r * sizeof(double), colours[r], "6,4", plain[r],
                   1 + (int)r);
        draw_curve(svg, rows, offsetof(struct row, robust) + r * sizeof(double), colours[r], "none", robust[r],
                   4 + (int)r);
    }
    fputs("</svg>\n", svg);
    return fclose(svg);
}

int main(int argc, char **argv)
{
    struct row rows[COUNTS];
    printf("Strides found from k addresses, %% of %d streams of %d elements\n", RUNS, ELEMENTS);
    printf("%4s %7s | %-23s | %-23s | %-23s\n", "", "", "no strays", "1 % strays", "5 % strays");
    printf("%4s %7s", "k", "eq. 4");
    for (int r = 0; r < RATES; r++)
        printf(" | %7s %7s %7s", "GCD", "lwp", "stated");
    puts("");
    for (size_t i = 0; i < COUNTS; i++) {
        rows[i].paper = paper_accuracy(ELEMENTS, (double)counts[i]);
        printf("%4zu %7.2f", counts[i], 100 * rows[i].paper);
        for (int r = 0; r < RATES; r++) {
            measure(counts[i], rates[r], &rows[i].plain[r], &rows[i].robust[r], &rows[i].said[r]);
            printf(" | %7.2f %7.2f %7.2f", 100 * rows[i].plain[r], 100 * rows[i].robust[r], 100 * rows[i].said[r]);
        }
        puts("");
    }
    if (argc > 1 && draw(argv[1], rows)) {
        fprintf(stderr, "strides: %s: %s\n", argv[1], strerror(errno));
        return 1;
    }
    if (argc > 1)
        printf("curves: %s\n", argv[1]);
    return 0;
}
