/* How `lwp collect` configures the preload library: LD_PRELOAD and these variables, which children inherit. */
#ifndef LWP_COLLECTOR_ENV_H
#define LWP_COLLECTOR_ENV_H

#define LWP_ENV_DIR "LWP_DIR"                       /* absolute path of the result directory; unset: stay inert */
#define LWP_ENV_KEEPER "LWP_KEEPER"                 /* name of the abstract socket where lwp collect takes what processes record */
#define LWP_ENV_ACCOUNT        "LWP_ACCOUNT"                /* path of the page of run_account.h, as the processes see it */
#define LWP_ENV_MAX_OVERHEAD "LWP_MAX_OVERHEAD"     /* percent of CPU time, e.g. "3" */
#define LWP_ENV_FREQUENCY "LWP_FREQUENCY"           /* samples per second of thread CPU time; "0": automatic */
#define LWP_ENV_APPROX "LWP_APPROX" /* floating point values this close count as about the same; relative, 0: none do */
#define LWP_ENV_HEAP_THRESHOLD "LWP_HEAP_THRESHOLD" /* bytes; smaller blocks are pooled by call path and size */
#define LWP_ENV_FOLLOW_FORK "LWP_FOLLOW_FORK"       /* "1": children of fork and exec are sampled too */
#define LWP_ENV_DELAY "LWP_DELAY"                   /* seconds before sampling starts */
#define LWP_ENV_DURATION "LWP_DURATION"             /* seconds of sampling; "0": to the end */
#define LWP_ENV_PMU "LWP_PMU"                       /* events (collector/perf/event.h) that sample; unset: the timer does */
#define LWP_ENV_PERIOD "LWP_PERIOD"                 /* of these events between samples; unset: by frequency */
#define LWP_ENV_TIMER "LWP_TIMER"                   /* "auto", or force one for tests: sigtrap, async, posix */
#define LWP_ENV_WATCH_KERNEL "LWP_WATCH_KERNEL"     /* "0": as if breakpoints did not see the kernel, for tests */
#define LWP_ENV_IMPORTS "LWP_IMPORTS"               /* "0": lwp calls what the loader bound, for bench/within in between */
#define LWP_ENV_DETECT "LWP_DETECT"                 /* enum lwp_detect, a mask as a number; unset: everything */
#define LWP_ENV_DEBUG "LWP_DEBUG"                   /* "1": say on stderr what goes wrong */
#define LWP_ENV_FILTERS "LWP_FILTERS"               /* system call filters (seccomp) that lwp collect itself runs under; unset: none */
#define LWP_ENV_COSTS "LWP_COSTS"                   /* what the first process has measured of stops (stop_cost.c), for those that it executes */
#define LWP_NO_COSTS           "0,0,0,0,0,0,0,0,0,0,0,0"     /* a value of it */
#define LWP_ENV_PAUSED         "LWP_PAUSED"                  /* set: nothing is sampled before lwp collect says so (spool.h) */
#define LWP_ENV_REGION         "LWP_REGION"                  /* set: nothing is sampled before LWP_BEGIN() (lwp.h) */
#define LWP_ENV_ONLY           "LWP_ONLY"                    /* patterns of the programs (base/pattern.h) that are sampled; unset: all */
#define LWP_ENV_FIRST "LWP_FIRST"                   /* set by the library when children are not followed: the pid that is */

enum { LWP_STACK_LEAST = 64 << 10 }; /* RLIMIT_STACK with which the loader can preload a library */

#endif
