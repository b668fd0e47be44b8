/* Sets of threads, each kept once and known by a number: who has read a word since it was written. Thread numbers are
 * 1 to LWP_COMM_THREADS; set 0 is empty. Freestanding. */
#ifndef LWP_COLLECTOR_EXACT_DETECT_COMMUNICATION_COMM_SETS_H
#define LWP_COLLECTOR_EXACT_DETECT_COMMUNICATION_COMM_SETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    LWP_COMM_THREAD_BITS = 14,
    LWP_COMM_THREADS = (1 << LWP_COMM_THREAD_BITS) - 1,
    LWP_COMM_SET_BITS = 17,
    LWP_COMM_SETS = 1 << LWP_COMM_SET_BITS,
    LWP_COMM_STEP_BITS = 12,
};

/* Memory for tables: zeroed, NULL: none left. */
struct lwp_comm_port {
    void *(*map)(size_t bytes); /* whole pages, which cost nothing until they are touched */
    void (*unmap)(void *memory, size_t bytes);
    void *(*alloc)(size_t bytes);
    void (*free)(void *memory);
};

struct lwp_comm_step {
    uint32_t key, set; /* key: set and thread */
};

struct lwp_comm_sets {
    const struct lwp_comm_port *port;
    uint64_t *bits;  /* `words` for each set */
    uint32_t words, count, room;
    uint32_t *index; /* by content, 2 * LWP_COMM_SETS slots, 0: free */
    struct lwp_comm_step *steps;
    uint64_t lost;   /* readers that were forgotten, as there were too many sets */
};

bool lwp_comm_sets_init(struct lwp_comm_sets *sets, const struct lwp_comm_port *port);
void lwp_comm_sets_fini(struct lwp_comm_sets *sets);

static inline bool lwp_comm_sets_has(const struct lwp_comm_sets *sets, uint32_t set, uint32_t thread)
{
    uint32_t word = thread / 64;
    return word < sets->words && sets->bits[(size_t)set * sets->words + word] >> thread % 64 & 1;
}

/* The set with `thread` in it, too. When there is no room for another set: {thread}, or `set` itself. */
uint32_t lwp_comm_sets_with(struct lwp_comm_sets *sets, uint32_t set, uint32_t thread);

#endif
