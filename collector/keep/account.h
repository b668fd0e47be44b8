/* The page of the run's account (collector/run_account.h). */
#ifndef LWP_COLLECTOR_KEEP_ACCOUNT_H
#define LWP_COLLECTOR_KEEP_ACCOUNT_H

#include "collector/run_account.h"

struct lwp_account {
    int fd;
    struct lwp_run_account *page; /* NULL: each process keeps its own account */
    char path[64];                /* the value of LWP_ENV_ACCOUNT */
};

/* `name`: by which processes know that it is this run's. */
void lwp_account_open(struct lwp_account *account, const char *name);
void lwp_account_close(struct lwp_account *account);

/* What the processes told, ns; no more than the run's `cpu_ns`. `early`: of processes before they could be sampled, and of those that
 * told nothing. */
struct lwp_account_sums {
    uint32_t processes, set_up, loaded; /* the last: programs that were executed with lwp's library */
    double early_ns, spent_ns;
};
struct lwp_account_sums lwp_account_sum(const struct lwp_account *account, double cpu_ns);

#endif
