/* Ranks communicate along a binomial tree in which the subtree of a rank is the ranks that follow it: rank 4 has 5, and 6 with 7
 * below it. So what is merged stays in the order of ranks. */
#include "analysis/ranks/ranks.h"

#include "base/arena.h"
#include "base/path.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

static struct ranks {
    unsigned rank, count;
    const struct lwp_ranks_port *port;
} ranks = {.count = 1};

/* Of liblwp-mpi.so, once it is loaded. */
static void (*ranks_leave)(void);

/* The number of ranks that the launcher has started, by the variable it sets for each. */
static long ranks_launched(void)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *size = getenv(names[i]);
        if (size)
            return strtol(size, NULL, 10);
    }
    return 1;
}

static void *ranks_library(struct lwp_error *err)
{
    static const char name[] = "liblwp-mpi.so";
    char *path = lwp_path_installed(name, R_OK, err);
    void *library = path ? dlopen(path, RTLD_NOW | RTLD_GLOBAL) : NULL; /* global: Open MPI loads parts that need it */
    if (!path)
        lwp_error_set(err, LWP_ERR_MISSING,
                      "%s is not beside lwp, which was built without MPI: install libopenmpi-dev or libmpich-dev and build lwp again, or "
                      "start it once, without mpirun; it uses all cores",
                      name);
    else if (!library)
        lwp_error_set(err, LWP_ERR_SYSTEM, "cannot load %s", dlerror());
    free(path);
    return library;
}

static int ranks_join(struct lwp_error *err)
{
    unsigned rank, count;
    void *library = ranks_library(err);
    if (!library)
        return err->status;
    __typeof__(lwp_mpi_begin) *begin = (__typeof__(begin))dlsym(library, "lwp_mpi_begin");
    ranks_leave = (void (*)(void))dlsym(library, "lwp_mpi_end");
    if (!begin || !ranks_leave)
        return lwp_error_set(err, LWP_ERR_SYSTEM, "liblwp-mpi.so is of another lwp");
    const struct lwp_ranks_port *port = begin(&rank, &count);
    lwp_ranks_use(rank, count, port);
    if (count > 1)
        return LWP_OK;
    lwp_ranks_end();
    return lwp_error_set(err, LWP_ERR_USAGE, "mpirun is of another MPI than the one lwp was built with (configure --with-mpi=PACKAGE)");
}

int lwp_ranks_begin(struct lwp_error *err)
{
    return ranks_launched() > 1 ? ranks_join(err) : LWP_OK;
}

void lwp_ranks_end(void)
{
    if (ranks_leave)
        ranks_leave();
    ranks_leave = NULL;
}

void lwp_ranks_use(unsigned rank, unsigned count, const struct lwp_ranks_port *port)
{
    ranks = (struct ranks){rank, count, port};
}

unsigned lwp_ranks_count(void)
{
    return ranks.count;
}

bool lwp_ranks_first(void)
{
    return ranks.rank == 0;
}

void lwp_ranks_part(size_t count, size_t *first, size_t *last)
{
    *first = (size_t)((unsigned __int128)count * ranks.rank / ranks.count);
    *last = (size_t)((unsigned __int128)count * (ranks.rank + 1) / ranks.count);
}

void lwp_ranks_reduce(void (*unpack)(void *of, const void *bytes, size_t size), size_t (*pack)(void *of, void **bytes), void *of)
{
    for (unsigned apart = 1; apart < ranks.count; apart *= 2) {
        uint64_t size;
        void *bytes;
        if (ranks.rank & apart) {
            size = pack(of, &bytes);
            ranks.port->send(ranks.rank - apart, &size, sizeof size);
            ranks.port->send(ranks.rank - apart, bytes, size);
            free(bytes);
            return;
        }
        if (ranks.rank + apart >= ranks.count)
            continue;
        ranks.port->receive(ranks.rank + apart, &size, sizeof size);
        bytes = lwp_zeroed(size, 1);
        ranks.port->receive(ranks.rank + apart, bytes, size);
        unpack(of, bytes, size);
        free(bytes);
    }
}

/* Broadcasts the first rank's value down the same tree. */
static void ranks_spread(int *value)
{
    unsigned apart = 1;
    while (apart < ranks.count && !(ranks.rank & apart))
        apart *= 2;
    if (ranks.rank)
        ranks.port->receive(ranks.rank - apart, value, sizeof *value);
    while (apart /= 2)
        if (ranks.rank + apart < ranks.count)
            ranks.port->send(ranks.rank + apart, value, sizeof *value);
}

bool lwp_ranks_agree(bool said)
{
    int value = said;
    ranks_spread(&value);
    return value != 0;
}

int lwp_ranks_status(int status, struct lwp_error *err)
{
    int all = status, other;
    for (unsigned apart = 1; apart < ranks.count; apart *= 2) {
        if (ranks.rank & apart) {
            ranks.port->send(ranks.rank - apart, &all, sizeof all);
            break;
        }
        if (ranks.rank + apart < ranks.count) {
            ranks.port->receive(ranks.rank + apart, &other, sizeof other);
            all = all ? all : other;
        }
    }
    ranks_spread(&all);
    return status || !all ? status : lwp_error_set(err, all, "another rank failed");
}
