#include "collector/light/heap/early.h"

#include "collector/light/own/hot.h"
#include "collector/light/own/own_memory.h"
#include "collector/light/own/process.h"
#include "collector/light/own/run.h"

#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum {
    EVENTS = 8192,              /* with an allocation; */
    FREED_MORE = 8192,          /* and as many blocks more that are freed before the next one is allocated */
    STACKS_BYTES = 1 << 20,
    STACKS_FOR_LARGE = 1 << 18, /* of these */
    UNKNOWN_BYTES = 1 << 18,    /* of small blocks that were not kept, and then recording begins */
    ALL_BYTES = 64 << 20,       /* likewise, of all */
};

struct early_event {
    void *block;
    uint64_t size;
    const uint64_t *frame;
    uint32_t stack; /* of the copies: where this one begins, or NO_STACK */
    uint8_t kind;
    bool freed, large;
};
enum { NO_STACK = UINT32_MAX };

LWP_HOT_FIRST bool lwp_early_on;
static struct {
    struct early_event event[EVENTS + FREED_MORE];
    unsigned events;
    uint32_t used; /* of `stacks` */
    uint64_t bytes, unknown_bytes;
    bool forgets;
    struct lwp_stack_words words; /* of the copies */
    uint8_t stacks[STACKS_BYTES] __attribute__((aligned(16)));
} * early;

void lwp_early_begin(void)
{
    early = NULL;
    lwp_early_on = true;
}

static struct early_event *early_event(unsigned most)
{
    if (!early && !(early = lwp_own_memory(sizeof *early)))
        return NULL;
    return early->events < most ? &early->event[early->events] : NULL;
}

/* The process may never be set up, and then nothing else says what this has cost: the first call is timed, which makes the tables, and
 * then one in TIMED, which stands for as many; in each process others, as many do the same. */
enum { TIMED = 16, LONGEST_NS = 500000 /* longer: it had to wait for a processor */ };
static uint32_t early_calls, early_first_timed;

static uint64_t early_timed_from(void)
{
    if (!early_calls)
        early_first_timed = (uint32_t)lwp_clock(CLOCK_MONOTONIC) / 64 % TIMED;
    if (early_calls++ && (early_calls + early_first_timed) % TIMED)
        return 0;
    lwp_clock(CLOCK_MONOTONIC); /* so that what it needs is in the caches */
    return lwp_clock(CLOCK_MONOTONIC);
}

static void early_timed(uint64_t from_ns)
{
    const uint64_t to_ns = from_ns ? lwp_clock(CLOCK_MONOTONIC) : 0, clock_ns = to_ns ? lwp_clock(CLOCK_MONOTONIC) - to_ns : 0;
    const uint64_t ns = to_ns - from_ns;
    if (ns > clock_ns && ns < LONGEST_NS)
        lwp_run_spend((ns - clock_ns) * (early_calls > 1 ? TIMED : 1));
}

static bool early_add(void *block, size_t size, uint8_t kind, bool large, const uint64_t *frame)
{
    struct early_event *event = early_event(EVENTS);
    if (!event)
        return false;
    uint32_t room = (uint32_t)STACKS_BYTES - (large ? 0 : STACKS_FOR_LARGE);
    room = room > early->used ? room - early->used : 0;
    size_t bytes = lwp_unwind_copy((struct lwp_stack_copy *)(early->stacks + early->used), room, &early->words);
    early->bytes += size;
    if (!bytes)
        early->unknown_bytes += size;
    if (bytes || large) {
        *event = (struct early_event){block, size, frame, bytes ? early->used : (uint32_t)NO_STACK, kind, false, large};
        early->used += (uint32_t)bytes;
        early->events++;
    }
    return early->unknown_bytes < UNKNOWN_BYTES && early->bytes < ALL_BYTES && early->events < EVENTS;
}

__attribute__((noinline)) bool lwp_early_add(void *block, size_t size, uint8_t kind, bool large, const uint64_t *frame)
{
    if (early && early->forgets)
        return true;
    const uint64_t from_ns = early_timed_from();
    const bool room = early_add(block, size, kind, large, frame);
    early_timed(from_ns);
    return room;
}

bool lwp_early_remove(const void *block, bool inherited)
{
    if (!early && !inherited)
        return true;
    const uint64_t from_ns = early_timed_from();
    struct early_event *event = early_event(EVENTS + FREED_MORE);
    if (event) {
        *event = (struct early_event){.block = (void *)block, .freed = true};
        early->events++;
    }
    early_timed(from_ns);
    return event;
}

void lwp_early_forget(void)
{
    unsigned freed = 0;
    if (!early && !early_event(EVENTS))
        return;
    for (unsigned i = 0; i < early->events; i++)
        if (early->event[i].freed)
            early->event[freed++] = early->event[i];
    early->events = freed;
    early->forgets = true;
}

void lwp_early_end(void (*visit)(const struct lwp_early_block *early))
{
    struct lwp_stack_words words = {0};
    lwp_early_on = false;
    for (unsigned i = 0; visit && early && i < early->events; i++) {
        const struct early_event *event = &early->event[i];
        struct lwp_early_block one = {.block = event->block,
                                      .size = event->size,
                                      .kind = event->kind,
                                      .freed = event->freed,
                                      .large = event->large,
                                      .frame = event->frame,
                                      .words = &words};
        if (!event->freed && event->stack != NO_STACK) {
            one.stack = (const struct lwp_stack_copy *)(early->stacks + event->stack);
            lwp_stack_words_add(&words, one.stack);
        }
        visit(&one);
    }
    if (early)
        lwp_own_unmap(early, sizeof *early);
    early = NULL;
}
