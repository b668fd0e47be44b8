#include "collector/launch/load_cost.h"

#include "base/arena.h"
#include "base/order.h"
#include "collector/env.h"
#include "collector/launch/launch.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* Its CPU time, ns; below 0: it could not be run. */
static double run_once(char *const *environment)
{
    struct rusage usage;
    int status;
    char *program[] = {(char *)"/bin/true", NULL};
    pid_t child = vfork(); // NOLINT(clang-analyzer-security.insecureAPI.vfork): lwp's own pages would cost, too
    if (child == 0) {
        execve(program[0], program, environment);
        _exit(1);
    }
    if (child < 0 || wait4(child, &status, 0, &usage) != child || !WIFEXITED(status) || WEXITSTATUS(status))
        return -1;
    return lwp_launch_cpu_s(&usage) * 1e9;
}

double lwp_load_cost(char *const *environment, unsigned pairs)
{
    double with[pairs + 1], without[pairs + 1];
    char *nothing[] = {NULL};
    size_t count = 0;
    unsigned done = 0;
    while (environment[count])
        count++;
    char **later = lwp_zeroed(count + 2, sizeof *later);
    memcpy(later, environment, count * sizeof *later);
    later[count] = (char *)LWP_ENV_COSTS "=" LWP_NO_COSTS; /* as if another process had been first */
    for (; done < pairs; done++) {
        without[done] = run_once(nothing);
        with[done] = run_once(later);
        if (without[done] < 0 || with[done] < 0)
            break;
    }
    free(later);
    LWP_SORT(with, done, lwp_compare_double);
    LWP_SORT(without, done, lwp_compare_double);
    double more = done ? with[done / 2] - without[done / 2] : 0;
    return more > 0 ? more : 0;
}
