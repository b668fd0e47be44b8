/* The program's calls of the C library's `syscall`, each to whom it concerns. */
#include <sys/syscall.h>

/* Counted (counted_calls.c); everything but sigaltstack (alternate_stack.c), perf_event_open, seccomp and prctl (confined.c), execve and execveat (exec.c)
 * is passed on as it came, stack and all: the call may be a clone or a vfork. */
__asm__(".pushsection .text\n"
        ".globl syscall\n"
        ".type syscall, @function\n"
        "syscall:\n"
        "    .cfi_startproc\n"
        "    endbr64\n"
        "    movq lwp_counted_calls@gottpoff(%rip), %r11\n"
        "    incl %fs:(%r11)\n"
        "    cmpq $131, %rdi\n"
        "    je lwp_alternate_syscall\n"
        "    cmpq $298, %rdi\n"
        "    je lwp_own_perf_event_open\n"
        "    cmpq $317, %rdi\n"
        "    je lwp_confined_syscall\n"
        "    cmpq $157, %rdi\n"
        "    je lwp_confined_syscall\n"
        "    cmpq $59, %rdi\n"
        "    je lwp_exec_syscall\n"
        "    cmpq $322, %rdi\n"
        "    je lwp_exec_syscall\n"
        "    jmp *lwp_real_syscall(%rip)\n"
        "    .cfi_endproc\n"
        ".size syscall, . - syscall\n"
        ".popsection\n");
_Static_assert(SYS_sigaltstack == 131 && SYS_perf_event_open == 298 && SYS_seccomp == 317 && SYS_prctl == 157 && SYS_execve == 59 && SYS_execveat == 322,
               "as above");
