/* Whether the memory is that of the recorded process: in it, in children of all kinds, and without asking the system each time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "collector/light/own/own_memory.c"
#include "collector/light/own/process.c"
#include "tests/unit/refuse.h"

#include <sys/syscall.h>
#include <sys/wait.h>

bool lwp_confinement_came(void)
{
    return false;
}

const struct lwps_memory *lwp_own_spool_memory(void)
{
    return NULL;
}

bool lwp_own_spool_is_paused(void)
{
    return false;
}

int lwp_own_spool_begin(const char *directory, const char *keeper)
{
    (void)directory, (void)keeper;
    return -1;
}

const char *lwp_setting(const char *name)
{
    (void)name;
    return NULL;
}

static void record_here(void)
{
    lwp_process.pid = getpid();
    lwp_process.active = true;
}

enum { YES = 10, NO, CANNOT_REFUSE };

static int answer(void)
{
    return lwp_process_has_memory() ? YES : NO;
}

static int without_getpid(void)
{
    record_here();
    if (!lwp_process_has_memory())
        return NO;
    return refuse_call(SYS_getpid) ? answer() : CANNOT_REFUSE;
}

static int recorded_itself(void)
{
    if (lwp_process_has_memory())
        return NO;
    record_here();
    return answer();
}

static int ended(pid_t child)
{
    int status = 0;
    assert_int_equal(waitpid(child, &status, __WALL), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static int in_fork(int (*run)(void))
{
    pid_t child = fork();
    if (child == 0)
        _exit(run());
    return ended(child);
}

static int in_clone(int (*run)(void))
{
    pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, 0);
    if (child == 0)
        _exit(run());
    return ended(child);
}

static void copies_are_other_memory(void **state)
{
    (void)state;
    assert_false(lwp_process_has_memory());
    record_here();
    for (int time = 0; time < 2; time++) {
        assert_true(lwp_process_has_memory());
        assert_int_equal(in_fork(answer), NO);
        assert_int_equal(in_clone(answer), NO);
        assert_int_equal(in_fork(recorded_itself), YES);
    }
    lwp_process.active = false;
    assert_false(lwp_process_has_memory());
}

static void it_costs_no_system_call(void **state)
{
    (void)state;
    int status = in_fork(without_getpid);
    if (status == CANNOT_REFUSE)
        skip();
    assert_int_equal(status, YES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copies_are_other_memory),
        cmocka_unit_test(it_costs_no_system_call),
    };
    return cmocka_run_group_tests_name("process_memory", tests, NULL, NULL);
}
