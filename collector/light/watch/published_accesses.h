/* What the threads of this process accessed lately, each its own few samples, for the others to read. A slot has one
 * writer; readers never wait and drop what changes under their eyes. Threads beyond LWP_BOARD_SLOTS are not shown. */
#ifndef LWP_COLLECTOR_LIGHT_WATCH_PUBLISHED_ACCESSES_H
#define LWP_COLLECTOR_LIGHT_WATCH_PUBLISHED_ACCESSES_H

#include "format/record.h"

#include <stdbool.h>
#include <stdint.h>

enum { LWP_BOARD_SLOTS = 64, LWP_BOARD_STORES = 64, LWP_BOARD_LOADS = 8, LWP_BOARD_LINE = 64 };

struct lwp_board_entry {
    uint64_t time, weight; /* of the sample that chose it */
    uint32_t tid, context;
    struct lwps_access access;
};

/* No thread but one ever joined. */
bool lwp_board_alone(void);

/* A slot for the calling thread, or -1: there are none left. */
int lwp_board_join(uint32_t tid);
void lwp_board_leave(int slot);

/* By the slot's owner, in its signal handler. */
void lwp_board_show(int slot, const struct lwp_board_entry *entry);

/* An access by another thread since `since` to the line of `access`, one of the two a store; the latest. */
bool lwp_board_beside(int slot, const struct lwps_access *access, uint64_t since, struct lwp_board_entry *found);

/* Slots from here on were never taken. */
unsigned lwp_board_used(void);
/* The thread that has the slot and has shown stores; 0: none. */
uint32_t lwp_board_writer(unsigned slot);

/* The stores that the slot's thread has shown since `since`, the latest first; how many of at most `most`. */
unsigned lwp_board_stores(unsigned slot, uint64_t since, struct lwp_board_entry *stores, unsigned most);

#endif
