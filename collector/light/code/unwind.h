/* Call paths by libunwind, loaded privately (dlopen RTLD_LOCAL: its _Unwind_* must not shadow the program's). */
#ifndef LWP_COLLECTOR_LIGHT_CODE_UNWIND_H
#define LWP_COLLECTOR_LIGHT_CODE_UNWIND_H

#include "collector/light/own/thread.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LWP_FRAMES_MAX = 64 };

/* Once, from the constructor; warms the caches. False: no libunwind here (paths will be empty). */
bool lwp_unwind_init(void);

/* Return addresses on the calling thread's stack and where they lie, innermost first, from the caller of lwp_unwind_slots on. */
struct lwp_stack_slots {
    unsigned count;
    bool whole; /* the last one is the outermost */
    bool enough;
    uint64_t ip[LWP_FRAMES_MAX], at[LWP_FRAMES_MAX];
};

/* Asked of each of them: whether what is further out is known. */
typedef bool lwp_unwind_enough(void *of, uint64_t ip, uint64_t at);

/* From `low` to `high` the stack can be read without asking. */
void lwp_unwind_slots(struct lwp_stack_slots *slots, uint64_t low, uint64_t high, lwp_unwind_enough *enough, void *of);

/* The calling thread's registers and the nearest part of its stack, to be unwound later. Most of it is as in the copy before: what copies
 * hold is put together in turn (lwp_stack_words), at places that follow from the address. */
enum { LWP_STACK_COPIED = 256 /* words */ };

struct lwp_stack_words {
    uint64_t word[LWP_STACK_COPIED];
};

static inline unsigned lwp_stack_place(uint64_t address)
{
    return address / sizeof(uint64_t) % LWP_STACK_COPIED;
}

static inline uint64_t lwp_stack_word(const struct lwp_stack_words *words, uint64_t address)
{
    return words->word[lwp_stack_place(address)];
}

/* What a function's caller may expect to find again, and where it was. */
struct lwp_kept_registers {
    uint64_t ip, sp, bp, bx, r12, r13, r14, r15;
};

struct lwp_stack_copy {
    struct lwp_kept_registers registers;
    uint64_t words;                          /* from sp on */
    uint64_t differs[LWP_STACK_COPIED / 64]; /* a bit for each of them that was another one before */
    uint64_t word[];                         /* those */
};

/* Needs no libunwind. `words`: of the copies before, and then of this one, too. Returns its size, 0: the caller is not on the first
 * thread's stack, or there is no room. */
size_t lwp_unwind_copy(struct lwp_stack_copy *copy, size_t room, struct lwp_stack_words *words);

/* Puts the copy's words to those of the copies before. */
void lwp_stack_words_add(struct lwp_stack_words *words, const struct lwp_stack_copy *copy);

/* As lwp_unwind_slots would have answered where the copy was made, but for what lies beyond it. Not beside another thread. */
void lwp_unwind_slots_of(const struct lwp_stack_copy *copy, const struct lwp_stack_words *words, struct lwp_stack_slots *slots,
                         lwp_unwind_enough *enough, void *of);

/* The call path of an interrupted thread. */
struct lwp_frames {
    uint64_t sp;                       /* as interrupted */
    unsigned count;                    /* callers */
    uint64_t ips[LWP_FRAMES_MAX + 1];  /* the interrupted ip, then those of the callers, innermost first, as struct lwps_context has them */
    uint64_t cfas[LWP_FRAMES_MAX + 1]; /* cfas[i]: of the function that ips[i] lies in */
};

/* From a signal's ucontext. Not `located`: only where the stack is, but no path: the thread is not where it was when it was to be
 * interrupted, or in unknown code. */
void lwp_frames_take(struct lwp_frames *frames, void *ucontext, bool located);

/* The callers of the interrupted function as a context of the thread's file. */
uint32_t lwp_frames_context(struct lwp_thread *self, const struct lwp_frames *frames);

/* The callers of a function that the interrupted thread will be in when it has returned from `returned` functions of the path and then
 * called to return to calls[0], from there to calls[1], ... 0: not known. */
uint32_t lwp_frames_context_to_come(struct lwp_thread *self, const struct lwp_frames *frames, unsigned returned, const uint64_t *calls,
                                    unsigned call_count);

/* The callers of the innermost function on the path whose code is [low, high). 0: it is not there. */
uint32_t lwp_frames_context_of(struct lwp_thread *self, const struct lwp_frames *frames, uint64_t low, uint64_t high);

#endif
