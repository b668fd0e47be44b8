/* FS is not among the registers that a sample has, and to ask for it the thread would have to be stopped. But the kernel says
 * where a thread has its list of robust mutexes, which glibc and musl keep within the thread control block. That block holds its own
 * address, at 0 (x86-64 psABI, TLS variant II) and, of glibc, at 16 once more. */
#include "collector/outside/process/thread_base.h"

#include <sys/syscall.h>
#include <unistd.h>

enum { BLOCK_MOST = 4096, SELF_AGAIN = 2 };

uint64_t lwp_thread_base(struct lwp_remote *remote, pid_t tid)
{
    void *head = NULL;
    size_t bytes;
    uint64_t words[BLOCK_MOST / 8 + SELF_AGAIN + 1], found = 0;
    if (syscall(SYS_get_robust_list, tid, &head, &bytes) || !head)
        return 0;
    uint64_t end = (uint64_t)head & ~(uint64_t)7;
    if (end < BLOCK_MOST)
        return 0;
    for (uint64_t most = BLOCK_MOST; !found && most >= 512; most /= 2) { /* the page before need not be there */
        if (!lwp_remote_now(remote, end - most, words, most + 8))
            continue;
        for (uint64_t at = 0; at + 8 * SELF_AGAIN < most; at += 8) {
            uint64_t address = end - most + at;
            if (words[at / 8] != address || words[at / 8 + SELF_AGAIN] != address)
                continue;
            if (found) /* two could be it */
                return 0;
            found = address;
        }
    }
    return found;
}
