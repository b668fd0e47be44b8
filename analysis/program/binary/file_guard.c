/* A binary may be rebuilt or copied over while its analysis runs; a page of its mapping that the file no longer has
 * then raises SIGBUS in the middle of libelf. The handler puts a page of zeros there and the reader goes on, as it
 * would with a damaged file. Every other SIGBUS does what it did before. */
#include "analysis/program/binary/module.h"

#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>

enum { PAGE = 4096 };

static struct sigaction guard_former;

static void guard_handle(int number, siginfo_t *info, void *context)
{
    (void)context;
    if (info->si_code == BUS_ADRERR && info->si_addr) {
        void *page = (void *)((uintptr_t)info->si_addr & ~(uintptr_t)(PAGE - 1));
        if (mmap(page, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == page)
            return;
    }
    sigaction(number, &guard_former, NULL); /* the instruction runs again and meets the former one */
}

/* Asked for again and again: others may have put their own handler there meanwhile. */
void lwp_file_guard(void)
{
    struct sigaction action = {.sa_sigaction = guard_handle, .sa_flags = SA_SIGINFO | SA_NODEFER}, former;
    if (sigaction(SIGBUS, NULL, &former) || ((former.sa_flags & SA_SIGINFO) && former.sa_sigaction == guard_handle))
        return;
    guard_former = former;
    sigemptyset(&action.sa_mask);
    sigaction(SIGBUS, &action, NULL);
}
