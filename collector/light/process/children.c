/* Children that run on the program's own memory: what was stored they may use unseen, so all watchpoints end before they start.
 * Those of fork are start.c's. Not seen: children made by the C library in other ways, and by bare system calls. */
#include "collector/light/own/own_files.h"
#include "collector/light/own/real_calls.h"
#include "collector/light/own/watched_memory.h"
#include "collector/light/process/dormant.h"
#include "collector/light/process/foreign.h"
#include "collector/light/process/signals.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sched.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>

LWP_HIDDEN void *lwp_children_vfork, *lwp_children_clone; /* the C library's */
LWP_HIDDEN void lwp_children_vforked(void);
LWP_HIDDEN void lwp_children_cloned(int (*run)(void *), void *stack, int flags);

static void children_begin(void)
{
    lwp_watched_forget(NULL, UINT64_MAX, LWPS_WATCH_FOREIGN);
}

void lwp_children_vforked(void)
{
    if (!lwp_children_vfork)
        lwp_children_vfork = dlsym(RTLD_NEXT, "vfork");
    lwp_signals_vfork();
    children_begin();
}

/* Also a thread that is not sampled, from now on. */
void lwp_children_cloned(int (*run)(void *), void *stack, int flags)
{
    (void)run, (void)stack;
    if (!lwp_children_clone)
        lwp_children_clone = dlsym(RTLD_NEXT, "clone");
    children_begin();
    if (flags & CLONE_VM && !(flags & CLONE_VFORK)) {
        lwp_dormant_wake();
        lwp_own_files_alone(false);
        lwp_shared_all();
    }
}

/* Passed on as they came: a child of vfork returns on the parent's stack. */
__asm__(".pushsection .text\n"
        ".globl vfork, __vfork\n"
        ".type vfork, @function\n"
        ".type __vfork, @function\n"
        "vfork:\n"
        "__vfork:\n"
        "    .cfi_startproc\n"
        "    endbr64\n"
        "    subq $8, %rsp\n"
        "    .cfi_adjust_cfa_offset 8\n"
        "    call lwp_children_vforked\n"
        "    addq $8, %rsp\n"
        "    .cfi_adjust_cfa_offset -8\n"
        "    jmp *lwp_children_vfork(%rip)\n"
        "    .cfi_endproc\n"
        ".size vfork, . - vfork\n"
        ".globl clone, __clone\n"
        ".type clone, @function\n"
        ".type __clone, @function\n"
        "clone:\n"
        "__clone:\n"
        "    .cfi_startproc\n"
        "    endbr64\n"
        "    pushq %rdi\n"
        "    pushq %rsi\n"
        "    pushq %rdx\n"
        "    pushq %rcx\n"
        "    pushq %r8\n"
        "    pushq %r9\n"
        "    subq $8, %rsp\n"
        "    .cfi_adjust_cfa_offset 56\n"
        "    call lwp_children_cloned\n"
        "    addq $8, %rsp\n"
        "    popq %r9\n"
        "    popq %r8\n"
        "    popq %rcx\n"
        "    popq %rdx\n"
        "    popq %rsi\n"
        "    popq %rdi\n"
        "    .cfi_adjust_cfa_offset -56\n"
        "    jmp *lwp_children_clone(%rip)\n"
        "    .cfi_endproc\n"
        ".size clone, . - clone\n"
        ".popsection\n");

/* Whatever a thread began to watch while the child was about to run ends, too. */
#define CHILD(result, name, parameters, arguments, prepare) \
    LWP_EXPORT result name parameters                       \
    {                                                       \
        children_begin();                                   \
        prepare;                                            \
        result made = LWP_REAL(name) arguments;             \
        children_begin();                                   \
        return made;                                        \
    }

/* Those that cannot bear this library get an environment without it. */
#define SPAWN(name, foreign)                                                                                             \
    CHILD(int, name,                                                                                                     \
          (pid_t *pid, const char *file, const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attributes, \
           char *const arguments[], char *const environment[]),                                                          \
          (pid, file, actions, attributes, arguments, environment), size_t count = foreign; char *room[count + 1];       \
          if (count) environment = lwp_foreign_environment(environment, room, count))

SPAWN(posix_spawn, lwp_foreign(AT_FDCWD, file, 0, environment))
SPAWN(posix_spawnp, lwp_foreign_in_path(file, environment))
CHILD(int, system, (const char *command), (command), (void)0)
CHILD(FILE *, popen, (const char *command, const char *type), (command, type), (void)0)
