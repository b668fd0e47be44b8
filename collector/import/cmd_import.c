/* lwp import: what perf recorded, on this machine or another, as a result of lwp. */
#include "base/arena.h"
#include "base/command.h"
#include "base/log.h"
#include "collector/import/import.h"
#include "collector/launch/launch.h"
#include "collector/launch/result.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct lwp_option import_options[] = {
    {.name = "output", .letter = 'o', .kind = LWP_OPT_TEXT, .argument = "DIR",
     .help = "result directory; must not exist. Default: lwp-<FILE>"},
    {.name = "force", .kind = LWP_OPT_FLAG, .help = "replace an older result in DIR"},
    {.name = "no-analyze", .kind = LWP_OPT_FLAG, .help = "skip the analysis; 'lwp analyze DIR' does it later"},
    {.name = "quiet", .letter = 'q', .kind = LWP_OPT_FLAG, .help = "print no summary at the end"},
    {0},
};

static int import_into(const char *path, char *dir, const struct lwp_options *options, struct lwp_error *err)
{
    struct lwp_imported imported;
    struct lwp_result result;
    lwp_log_progress("reading %s", path);
    int status = lwp_import_perf(path, dir, &imported, err);
    lwp_log_progress(NULL);
    if (status)
        return status;
    lwp_log_progress("sealing %s", dir);
    lwp_result_finish(dir, &result);
    lwp_log_progress(NULL);
    if (result.problem[0])
        lwp_log(LWP_LOG_WARNING, "%s", result.problem);
    if (result.lost_records)
        lwp_log(LWP_LOG_WARNING, "%llu records were lost: the disk of %s was full; the rest is used",
                (unsigned long long)result.lost_records, dir);
    if (lwp_options_flag(options, "quiet"))
        return LWP_OK;
    lwp_log(LWP_LOG_NOTE, "%llu samples of %s, %llu with an address; %u %s, %u %s",
            (unsigned long long)imported.samples, imported.event, (unsigned long long)imported.with_address,
            imported.processes, imported.processes == 1 ? "process" : "processes", imported.threads,
            imported.threads == 1 ? "thread" : "threads");
    if (!imported.with_address)
        lwp_log(LWP_LOG_WARNING, "no sample has an address: record with perf mem record, perf record -d, or perf record -e task-clock:u "
                                 "--call-graph dwarf");
    if (!lwp_options_flag(options, "no-analyze")) {
        if (lwp_launch_self((char *[]){(char *)"lwp", (char *)"analyze", (char *)"--quiet", dir, NULL}))
            lwp_log(LWP_LOG_WARNING, "the analysis did not succeed; the samples are kept: lwp analyze %s", dir);
        else
            lwp_launch_self((char *[]){(char *)"lwp", (char *)"report", (char *)"--brief", dir, NULL});
    }
    lwp_log(LWP_LOG_NOTE, "next: lwp report %s   (or lwp serve %s, lwp export %s)", dir, dir, dir);
    return LWP_OK;
}

static int import_run(int argc, char **argv, const struct lwp_command *self)
{
    struct lwp_options options;
    struct lwp_error err = {0};
    int status;
    if (!lwp_command_begin(&options, self, argc, argv, &status))
        return status;
    if (argc - options.operands != 1) {
        lwp_log(LWP_LOG_ERROR, argc == options.operands
                                   ? "import: name a file of perf, for example: lwp import perf.data"
                                   : "import: one file at a time");
        return LWP_WRONG_USE;
    }
    const char *path = argv[options.operands], *wanted = lwp_options_text(&options, "output");
    char *dir = wanted ? lwp_format("%s", wanted) : lwp_result_default(path, "");
    int busy;
    status = 0;
    if (lwp_result_create(dir, lwp_options_flag(&options, "force"), &busy, &err)) {
        status = 1;
    } else if (import_into(path, dir, &options, &err)) {
        lwp_result_discard(dir);
        status = 1;
    }
    if (busy >= 0)
        close(busy);
    if (status)
        lwp_log(LWP_LOG_ERROR, "%s", err.text);
    free(dir);
    return status;
}

const struct lwp_command lwp_cmd_import = {
    .name = "import",
    .usage = "[options] PERF.DATA",
    .summary = "convert a perf.data file into a result directory",
    .details = "Reads a perf.data file from this machine or another one, for example from a server with PEBS or IBS:\n\n"
               "    perf mem record -o perf.data -- ./app args\n"
               "    lwp import perf.data\n\n"
               "Without such hardware, recorded registers and stacks take the place of addresses, also for a running process:\n\n"
               "    perf record -e task-clock:u --call-graph dwarf -p PID\n"
               "    lwp import perf.data\n\n"
               "For names, the programs and their debug information must exist here under the same paths; a file with a different\n"
               "build id is not used. perf does not record heap blocks: only static data and large mappings become objects.",
    .options = import_options,
    .run = import_run,
};
