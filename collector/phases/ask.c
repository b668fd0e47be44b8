#include "base/arena.h"
#include "base/busy.h"
#include "collector/phases/phases.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ANSWER_MS = 10000, TRIES = 20 };

/* Nobody answers: says what is in the way. */
static int ask_nobody(const char *dir, int why, struct lwp_error *err)
{
    char *run = lwp_format("%s/run.json", dir);
    bool result = access(run, F_OK) == 0;
    free(run);
    if (!result)
        return lwp_error_set(err, LWP_ERR_MISSING, "%s is no result directory of lwp collect%s", dir,
                             access(dir, F_OK) ? ": it does not exist" : "");
    if (!lwp_busy(dir))
        return lwp_error_set(err, LWP_ERR_MISSING, "the collection in %s has ended", dir);
    if (why == EACCES || why == EPERM)
        return lwp_error_set(err, LWP_ERR_MISSING, "the collection in %s is another user's", dir);
    return lwp_error_set(
        err, LWP_ERR_MISSING,
        "the collection in %s cannot be started and stopped from here: it uses the exact engine (which has --region), runs on "
        "another machine, or is just beginning or ending",
        dir);
}

/* 0, ECONNRESET: the other side did not wait for the question, ETIME: no answer came; or why there is no connection. */
static int ask_once(int folder, enum lwp_phases_request request, struct lwp_phases_answer *answer)
{
    char letter = (char)request;
    int to = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), status = ECONNRESET;
    struct sockaddr_un address = lwp_phases_address(folder);
    struct pollfd polled = {.fd = to, .events = POLLIN};
    if (to < 0 || connect(to, (struct sockaddr *)&address, sizeof address))
        status = errno;
    else if (send(to, &letter, 1, MSG_NOSIGNAL) == 1) {
        if (poll(&polled, 1, ANSWER_MS) <= 0)
            status = ETIME;
        else if (recv(to, answer, sizeof *answer, MSG_WAITALL) == sizeof *answer && answer->magic == LWP_PHASES_MAGIC)
            status = 0;
    }
    if (to >= 0)
        close(to);
    return status;
}

/* lwp collect waits for the question only 0.1 s, which on a busy machine may pass before it is sent. */
int lwp_phases_ask(const char *dir, enum lwp_phases_request request, struct lwp_phases_answer *answer, struct lwp_error *err)
{
    int folder = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), status = folder < 0 ? errno : ECONNRESET;
    for (int try = 0; status == ECONNRESET && try < TRIES; try++)
        status = ask_once(folder, request, answer);
    if (folder >= 0)
        close(folder);
    if (!status)
        return LWP_OK;
    if (status != ECONNRESET && status != ETIME)
        return ask_nobody(dir, status, err);
    return lwp_error_set(err, LWP_ERR_MISSING, "the collection in %s does not answer: it is just ending, or another user's", dir);
}
