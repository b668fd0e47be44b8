#include "analysis/ranks/ranks.h"

#include <mpi.h>

enum { BYTES_MOST = 1 << 30 }; /* of a message: its count is an int */

static void mpi_send(unsigned to, const void *bytes, size_t size)
{
    const char *from = bytes;
    for (size_t part; size; size -= part, from += part) {
        part = size < BYTES_MOST ? size : BYTES_MOST;
        MPI_Send(from, (int)part, MPI_BYTE, (int)to, 0, MPI_COMM_WORLD);
    }
}

static void mpi_receive(unsigned from, void *bytes, size_t size)
{
    char *to = bytes;
    for (size_t part; size; size -= part, to += part) {
        part = size < BYTES_MOST ? size : BYTES_MOST;
        MPI_Recv(to, (int)part, MPI_BYTE, (int)from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

const struct lwp_ranks_port *lwp_mpi_begin(unsigned *rank, unsigned *count)
{
    static const struct lwp_ranks_port port = {mpi_send, mpi_receive};
    int own = 0, all = 1, given;
    MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &given); /* only the main thread communicates */
    MPI_Comm_rank(MPI_COMM_WORLD, &own);
    MPI_Comm_size(MPI_COMM_WORLD, &all);
    *rank = (unsigned)own;
    *count = (unsigned)all;
    return &port;
}

void lwp_mpi_end(void)
{
    MPI_Finalize();
}
