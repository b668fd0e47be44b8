/* What lwp collect can be asked for, and what of it does not go together. */
#include "collector/launch/collect_options.h"

#include "collector/launch/run_json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct lwp_option lwp_collect_options[] = {
    {.name = "output", .letter = 'o', .kind = LWP_OPT_TEXT, .argument = "DIR",
     .help = "result directory, lwp-<app>.<pid> if not given; must not exist. Ranks of one job share it"},
    {.name = "force", .kind = LWP_OPT_FLAG, .help = "replace an older result in DIR"},
    {.name = "engine", .letter = 'e', .kind = LWP_OPT_TEXT, .argument = "ENGINE", .initial = "auto",
     .help = "timer, pmu (PEBS, IBS), auto: pmu if it really samples here, else timer; or exact: traced under Valgrind, the same in every run"},
    {.name = "event", .kind = LWP_OPT_TEXT, .argument = "EVENT",
     .help = "what the pmu engine samples: mem (loads and stores with their latency), which is what it does if not told, or page-faults, which every machine can"},
    {.name = "frequency", .letter = 'F', .kind = LWP_OPT_NUMBER, .argument = "HZ", .min = 1, .max = 20000,
     .help = "samples for each second of a thread's CPU time; automatic if not given"},
    {.name = "period", .letter = 'c', .kind = LWP_OPT_NUMBER, .argument = "PERIOD", .min = 1, .max = 1e12,
     .help = "events between samples of the pmu engine, more when the overhead would be too high; -F if not given"},
    {.name = "max-overhead", .kind = LWP_OPT_NUMBER, .argument = "PCT", .min = 0.1, .max = 100, .initial = "3",
     .help = "thin out samples to stay below this share of CPU time"},
    {.name = "heap-threshold", .kind = LWP_OPT_NUMBER, .argument = "BYTES", .min = 0, .max = 65536,
     .help = "heap blocks below are told apart by call path and size only; 65536 if not given"},
    {.name = "detect", .kind = LWP_OPT_TEXT, .argument = "LIST", .initial = "layout,redundancy,sharing,communication",
     .help = "what to look for, separated by commas: layout, redundancy, sharing, communication; of the exact engine also values, registers, spatial, locality"},
    {.name = "value-history", .kind = LWP_OPT_NUMBER, .argument = "N", .min = 1, .max = 65536, .initial = "4",
     .help = "computations of each instruction that --detect values compares later ones with"},
    {.name = "follow-fork", .kind = LWP_OPT_FLAG, .help = "sample child processes too (this is the default)"},
    {.name = "no-follow-fork", .kind = LWP_OPT_FLAG, .help = "sample the first process only"},
    {.name = "delay", .kind = LWP_OPT_NUMBER, .argument = "SECONDS", .min = 0, .max = 1e6, .initial = "0",
     .help = "start sampling after so many seconds"},
    {.name = "duration", .kind = LWP_OPT_NUMBER, .argument = "SECONDS", .min = 0, .max = 1e6, .initial = "0",
     .help = "stop sampling after so many seconds, the program goes on; 0: to the end"},
    {.name = "window", .kind = LWP_OPT_TEXT, .argument = "ON:OFF",
     .help = "instructions that the exact engine traces and then leaves out, 20k:2M if not given; ON:fibonacci: gaps of ON, ON, 2, 3, 5... ON; all: it traces all. "
             "Redundancies and registers cover the whole run unless this is given"},
    {.name = "region", .kind = LWP_OPT_TEXT, .argument = "FUNC",
     .help = "the exact engine records only while the function FUNC is running; LWP_BEGIN: only what lies between LWP_BEGIN() and LWP_END() of lwp.h"},
    {.name = "machine", .kind = LWP_OPT_TEXT, .argument = "FILE",
     .help = "JSON with the caches that the exact engine's model has instead of this machine's: another result's run.json, or {\"line_bytes\": 64, \"caches\": [{\"level\": 1, \"bytes\": 32768, \"ways\": 8}]}"},
    {.name = "granularity", .kind = LWP_OPT_TEXT, .argument = "WHAT", .initial = "word",
     .help = "what the exact engine tells apart when it counts communication between threads: byte, word (4 bytes), or line (64)"},
    {.name = "approx", .kind = LWP_OPT_TEXT, .argument = "PERCENT", .initial = "on",
     .help = "floating point values that the exact engine takes for the same: within 1 % (on), only equal ones (off), or within PERCENT"},
    {.name = "no-analyze", .kind = LWP_OPT_FLAG, .help = "leave the analysis to 'lwp analyze DIR'"},
    {.name = "serve", .kind = LWP_OPT_NUMBER, .argument = "PORT", .min = 0, .max = 65535, .alone = "0",
     .help = "show the run in a browser while it goes on, then its report, at 127.0.0.1:PORT or a free port, until Ctrl-C"},
    {.name = "quiet", .letter = 'q', .kind = LWP_OPT_FLAG, .help = "no closing lines, unless something went wrong"},
    {0},
};

