/* The machine a run was made on: processor, cores, caches, NUMA nodes. */
#ifndef LWP_MACHINE_MACHINE_H
#define LWP_MACHINE_MACHINE_H

#include "base/cpu.h"
#include "base/error.h"

#include <stdint.h>

enum { LWP_CACHES_MAX = 8, LWP_CACHE_GROUPS = 2048 };

struct lwp_machine_cache {
    unsigned level;
    uint64_t bytes;
    unsigned ways;      /* 0: unknown */
    unsigned shared_by; /* logical CPUs that share one such cache; 0: unknown */
    char groups[LWP_CACHE_GROUPS]; /* logical CPUs of each such cache, as the kernel lists them, "0-3,8;4-7"; "": unknown, or too many */
};

struct lwp_machine {
    char cpu[LWP_CPU_NAME]; /* "" when unknown */
    unsigned cores;      /* physical ones; as many as logical CPUs where the kernel does not say */
    unsigned cpus;       /* logical CPUs online */
    unsigned line_bytes; /* 0: unknown */
    unsigned page_bytes;
    unsigned tick_ns; /* of the kernel's clock: what a tick falls on is charged all of it; 0: unknown */
    unsigned numa_nodes;
    unsigned start_ns, page_fault_ns, cycle_ps; /* CPU time of starting a program, without its page faults, of one of these, of a cycle;
                                                 * 0: not measured */
    struct lwp_machine_cache caches[LWP_CACHES_MAX]; /* data and unified ones, by level */
    unsigned cache_count;                    /* 0: unknown */
};

/* Reads <root>/proc/cpuinfo and <root>/sys/devices/system; `root` is "" but in tests. What cannot be read is unknown. */
void lwp_machine_read(struct lwp_machine *machine, const char *root);

/* Replaces the caches, the line, and what else the file says: JSON as "machine" of run.json and analysis.json is, alone or
 * within such a file. */
int lwp_machine_file(struct lwp_machine *machine, const char *path, struct lwp_error *err);

#endif
