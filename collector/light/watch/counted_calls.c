/* System calls that use memory of the program's through small structures and strings. Where breakpoints do not see the
 * kernel's accesses, each ends all watchpoints of the calling thread, which see it by their number (watch.c). Here they are only counted
 * and passed on as they came, registers, stack and all. Calls that the C library makes itself do not come this way. */
#include "collector/light/watch/system_calls.h"

#include "collector/light/own/real_calls.h"

__thread uint32_t lwp_counted_calls;

__asm__(".pushsection .text\n"
        "lwp_counted_first:\n"
        "    .cfi_startproc\n"
        "    pushq %rdi\n"
        "    pushq %rsi\n"
        "    pushq %rdx\n"
        "    pushq %rcx\n"
        "    pushq %r8\n"
        "    pushq %r9\n"
        "    pushq %rax\n"
        "    .cfi_adjust_cfa_offset 56\n"
        "    movq %r10, %rdi\n"
        "    call lwp_real_call_find\n"
        "    movq %rax, %r11\n"
        "    popq %rax\n"
        "    popq %r9\n"
        "    popq %r8\n"
        "    popq %rcx\n"
        "    popq %rdx\n"
        "    popq %rsi\n"
        "    popq %rdi\n"
        "    .cfi_adjust_cfa_offset -56\n"
        "    jmp *%r11\n"
        "    .cfi_endproc\n"
        ".popsection\n");

#define COUNTED(name)                                                            \
    __asm__(".pushsection .text.hot, \"ax\"\n"                                   \
            ".globl " #name "\n"                                                 \
            ".type " #name ", @function\n" #name ":\n"                           \
            "    .cfi_startproc\n"                                               \
            "    endbr64\n"                                                      \
            "    movq lwp_counted_calls@gottpoff(%rip), %r11\n"                  \
            "    incl %fs:(%r11)\n"                                              \
            "    jmp *lwp_real_" #name "(%rip)\n"                                \
            "lwp_find_" #name ":\n"                                              \
            "    leaq lwp_real_" #name "(%rip), %r10\n"                          \
            "    jmp lwp_counted_first\n"                                        \
            "    .cfi_endproc\n"                                                 \
            ".size " #name ", . - " #name "\n"                                   \
            ".section .rodata\n"                                                 \
            "lwp_name_" #name ": .string \"" #name "\"\n"                        \
            ".section lwp_real_calls, \"aw\"\n" /* struct lwp_real_call */       \
            ".balign 8\n"                                                        \
            "lwp_real_" #name ": .quad lwp_find_" #name ", lwp_name_" #name "\n" \
            ".popsection\n");

COUNTED(poll) COUNTED(ppoll) COUNTED(__poll_chk) COUNTED(__ppoll_chk) COUNTED(select) COUNTED(pselect)
COUNTED(epoll_ctl) COUNTED(epoll_wait) COUNTED(epoll_pwait) COUNTED(nanosleep) COUNTED(clock_nanosleep)
COUNTED(ioctl) COUNTED(fcntl) COUNTED(fcntl64) COUNTED(open) COUNTED(open64) COUNTED(openat) COUNTED(openat64)
COUNTED(__open_2) COUNTED(__open64_2) COUNTED(__openat_2) COUNTED(__openat64_2) COUNTED(creat) COUNTED(creat64)
COUNTED(stat) COUNTED(stat64) COUNTED(lstat) COUNTED(lstat64) COUNTED(fstat) COUNTED(fstat64) COUNTED(fstatat)
COUNTED(fstatat64) COUNTED(statx) COUNTED(access) COUNTED(faccessat) COUNTED(readlink) COUNTED(readlinkat)
COUNTED(symlink) COUNTED(symlinkat) COUNTED(link) COUNTED(linkat) COUNTED(rename) COUNTED(renameat)
COUNTED(unlink) COUNTED(unlinkat) COUNTED(rmdir) COUNTED(mkdir) COUNTED(mkdirat) COUNTED(chdir) COUNTED(chmod)
COUNTED(chown) COUNTED(lchown) COUNTED(truncate) COUNTED(truncate64) COUNTED(utime) COUNTED(utimes)
COUNTED(utimensat) COUNTED(opendir) COUNTED(fopen) COUNTED(fopen64) COUNTED(freopen) COUNTED(freopen64)
COUNTED(remove) COUNTED(mkstemp) COUNTED(mkstemp64) COUNTED(mkdtemp) COUNTED(connect) COUNTED(bind)
COUNTED(accept) COUNTED(accept4) COUNTED(getsockopt) COUNTED(setsockopt) COUNTED(getsockname)
COUNTED(getpeername) COUNTED(sendmmsg) COUNTED(recvmmsg) COUNTED(preadv) COUNTED(preadv64) COUNTED(pwritev)
COUNTED(pwritev64) COUNTED(preadv2) COUNTED(preadv64v2) COUNTED(pwritev2) COUNTED(pwritev64v2)
COUNTED(vmsplice) COUNTED(setitimer) COUNTED(timer_create) COUNTED(timer_settime) COUNTED(timerfd_settime)
COUNTED(semop) COUNTED(semtimedop) COUNTED(msgsnd) COUNTED(msgrcv) COUNTED(mq_send) COUNTED(mq_receive)
COUNTED(getrandom) COUNTED(getrusage) COUNTED(uname) COUNTED(sysinfo) COUNTED(sched_setaffinity)
COUNTED(sched_getaffinity) COUNTED(aio_read) COUNTED(aio_write) COUNTED(aio_read64) COUNTED(aio_write64)
COUNTED(lio_listio)
