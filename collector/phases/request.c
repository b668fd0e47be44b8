#include "collector/phases/request.h"

#include "base/arena.h"
#include "base/log.h"
#include "base/command.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct lwp_option lwp_phases_options[] = {
    {.name = "quiet", .letter = 'q', .kind = LWP_OPT_FLAG, .help = "print nothing but errors"},
    {0},
};

static void request_say(const char *dir, const struct lwp_phases_answer *answer)
{
    double recorded_s = (double)answer->recorded_ns * 1e-9;
    if (!answer->count)
        printf("%s: paused, nothing recorded yet\n", dir);
    else
        printf("%s: %s, %llu %s, %.1f s recorded\n", dir, answer->on ? "recording" : "paused", (unsigned long long)answer->count,
               answer->count == 1 ? "phase" : "phases", recorded_s);
}

int lwp_phases_request(int argc, char **argv, const struct lwp_command *self, enum lwp_phases_request request)
{
    struct lwp_options options;
    struct lwp_phases_answer answer;
    struct lwp_error err;
    glob_t ranks = {0};
    int status;
    if (!lwp_command_begin(&options, self, argc, argv, &status))
        return status;
    const char *dir = lwp_result_operand(self->name, argc - options.operands, argv + options.operands);
    if (!dir)
        return LWP_WRONG_USE;
    bool quiet = lwp_options_flag(&options, "quiet");
    status = lwp_phases_ask(dir, request, &answer, &err) ? 1 : 0;
    if (!status && !quiet)
        request_say(dir, &answer);
    char *pattern = lwp_format("%s/r[0-9]*/" LWP_PHASES_SOCKET, dir);
    if (status && glob(pattern, 0, NULL, &ranks) == 0) { /* of a parallel job */
        for (size_t i = 0; i < ranks.gl_pathc; i++) {
            char *rank = ranks.gl_pathv[i];
            *strrchr(rank, '/') = '\0';
            if (lwp_phases_ask(rank, request, &answer, &err))
                continue; /* that one has ended */
            status = 0;
            if (!quiet)
                request_say(rank, &answer);
        }
        globfree(&ranks);
    }
    free(pattern);
    if (status)
        lwp_log(LWP_LOG_ERROR, "%s: %s", self->name, err.text);
    return status;
}
