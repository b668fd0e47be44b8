/* The process's part in the run's account (collector/run_account.h), and its chance of being recorded. */
#ifndef LWP_COLLECTOR_LIGHT_OWN_RUN_H
#define LWP_COLLECTOR_LIGHT_OWN_RUN_H

#include "collector/light/own/thread.h"
#include "collector/run_account.h"

#include <stdbool.h>
#include <stdint.h>

extern struct lwp_run_account *lwp_run; /* never NULL */

/* Of the CPU time of all processes, lwp's part in it included, what lwp may cost: --max-overhead is of the program's own. */
double lwp_run_share(void);

void lwp_run_begin(void);  /* a new process image */
void lwp_run_loaded(void); /* and is not set up: so far it has cost what loading lwp's library does */
void lwp_run_forked(void); /* in the child */
void lwp_run_fork_cost(uint64_t ns); /* likewise: what was done there has taken so long */
void lwp_run_spend(uint64_t ns);     /* by lwp */

/* This image is about to be replaced by another one of the same process; `failed`: it was not. */
void lwp_run_exec(bool failed);

/* A process that has not been set up reports how long it ran; until `early` ends it could not have been. */
void lwp_run_tell_dormant(bool early);

/* Whether a process that could be set up now is. Where the run cannot afford all of them it is a matter of chance, and the longer it
 * runs the likelier: what samples of it stand for is multiplied by lwp_run_scale. */
bool lwp_run_may_join(void);
uint64_t lwp_run_look_again_ns(void); /* when that is to be asked again, where it may not yet */
double lwp_run_scale(void);

/* The chance with which something is set up that costs `cost_ns`, where there is one for each `each_ns` of CPU time. */
double lwp_run_join_chance(uint64_t each_ns, uint64_t cost_ns);

/* Each process that comes as far as this one is set up. */
void lwp_run_certain(void);
bool lwp_run_is_certain(void);

/* It is set up; later it is known what that cost, and its end. */
void lwp_run_join(void);
void lwp_run_joined(uint64_t cost_ns);

/* A thread reports what it has run and spent since it last did. */
void lwp_run_tell(struct lwp_thread *thread);

/* Whether anything may be spent beyond a thread's own share, and whether much may. */
bool lwp_run_affords(void);
bool lwp_run_is_rich(void);

#endif
