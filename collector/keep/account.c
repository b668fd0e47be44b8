#include "collector/keep/account.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

void lwp_account_open(struct lwp_account *account, const char *name)
{
    *account = (struct lwp_account){.fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING)};
    if (account->fd < 0)
        return;
    void *page = MAP_FAILED;
    if (!ftruncate(account->fd, LWP_RUN_ACCOUNT_BYTES) && !fcntl(account->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW))
        page = mmap(NULL, LWP_RUN_ACCOUNT_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, account->fd, 0);
    account->page = page == MAP_FAILED ? NULL : page;
    snprintf(account->path, sizeof account->path, "/proc/%d/fd/%d", (int)getpid(), account->fd);
}

void lwp_account_close(struct lwp_account *account)
{
    if (account->page)
        munmap(account->page, LWP_RUN_ACCOUNT_BYTES);
    if (account->fd >= 0)
        close(account->fd);
    *account = (struct lwp_account){.fd = -1};
}

static double at_most(double value, double most)
{
    return value < most ? value : most;
}

struct lwp_account_sums lwp_account_sum(const struct lwp_account *account, double cpu_ns)
{
    const struct lwp_run_account *page = account->page;
    if (!page)
        return (struct lwp_account_sums){0};
    double told = at_most((double)LWP_RUN_GET(page, cpu_ns), cpu_ns), early = at_most((double)LWP_RUN_GET(page, early_ns), told);
    return (struct lwp_account_sums){.processes = LWP_RUN_GET(page, processes),
                                     .set_up = LWP_RUN_GET(page, set_up),
                                     .loaded = LWP_RUN_GET(page, loaded),
                                     .early_ns = cpu_ns - told + early,
                                     .spent_ns = at_most((double)LWP_RUN_GET(page, spent_ns), cpu_ns)};
}
