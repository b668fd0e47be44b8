/* What the threads of this process accessed lately, a few of its own samples each, for the others to read. A slot has one
 * writer; readers never wait and drop what changes under their eyes. Threads beyond LWP_PUBLISHED_SLOTS publish nothing. */
#ifndef LWP_COLLECTOR_LIGHT_WATCH_PUBLISHED_ACCESSES_H
#define LWP_COLLECTOR_LIGHT_WATCH_PUBLISHED_ACCESSES_H

#include "format/record.h"

#include <stdbool.h>
#include <stdint.h>

enum { LWP_PUBLISHED_SLOTS = 64, LWP_PUBLISHED_STORES = 64, LWP_PUBLISHED_LOADS = 8, LWP_PUBLISHED_LINE = 64 };

struct lwp_published_access {
    uint64_t time, weight; /* of the sample that chose it */
    uint32_t tid, context;
    struct lwps_access access;
};

/* A slot for the calling thread, or -1: there are none left. */
int lwp_published_join(uint32_t tid);
void lwp_published_leave(int slot);

/* By the slot's owner, in its signal handler. */
void lwp_published_add(int slot, const struct lwp_published_access *entry);

/* An access by another thread since `since` to the line of `access`, one of the two a store; the latest. */
bool lwp_published_beside(int slot, const struct lwps_access *access, uint64_t since, struct lwp_published_access *found);

/* Slots from here on were never taken; below 2: no thread but one ever joined. */
unsigned lwp_published_used(void);
/* The thread that has the slot and has published stores; 0: none. */
uint32_t lwp_published_writer(unsigned slot);

/* The stores that the slot's thread has published since `since`, the latest first; how many of at most `most`. */
unsigned lwp_published_stores(unsigned slot, uint64_t since, struct lwp_published_access *stores, unsigned most);

#endif
