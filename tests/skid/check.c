/* Holds the samples of the labelled loops (loops.c) against what is true of them: check TRUTH t<TID>.lwps...
 * Prints a row for each loop; exit status 1 when weight went astray or any address is wrong. */
#include "format/reader.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 64, SAMPLES_LEAST = 50, CODE_BYTES = 256 };
static const double share_least = 0.95, share_of_most = 0.90;

struct loop {
    char name[32], kind[16];
    uint64_t start, end;
    uint64_t samples, weight, hot_weight, charged_weight, known_weight, accesses, known, wrong, strange;
    uint64_t at[CODE_BYTES]; /* weight by the interrupted ip */
};

struct access {
    uint64_t ip, low, bytes, element, offset;
    bool hot;
};

static struct loop loops[MOST];
static struct access accesses[MOST];
static unsigned loop_count, access_count;

static struct loop *loop_at(uint64_t ip)
{
    for (unsigned i = 0; i < loop_count; i++)
        if (ip >= loops[i].start && ip < loops[i].end)
            return &loops[i];
    return NULL;
}

/* An instruction may have two operands: either may be meant. */
static void check_access(struct loop *loop, const struct lwps_access *access)
{
    bool expected = false, right = false;
    for (unsigned i = 0; i < access_count; i++) {
        const struct access *true_one = &accesses[i];
        if (true_one->ip != access->ip)
            continue;
        expected = true;
        right |= !true_one->bytes || (access->address >= true_one->low &&
                                      access->address + access->bytes <= true_one->low + true_one->bytes &&
                                      (access->address - true_one->low) % true_one->element == true_one->offset);
    }
    loop->accesses++;
    if (!expected) {
        loop->strange++;
        printf("%s: %" PRIx64 " is no access\n", loop->name, access->ip);
    } else if (access->flags & LWPS_ACCESS_KNOWN) {
        loop->known++;
        if (!right && loop->wrong++ < 5)
            printf("%s: wrong address %" PRIx64 " for the instruction at +%" PRIx64 ", source %d\n", loop->name,
                   access->address, access->ip - loop->start, access->source);
    } else if (access->address) {
        loop->wrong++;
    }
}

static bool hot(uint64_t ip)
{
    for (unsigned i = 0; i < access_count; i++)
        if (accesses[i].ip == ip && accesses[i].hot)
            return true;
    return false;
}

static int visit_sample(void *to, const struct lwps_sample *sample)
{
    (void)to;
    struct loop *loop = loop_at(sample->ip);
    if (loop) {
        loop->samples++;
        loop->weight += sample->weight;
        if (sample->ip - loop->start < CODE_BYTES)
            loop->at[sample->ip - loop->start] += sample->weight;
    }
    for (unsigned i = 0; i < sample->access_count; i++) {
        const struct lwps_access *access = &sample->access[i];
        struct loop *of = loop_at(access->ip);
        if (!of)
            continue;
        check_access(of, access);
        if (!(access->flags & LWPS_ACCESS_WEIGHTED))
            continue;
        bool store = !strcmp(of->kind, "store");
        if (sample->kind == LWPS_SAMPLE_STALL || sample->kind == LWPS_SAMPLE_STORE)
            of->charged_weight += sample->weight;
        if (hot(access->ip) && sample->kind == (store ? LWPS_SAMPLE_STORE : LWPS_SAMPLE_STALL))
            of->hot_weight += sample->weight;
        if (access->flags & LWPS_ACCESS_KNOWN)
            of->known_weight += sample->weight;
    }
    return 0;
}

static bool read_truth(const char *path)
{
    FILE *from = fopen(path, "r");
    char line[256], mark[16];
    if (!from)
        return false;
    while (fgets(line, sizeof line, from)) {
        struct loop *loop = &loops[loop_count];
        struct access *access = &accesses[access_count];
        if (loop_count < MOST && sscanf(line, "case %31s %" SCNx64 " %" SCNx64 " %15s", loop->name, &loop->start,
                                        &loop->end, loop->kind) == 4) {
            loop_count++;
        } else if (access_count < MOST &&
                   sscanf(line, "access %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %15s", &access->ip,
                          &access->low, &access->bytes, &access->element, &access->offset, mark) == 6) {
            access->hot = !strcmp(mark, "hot");
            access_count++;
        } else {
            fclose(from);
            return false;
        }
    }
    fclose(from);
    return loop_count > 0;
}

static void print_ips(const struct loop *loop, uint64_t of)
{
    for (unsigned i = 0; i < CODE_BYTES; i++)
        if (loop->at[i] * 50 > of)
            printf("    at +%x: %.1f%%\n", i, 100 * (double)loop->at[i] / (double)of);
}

/* Below `least` by more than chance explains (two standard deviations of that many samples). */
static bool falls_short(double on_hot, double least, uint64_t samples)
{
    return on_hot < least - 2 * sqrt(least * (1 - least) / (double)samples);
}

static double share(uint64_t part, uint64_t all)
{
    return all ? (double)part / (double)all : 0;
}

int main(int count, char **arguments)
{
    if (count < 3 || !read_truth(arguments[1]))
        return 2;
    struct lwps_visitor visitor = {.sample = visit_sample};
    for (int i = 2; i < count; i++) {
        struct lwps_damage damage;
        struct lwp_error error = {0};
        if (lwps_read(arguments[i], &visitor, NULL, &damage, &error)) {
            fprintf(stderr, "%s\n", error.text);
            return 2;
        }
        if (damage.bad_blocks || damage.unknown_blocks || damage.torn_bytes) {
            fprintf(stderr, "%s: damaged\n", arguments[i]);
            return 2;
        }
    }
    bool good = true;
    printf("%-10s %7s %8s %8s %8s %9s %6s\n", "loop", "samples", "on hot", "charged", "known", "addresses", "wrong");
    for (unsigned i = 0; i < loop_count; i++) {
        const struct loop *loop = &loops[i];
        double on_hot = share(loop->hot_weight, loop->weight), charged = share(loop->charged_weight, loop->weight);
        const char *fault = "";
        if (loop->samples < SAMPLES_LEAST)
            fault = "too few samples";
        else if (loop->wrong)
            fault = "wrong addresses";
        else if (loop->strange)
            fault = "not an access";
        else if ((!strcmp(loop->kind, "load") || !strcmp(loop->kind, "store")) &&
                 falls_short(on_hot, share_least, loop->samples))
            fault = "weight went astray";
        else if (!strcmp(loop->kind, "most") && falls_short(on_hot, share_of_most, loop->samples))
            fault = "weight went astray";
        else if (!strcmp(loop->kind, "compute") && charged > 1 - share_least)
            fault = "charged without a stall";
        good &= !*fault;
        printf("%-10s %7" PRIu64 " %7.1f%% %7.1f%% %7.1f%% %9" PRIu64 " %6" PRIu64 " %s\n", loop->name, loop->samples,
               100 * on_hot, 100 * charged, 100 * share(loop->known_weight, loop->charged_weight), loop->known,
               loop->wrong, fault);
        if (*fault)
            print_ips(loop, loop->weight);
    }
    return good ? 0 : 1;
}
