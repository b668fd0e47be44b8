/* What liblwp-mpi.so exports: the way between ranks that were started by MPI. It is loaded only where a launcher has started
 * several, so that lwp itself needs no MPI. */
#ifndef LWP_ANALYSIS_RANKS_MPI_PORT_H
#define LWP_ANALYSIS_RANKS_MPI_PORT_H

#include "analysis/ranks/ranks.h"

/* Joins the others; `count` is 1 when they were started by another MPI. */
const struct lwp_ranks_port *lwp_mpi_begin(unsigned *rank, unsigned *count);
void lwp_mpi_end(void);

#endif