static int collect_check_detect(const char *list, struct lwp_error *err)
{
    static const char *const known[] = {"layout", "redundancy", "sharing", "communication", "values", "registers", "spatial", "locality", NULL};
    static const char takes[] = "it takes layout, redundancy, sharing, communication, values, registers, spatial and locality";
    for (const char *at = list;;) {
        char word[64];
        size_t length = strcspn(at, ","), i = 0;
        snprintf(word, sizeof word, "%.*s", (int)length, at);
        while (known[i] && strcmp(known[i], word))
            i++;
        const char *near = known[i] ? NULL : lwp_nearest(word, known);
        if (near)
            return lwp_error_set(err, LWP_ERR_USAGE, "collect: --detect knows no '%s'; did you mean '%s'?", word, near);
        if (!known[i])
            return lwp_error_set(err, LWP_ERR_USAGE, "collect: --detect knows no '%s'; %s", word, takes);
        if (at[length] == '\0')
            return LWP_OK;
        at += length + 1;
    }
}

int lwp_collect_options_check(const struct lwp_options *options, struct lwp_error *err)
{
    const char *engine = lwp_options_text(options, "engine"), *event = lwp_options_text(options, "event");
    bool timer = strcmp(engine, "timer") == 0, pmu = strcmp(engine, "pmu") == 0;
    bool exact = strcmp(engine, "exact") == 0;
    if (!timer && !pmu && !exact && strcmp(engine, "auto"))
        return lwp_error_set(err, LWP_ERR_USAGE, "collect: there is no engine '%s'; use -e auto, timer, pmu or exact", engine);
    if (event && strcmp(event, "mem") && strcmp(event, "page-faults"))
        return lwp_error_set(err, LWP_ERR_USAGE, "collect: --event knows no '%s'; it takes mem and page-faults", event);
    if (timer && (event || lwp_options_text(options, "period")))
        return lwp_error_set(err, LWP_ERR_USAGE, "collect: %s is for the pmu engine; the timer takes -F HZ", event ? "--event" : "-c");
    if (lwp_options_text(options, "period") && lwp_options_text(options, "frequency"))
        return lwp_error_set(err, LWP_ERR_USAGE, "collect: -c and -F exclude each other");
    static const char *const traced_only[] = {"window", "region", "machine", "granularity"};
    for (size_t i = 0; !exact && i < sizeof traced_only / sizeof *traced_only; i++)
        if (lwp_options_given(options, traced_only[i]))
            return lwp_error_set(err, LWP_ERR_USAGE, "collect: --%s belongs to the exact engine; add -e exact, or leave it out",
                                 traced_only[i]);
    static const char *const detected_only[] = {"values", "registers", "spatial", "locality"};
    for (size_t i = 0; !exact && i < sizeof detected_only / sizeof *detected_only; i++)
        if (strstr(lwp_options_text(options, "detect"), detected_only[i]))
            return lwp_error_set(err, LWP_ERR_USAGE, "collect: --detect %s belongs to the exact engine; add -e exact, or leave it out",
                                 detected_only[i]);
    if (!exact && strcmp(lwp_options_text(options, "approx"), "on"))
        return lwp_error_set(err, LWP_ERR_USAGE, "collect: --approx belongs to the exact engine; add -e exact, or leave it out");
    const char *granularity = lwp_options_text(options, "granularity");
    if (strcmp(granularity, "byte") && strcmp(granularity, "word") && strcmp(granularity, "line"))
        return lwp_error_set(err, LWP_ERR_USAGE, "collect: --granularity takes byte, word or line, not '%s'", granularity);
    static const char *const sampled_only[] = {"event", "period", "frequency"};
    for (size_t i = 0; exact && i < sizeof sampled_only / sizeof *sampled_only; i++)
        if (lwp_options_text(options, sampled_only[i]))
            return lwp_error_set(err, LWP_ERR_USAGE, "collect: --%s is for engines that sample; the exact one takes --window",
                                 sampled_only[i]);
    if (exact && (lwp_options_number(options, "delay") > 0 || lwp_options_number(options, "duration") > 0))
        return lwp_error_set(err, LWP_ERR_USAGE, "collect: --delay and --duration are for engines that sample; the exact one takes --window");
    if (lwp_options_flag(options, "follow-fork") && lwp_options_flag(options, "no-follow-fork"))
        return lwp_error_set(err, LWP_ERR_USAGE, "collect: --follow-fork and --no-follow-fork exclude each other");
    return collect_check_detect(lwp_options_text(options, "detect"), err);
}

json_t *lwp_collect_options_json(const struct lwp_options *options)
{
    json_t *json = json_object();
    for (const struct lwp_option *row = lwp_collect_options; row->name; row++) {
        const char *value = lwp_options_text(options, row->name);
        if (strcmp(row->name, "follow-fork") == 0 || strcmp(row->name, "output") == 0 ||
            strcmp(row->name, "serve") == 0)
            continue; /* told by no-follow-fork; by where the file is; nothing that was measured depends on it */
        json_t *item = json_null();
        if (row->kind == LWP_OPT_FLAG)
            item = json_boolean(value != NULL);
        else if (value && row->kind == LWP_OPT_NUMBER)
            item = json_real(strtod(value, NULL));
        else if (value)
            item = lwp_run_json_text(value);
        json_object_set_new(json, row->name, item);
    }
    return json;
}
