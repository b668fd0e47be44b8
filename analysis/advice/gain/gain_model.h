/* What memory traffic costs: the share of a loop's stalls that a new layout saves, and the time that goes with them. */
#ifndef LWP_ANALYSIS_ADVICE_GAIN_GAIN_MODEL_H
#define LWP_ANALYSIS_ADVICE_GAIN_GAIN_MODEL_H

#include "analysis/advice/placement/lines.h"
#include "analysis/profile/profile.h"
#include "analysis/program/flow/machine_code.h"

struct lwp_gain_range {
    double low, high;
};

/* Standard deviations that an interval of a gain has to each side: 90 %. */
static const double lwp_gain_deviations = 1.645;

/* That a processor executes in a cycle. */
static const double lwp_gain_instructions_most = 6;

enum lwp_gain_pattern { LWP_GAIN_SEQUENTIAL, LWP_GAIN_RANDOM, LWP_GAIN_UNKNOWN };

/* How the loop visits the elements. */
struct lwp_gain_access {
    enum lwp_gain_pattern pattern;
    bool dependent;      /* the address of each visit comes from the one before (pointer chasing) */
    double instructions; /* for each visit; 0: not known */
};

/* With usual sizes for what is not known. */
struct lwp_caches lwp_gain_caches(struct lwp_caches caches);

/* The share of the loop's stalls on the data that is saved. Negative: it gets slower. `caches` as lwp_gain_caches returns them. */
struct lwp_gain_range lwp_gain_saved(const struct lwp_caches *caches, struct lwp_gain_access access,
                                     const struct lwp_placement_need *before, const struct lwp_placement_need *after);

/* The cost in the region that goes with stalls on data which were seen to cost `stalled`. `shape` is of its code, all zero when
 * that is not known. */
struct lwp_gain_range lwp_gain_stalled(const struct lwp_profile *profile, uint32_t region, double stalled,
                                       const struct lwp_loop_shape *shape);

/* The part of its time that the loop waits for memory, at least and at most: samples fall on accesses by chance, too. */
struct lwp_gain_range lwp_gain_stall_share(const struct lwp_profile *profile, uint32_t region, const struct lwp_loop_shape *shape);

/* The part of all time that threads wait for others in the loops of OpenMP runtimes. It shrinks with what they wait for. */
double lwp_gain_spinning(const struct lwp_profile *profile);

/* The part of the program's CPU time that the samples stand for, 0 to 1. A timer that leaves the kernel out sees none of what page
 * faults and system calls take. */
double lwp_gain_sampled(const struct lwp_profile *profile);

/* So much CPU time as a part of all, the kernel's too; 0: not known. */
double lwp_gain_of_time(const struct lwp_profile *profile, double ns);

/* The part of the program's CPU time that the kernel takes to make so many bytes of its pages; 0: not known. */
double lwp_gain_pages(const struct lwp_profile *profile, double bytes);

/* What the kernel takes at least, ns, for a program that was traced; 0: not known. */
double lwp_gain_kernel(const struct lwp_profile *profile);

/* Without the kernel, where its part is known. */
struct lwp_share lwp_gain_traced_ns(const struct lwp_profile *profile);

/* The part of its CPU time that the trace has. */
struct lwp_share lwp_gain_traced(const struct lwp_profile *profile);

/* Of the memory stall that the trace's model has, the part that there was at most: where all else took as few cycles as it may. */
double lwp_gain_waiting_most(const struct lwp_profile *profile);

/* A part of what was sampled, as one of all CPU time. How much of the kernel's time is lwp's own is not counted: that error is independent
 * of the part's, so that they add as squares. */
struct lwp_share lwp_gain_of_all(const struct lwp_profile *profile, struct lwp_share part);

/* Whether the shares are of a time that a layout can save: not when events were counted that have no latency. */
bool lwp_gain_known(const struct lwp_profile *profile);

/* The whole program's speed-up when these parts of its time are saved. */
struct lwp_gain_range lwp_gain_speedup(double saved_low, double saved_high);

#endif
