/* What the code around a memory access tells about it. */
#ifndef LWP_ANALYSIS_ADVICE_REDUNDANCY_ACCESS_SITE_H
#define LWP_ANALYSIS_ADVICE_REDUNDANCY_ACCESS_SITE_H

#include "analysis/profile/profile.h"
#include "analysis/program/flow/machine_code.h"

struct lwp_access_site {
    const struct lwp_symbolized *place; /* NULL: unknown code */
    const char *function;          /* innermost, inlined or not; "" unknown */
    uint32_t loop;                 /* innermost source loop; LWP_NONE: none */
    struct lwp_memory_operand operand;
    bool shaped; /* `shape` is known */
    struct lwp_loop_shape shape;
};

/* Of a context whose innermost node is the access itself. */
struct lwp_access_site lwp_access_site(struct lwp_profile *profile, uint32_t context);

/* memset, calloc, std::fill and the like, under whatever name the processor's version has. */
bool lwp_access_fills(const struct lwp_access_site *site);
bool lwp_access_copies(const struct lwp_access_site *site);     /* memcpy and the like */
bool lwp_access_compares(const struct lwp_access_site *site);   /* strcmp and the like */
bool lwp_access_constructs(const struct lwp_access_site *site); /* a C++ constructor */

/* A fill of the library's, a constructor, or a loop that stores what it has not computed from anything. */
bool lwp_access_initialises(const struct lwp_access_site *site);

/* Whether both are the same instruction, or in the same loop. */
bool lwp_access_same(const struct lwp_access_site *a, const struct lwp_access_site *b);
bool lwp_access_same_loop(const struct lwp_access_site *a, const struct lwp_access_site *b);

/* Whether each pass of their loop makes both accesses to the same bytes. */
bool lwp_access_same_pass(struct lwp_profile *profile, const struct lwp_access_site *a,
                          const struct lwp_access_site *b);

/* Whether the access, by the stack pointer or the frame pointer, is to a place of its own function's frame where the
 * compiler puts what it has no register for, or to another function's frame. */
bool lwp_access_is_slot(const struct lwp_access_site *site, const struct lwp_object *object);
bool lwp_access_is_argument(const struct lwp_access_site *site, const struct lwp_object *object);

/* Whether the function of the access, or the first one outside of the C library, is called from within a loop. */
bool lwp_access_called_in_loop(struct lwp_profile *profile, uint32_t context);

#endif
