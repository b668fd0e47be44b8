/* The code of a superblock's steps under way: what registers and slots hold where it has come to, and how they are got at.
 *
 * In code: rbx values, rbp the number of words->path, r12 the epoch, r13 the number of zero, r14 the superblock's words,
 * r15 the memory's leaves. Before each step rax may have the lower number of a slot. */
#ifndef LWP_COLLECTOR_EXACT_DETECT_VALUES_VALUE_EMIT_H
#define LWP_COLLECTOR_EXACT_DETECT_VALUES_VALUE_EMIT_H

#include "collector/exact/detect/values/machine_code.h"
#include "collector/exact/detect/values/value_code.h"

enum { LWP_EXITS_MOST = 1024, LWP_WAYS_MOST = 512, LWP_EMIT_NONE = 0xffff };

/* What is known of a slot's upper number. */
enum lwp_upper { LWP_UPPER_ANY, LWP_UPPER_ZERO, LWP_UPPER_NONE }; /* that of zero; 0 */

struct lwp_emitted {
    struct lwp_value_codes *codes;
    uint8_t upper[LWP_VALUE_SLOTS]; /* enum lwp_upper */
    uint16_t held;                  /* the slot whose lower number is in rax, LWP_EMIT_NONE */
    uint32_t first;                 /* computation's number beside rbp */
    uint32_t computed;              /* steps so far */
    struct lwp_exit {
        uint8_t *jump;
        uint32_t computed;
    } exits[LWP_EXITS_MOST];
    struct lwp_way {                /* by a call, where what is in place does not do */
        const struct lwp_value_step *step;
        uint8_t *jumps[5], *back;   /* who goes there; where to go on */
        uint32_t count;
    } ways[LWP_WAYS_MOST];
    uint32_t way_count;
};
extern struct lwp_emitted lwp_emitted;

/* Nothing is in rax behind it but what it returns. */
void lwp_emit_call(const void *function);

/* The lower number of a slot; from rax into one. */
void lwp_emit_get(enum lwp_reg to, unsigned slot);
void lwp_emit_set(unsigned slot);

/* The upper number, as it is; lwp_number_high() of it, for which rcx is lost. */
void lwp_emit_get_upper(enum lwp_reg to, unsigned slot);
void lwp_emit_get_high(enum lwp_reg to, unsigned slot);

/* What is known of it, which is written only where others read it; or what a register holds. */
void lwp_emit_set_upper(unsigned slot, enum lwp_upper upper);
void lwp_emit_set_any(unsigned slot, enum lwp_reg upper);

#endif
