/* Several processes (ranks) that analyse one result together, on one machine or many: `mpirun -n N lwp analyze ...`. Without MPI, or
 * not started by it, there is one rank, and everything here returns at once. */
#ifndef LWP_ANALYSIS_RANKS_RANKS_H
#define LWP_ANALYSIS_RANKS_RANKS_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

/* How bytes get from one rank to another; both wait until it is done. */
struct lwp_ranks_port {
    void (*send)(unsigned to, const void *bytes, size_t size);
    void (*receive)(unsigned from, void *bytes, size_t size);
};

/* Joins the other ranks, when this process was started as one of several. Fails when it was and lwp cannot talk to them. */
int lwp_ranks_begin(struct lwp_error *err);
void lwp_ranks_end(void);

/* By another way than MPI (tests); the port stays the caller's. */
void lwp_ranks_use(unsigned rank, unsigned count, const struct lwp_ranks_port *port);

unsigned lwp_ranks_count(void);
bool lwp_ranks_first(void);

/* The first rank's value, in all of them. */
bool lwp_ranks_agree(bool said);

/* 0 when it is 0 in all ranks, otherwise of those statuses the first rank's; `err` says so in ranks where it was 0. */
int lwp_ranks_status(int status, struct lwp_error *err);

/* Reduces to the first rank along a tree: each rank calls unpack(of, bytes, size) for ranks after it, in order, then, except in the
 * first, pack(of, &bytes), whose bytes, which are freed, go to a rank before it. */
void lwp_ranks_reduce(void (*unpack)(void *of, const void *bytes, size_t size), size_t (*pack)(void *of, void **bytes), void *of);

/* This rank's part of `count` items, after the parts of the ranks before it. */
void lwp_ranks_part(size_t count, size_t *first, size_t *last);

/* What liblwp-mpi.so (mpi/port.c) exports: the port of ranks that MPI has started. It is loaded only when a launcher has started
 * several, so that lwp itself needs no MPI. `count` is 1 when they were started by another MPI. */
const struct lwp_ranks_port *lwp_mpi_begin(unsigned *rank, unsigned *count);
void lwp_mpi_end(void);

#endif
