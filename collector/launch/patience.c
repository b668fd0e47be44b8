/* A process of its own, as lwp collect itself only waits for the program. It holds nothing of the program's: no descriptor but
 * stderr, and another process group, so that Ctrl-C is the program's. Lines, not one line that overwrites itself: the program writes
 * to the same terminal. */
#include "collector/launch/patience.h"

#include "base/log.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FIRST_S = 5, LONGEST_S = 60 };

static _Noreturn void patience_child(pid_t parent)
{
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    close(STDIN_FILENO);
    close(STDOUT_FILENO);
    closefrom(STDERR_FILENO + 1);
    for (unsigned pause = FIRST_S, run = 0; getppid() == parent; pause = pause < LONGEST_S / 2 ? 2 * pause : LONGEST_S) {
        sleep(pause);
        run += pause;
        if (run == FIRST_S)
            lwp_log(LWP_LOG_NOTE, "the exact engine makes programs 2 to 300 times slower; Ctrl-C ends the program and keeps what was "
                                  "recorded, --region FUNC records a part, and without -e exact it runs at its usual speed");
        else
            lwp_log(LWP_LOG_NOTE, "the program has run for %u s under the exact engine", run);
    }
    _exit(0);
}

pid_t lwp_patience_start(void)
{
    pid_t parent = getpid();
    if (!lwp_log_progress_due())
        return 0;
    pid_t patience = fork();
    if (patience == 0)
        patience_child(parent);
    return patience > 0 ? patience : 0;
}

void lwp_patience_end(pid_t patience)
{
    if (!patience)
        return;
    kill(patience, SIGKILL);
    while (waitpid(patience, NULL, 0) < 0 && errno == EINTR)
        ;
}
