#include "collector/launch/collect_options.h"

#include "base/arena.h"
#include "collector/env.h"
#include "collector/launch/run_json.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WINDOW_ON = 20000, WINDOW_OFF = 2000000, TRACE_ON = 8000000, TRACE_OFF = 72000000 };

#define OF_ALL(separator) LWP_DETECT_OF_ALL_ENGINES(LWP_DETECT_NAME, separator)
#define OF_EXACT(separator, last) LWP_DETECT_OF_EXACT_ENGINE(LWP_DETECT_NAME, separator, last)

const struct lwp_option lwp_collect_options[] = {
    {.name = "output",
     .letter = 'o',
     .kind = LWP_OPT_TEXT,
     .argument = "DIR",
     .help = "result directory; must not exist. Default: lwp-<app>.<pid>. All ranks of a parallel job share one"},
    {.name = "force", .kind = LWP_OPT_FLAG, .help = "replace an older result in DIR"},
    {.name = "engine",
     .letter = 'e',
     .kind = LWP_OPT_TEXT,
     .argument = "ENGINE",
     .initial = "auto",
     .help = "timer; pmu (PEBS, IBS); auto: pmu if it takes samples on this machine, else timer; exact: trace under Valgrind, "
             "the same in every run"},
    {.name = "event",
     .kind = LWP_OPT_TEXT,
     .argument = "EVENT",
     .help = "event that the pmu engine samples: mem (loads and stores with their latency, the default), or page-faults, "
             "available on every machine"},
    {.name = "frequency",
     .letter = 'F',
     .kind = LWP_OPT_NUMBER,
     .argument = "HZ",
     .min = 1,
     .max = 20000,
     .help = "samples per second of CPU time of each thread. Default: automatic"},
    {.name = "period",
     .letter = 'c',
     .kind = LWP_OPT_NUMBER,
     .argument = "PERIOD",
     .min = 1,
     .max = 1e12,
     .help = "events between samples of the pmu engine; raised where the overhead would be too high. Default: by frequency (-F)"},
    {.name = "max-overhead",
     .kind = LWP_OPT_NUMBER,
     .argument = "PCT",
     .min = 0.1,
     .max = 100,
     .initial = "3",
     .variable = LWP_ENV_MAX_OVERHEAD,
     .help = "lower the sampling rate to keep the overhead below this share of CPU time"},
    {.name = "heap-threshold",
     .kind = LWP_OPT_NUMBER,
     .argument = "BYTES",
     .min = 0,
     .max = 65536,
     .help = "distinguish heap blocks smaller than BYTES by calling context and size only. Default: 65536"},
    {.name = "detect",
     .kind = LWP_OPT_TEXT,
     .argument = "LIST",
     .choices = OF_ALL("|") "|" OF_EXACT("|", "|"),
     .initial = OF_ALL(","),
     .help = "detectors, separated by commas: " OF_ALL(", ") "; with the exact engine also " OF_EXACT(", ", ", ")},
    {.name = "value-history",
     .kind = LWP_OPT_NUMBER,
     .argument = "N",
     .min = 1,
     .max = 65536,
     .initial = "4",
     .help = "previous computations of each instruction that --detect values compares with"},
    {.name = "follow-fork", .kind = LWP_OPT_FLAG, .help = "profile child processes too (the default)"},
    {.name = "no-follow-fork", .kind = LWP_OPT_FLAG, .help = "profile the first process only"},
    {.name = "pid",
     .letter = 'p',
     .kind = LWP_OPT_NUMBER,
     .argument = "PID",
     .min = 1,
     .max = 4194304,
     .help = "sample the running process PID from outside until --duration is over, Ctrl-C, or its end; nothing is loaded into it"},
    {.name = "children", .kind = LWP_OPT_FLAG, .help = "with -p, its child processes too, running ones and later ones"},
    {.name = "delay",
     .kind = LWP_OPT_NUMBER,
     .argument = "SECONDS",
     .min = 0,
     .max = 1e6,
     .initial = "0",
     .help = "start sampling after SECONDS"},
    {.name = "duration",
     .kind = LWP_OPT_NUMBER,
     .argument = "SECONDS",
     .min = 0,
     .max = 1e6,
     .initial = "0",
     .help = "stop sampling after SECONDS, while the program continues; 0: sample to the end"},
    {.name = "paused",
     .kind = LWP_OPT_FLAG,
     .help = "record nothing until 'lwp start DIR', from 'lwp start DIR' to 'lwp stop DIR' after that; 'lwp status DIR' says which it is"},
    {.name = "only",
     .kind = LWP_OPT_TEXT,
     .argument = "NAME",
     .help = "of the program and its children, record only those that run a file called NAME, or scripts called so; with * and ?, several "
             "separated by commas"},
    {.name = "window",
     .kind = LWP_OPT_TEXT,
     .argument = "ON:OFF",
     .help = "trace ON instructions, then skip OFF, with the exact engine. Default: 20k:2M. ON:fibonacci: gaps of ON, ON, 2 ON, "
             "3 ON, 5 ON...; all: trace everything. "
             "Redundant accesses and register writes are counted over the whole run unless this is given"},
    {.name = "region",
     .kind = LWP_OPT_TEXT,
     .argument = "FUNC",
     .help = "LWP_BEGIN: record only between LWP_BEGIN() and LWP_END() of lwp.h, which the program calls. With the exact engine also a "
             "function: record only while FUNC runs"},
    {.name = "allocator",
     .kind = LWP_OPT_TEXT,
     .argument = "FUNC[:ARG]",
     .help = "with the exact engine, functions of the program that allocate, separated by commas: what FUNC returns is a block of as many "
             "bytes as its argument ARG says, 1 (the default) to 3. With the other engines, the program says so by LWP_ALLOC of lwp.h"},
    {.name = "machine",
     .kind = LWP_OPT_TEXT,
     .argument = "FILE",
     .help = "JSON file with the caches that the exact engine models instead of this machine's: another result's run.json, or "
             "{\"line_bytes\": 64, \"caches\": [{\"level\": 1, \"bytes\": 32768, \"ways\": 8}]}"},
    {.name = "granularity",
     .kind = LWP_OPT_TEXT,
     .argument = "WHAT",
     .initial = "word",
     .help = "granularity of communication between threads with the exact engine: byte, word (4 bytes) or line (64 bytes)"},
    {.name = "approx",
     .kind = LWP_OPT_TEXT,
     .argument = "PERCENT",
     .initial = "on",
     .help =
         "floating-point values that are listed as about the same, apart from equal ones: within 1 % (on), none (off), or within PERCENT"},
    {.name = "no-analyze", .kind = LWP_OPT_FLAG, .help = "skip the analysis; 'lwp analyze DIR' does it later"},
    {.name = "no-measure",
     .kind = LWP_OPT_FLAG,
     .help = "when analysing, do not run patterns of accesses to measure what a change would gain (at most 5 s of CPU time); with -e "
             "exact, do not run "
             "copies of the program to measure how fast it is"},
    {.name = "serve",
     .kind = LWP_OPT_NUMBER,
     .argument = "PORT",
     .min = 0,
     .max = 65535,
     .alone = "0",
     .help = "show progress, then the report, in a browser at 127.0.0.1:PORT or a free port, until Ctrl-C"},
    {.name = "quiet", .letter = 'q', .kind = LWP_OPT_FLAG, .help = "print no summary at the end unless something went wrong"},
    {0},
};

/* Options that are only for the exact engine, or only for engines that sample. */
static int options_of_engine(const struct lwp_options *options, bool exact, struct lwp_error *err)
{
    static const char *const traced_only[] = {"window", "machine", "granularity", NULL};
    static const char *const sampled_only[] = {"event", "period", "frequency", NULL};
    if (!exact && lwp_options_given(options, "allocator"))
        return lwp_error_set(err, LWP_ERR_USAGE,
                             "collect: --allocator belongs to the exact engine; add -e exact, or include lwp.h in the "
                             "program and say LWP_ALLOC(pool, pointer, size) where it allocates");
    for (const char *const *name = traced_only; !exact && *name; name++)
        if (lwp_options_given(options, *name))
            return lwp_error_set(err, LWP_ERR_USAGE, "collect: --%s belongs to the exact engine; add -e exact, or leave it out", *name);
    const char *region = lwp_options_text(options, "region");
    if (!exact && region && strcmp(region, LWP_REGION_MARKS))
        return lwp_error_set(
            err, LWP_ERR_USAGE,
            "collect: --region FUNC belongs to the exact engine; add -e exact, or mark the region in the program by LWP_BEGIN() and "
            "LWP_END() of lwp.h and say --region " LWP_REGION_MARKS);
    for (const struct lwp_detect_name *row = lwp_detect_names; !exact && row->name; row++)
        if (row->exact_only && lwp_detect_parse(lwp_options_text(options, "detect")) & row->bit)
            return lwp_error_set(err, LWP_ERR_USAGE, "collect: --detect %s belongs to the exact engine; add -e exact, or leave it out",
                                 row->name);
    for (const char *const *name = sampled_only; exact && *name; name++)
        if (lwp_options_text(options, *name))
            return lwp_error_set(err, LWP_ERR_USAGE, "collect: --%s is for engines that sample; the exact one takes --window", *name);
    if (exact && (lwp_options_number(options, "delay") > 0 || lwp_options_number(options, "duration") > 0))
        return lwp_error_set(err, LWP_ERR_USAGE,
                             "collect: --delay and --duration are for engines that sample; the exact one takes --window");
    if (exact && lwp_options_flag(options, "paused"))
        return lwp_error_set(
            err, LWP_ERR_USAGE,
            "collect: --paused is for engines that sample; with the exact one, --region records a function or from LWP_BEGIN() on");
    if (exact && lwp_options_given(options, "only"))
        return lwp_error_set(err, LWP_ERR_USAGE,
                             "collect: --only is for engines that sample; run lwp collect -e exact on that program itself");
    return LWP_OK;
}

/* Options that need lwp's library in the program, or lwp to start it. */
static int options_of_pid(const struct lwp_options *options, struct lwp_error *err)
{
    static const char *const inside_only[] = {"event",     "period",  "detect", "follow-fork", "no-follow-fork", "window", "heap-threshold",
                                              "allocator", "machine", "serve",  NULL};
    const char *engine = lwp_options_text(options, "engine");
    if (strcmp(engine, "timer") && strcmp(engine, "auto"))
        return lwp_error_set(err, LWP_ERR_USAGE, "collect: -p samples with the timer; leave -e %s out", engine);
    for (const char *const *name = inside_only; *name; name++)
        if (lwp_options_given(options, *name))
            return lwp_error_set(err, LWP_ERR_USAGE, "collect: --%s is for programs that lwp starts; leave it out with -p", *name);
    return LWP_OK;
}

int lwp_settings_outside(const struct lwp_options *options, const char *program, const char *why, struct lwp_error *err)
{
    static const char *const inside_only[] = {"event", "period", "heap-threshold", "serve", NULL};
    const char *detect = lwp_options_given(options, "detect") ? lwp_options_text(options, "detect") : "layout";
    const char *found = strcmp(detect, "layout") ? "detect" : strcmp(lwp_options_text(options, "engine"), "pmu") == 0 ? "engine" : NULL;
    for (const char *const *name = inside_only; *name && !found; name++)
        found = lwp_options_given(options, *name) ? *name : NULL;
    return found ? lwp_error_set(
                       err, LWP_ERR_USAGE,
                       "collect: --%s needs lwp's library in the program, and '%s' %s; leave it out, or link the program dynamically "
                       "with glibc",
                       found, program, why)
                 : LWP_OK;
}

static int options_check(const struct lwp_options *options, struct lwp_error *err)
{
    const char *engine = lwp_options_text(options, "engine"), *event = lwp_options_text(options, "event");
    bool timer = strcmp(engine, "timer") == 0, exact = strcmp(engine, "exact") == 0;
    if (!timer && !exact && strcmp(engine, "pmu") && strcmp(engine, "auto"))
        return lwp_error_set(err, LWP_ERR_USAGE, "collect: there is no engine '%s'; use -e auto, timer, pmu or exact", engine);
    if (event && strcmp(event, "mem") && strcmp(event, "page-faults"))
        return lwp_error_set(err, LWP_ERR_USAGE, "collect: --event knows no '%s'; it takes mem and page-faults", event);
    if (timer && (event || lwp_options_text(options, "period")))
        return lwp_error_set(err, LWP_ERR_USAGE, "collect: %s is for the pmu engine; the timer takes -F HZ", event ? "--event" : "-c");
    if (!lwp_options_given(options, "pid") && lwp_options_flag(options, "children"))
        return lwp_error_set(err, LWP_ERR_USAGE, "collect: --children belongs to -p; children of a program that lwp starts are profiled anyway");
    const char *only = lwp_options_text(options, "only");
    if (only && (!*only || strchr(only, '/')))
        return lwp_error_set(err, LWP_ERR_USAGE,
                             "collect: --only takes names of programs without their folder, for example cc1plus or 'postgres*'");
    if (only && lwp_options_flag(options, "no-follow-fork"))
        return lwp_error_set(err, LWP_ERR_USAGE, "collect: --only and --no-follow-fork exclude each other");
    if (lwp_options_flag(options, "paused") && (lwp_options_given(options, "delay") || lwp_options_given(options, "duration")))
        return lwp_error_set(err, LWP_ERR_USAGE,
                             "collect: --paused excludes --delay and --duration; 'lwp start DIR' and 'lwp stop DIR' say when");
    if (lwp_options_text(options, "period") && lwp_options_text(options, "frequency"))
        return lwp_error_set(err, LWP_ERR_USAGE, "collect: -c and -F exclude each other");
    if (lwp_options_flag(options, "follow-fork") && lwp_options_flag(options, "no-follow-fork"))
        return lwp_error_set(err, LWP_ERR_USAGE, "collect: --follow-fork and --no-follow-fork exclude each other");
    return lwp_options_given(options, "pid") ? options_of_pid(options, err) : options_of_engine(options, exact, err);
}

static int settings_detect(struct lwp_settings *settings, const char *list, struct lwp_error *err)
{
    const char *names[sizeof(settings->detect) * CHAR_BIT] = {NULL};
    for (const struct lwp_detect_name *row = lwp_detect_names; row->name; row++)
        names[row - lwp_detect_names] = row->name;
    settings->detect = lwp_detect_parse(list);
    for (const char *at = list, *end;; at = end + 1) {
        end = strchrnul(at, ',');
        char word[64];
        snprintf(word, sizeof word, "%.*s", (int)(end - at), at);
        const char *near = lwp_nearest(word, names);
        if (near && strcmp(near, word))
            return lwp_error_set(err, LWP_ERR_USAGE, "collect: --detect knows no '%s'; did you mean '%s'?", word, near);
        if (!near)
            return lwp_error_set(err, LWP_ERR_USAGE, "collect: --detect knows no '%s'; it takes " OF_ALL(", ") ", " OF_EXACT(", ", " and "),
                                 word);
        if (!*end)
            return LWP_OK;
    }
}

static int settings_granule(struct lwp_settings *settings, const char *text, struct lwp_error *err)
{
    settings->granule_bytes = strcmp(text, "byte") == 0 ? 1 : strcmp(text, "word") == 0 ? 4 : strcmp(text, "line") == 0 ? 64 : 0;
    if (settings->granule_bytes)
        return LWP_OK;
    return lwp_error_set(err, LWP_ERR_USAGE, "collect: --granularity takes byte, word or line, not '%s'", text);
}

static const char *window_number(const char *text, uint64_t *value)
{
    char *end;
    double number = strtod(text, &end), scale = *end == 'k' ? 1e3 : *end == 'M' ? 1e6 : *end == 'G' ? 1e9 : 1;
    if (end == text || *text == '-' || !(number * scale >= 1) || number * scale > 1e12)
        return NULL;
    *value = (uint64_t)(number * scale);
    return end + (scale > 1);
}

/* "ON:OFF" in instructions, with k, M or G; "ON:fibonacci"; or "all". NULL: about 1 %, or windows long enough to see data used
 * again, where traces are written. */
static int settings_window(struct lwp_settings *settings, const char *text, struct lwp_error *err)
{
    bool traces = settings->detect & LWP_DETECT_LOCALITY;
    settings->window_on = traces ? TRACE_ON : WINDOW_ON;
    settings->window_off = traces ? TRACE_OFF : WINDOW_OFF;
    settings->windows = text && strcmp(text, "all") != 0;
    if (!text)
        return LWP_OK;
    if (!settings->windows) {
        settings->window_off = 0;
        return LWP_OK;
    }
    const char *rest = window_number(text, &settings->window_on);
    if (rest && strcmp(rest, ":fibonacci") == 0) {
        settings->window_off = settings->window_on;
        settings->window_grows = true;
        return LWP_OK;
    }
    rest = rest && *rest == ':' ? window_number(rest + 1, &settings->window_off) : NULL;
    if (rest && *rest == '\0')
        return LWP_OK;
    return lwp_error_set(err, LWP_ERR_USAGE, "collect: --window takes ON:OFF in instructions, for example 20k:2M, "
                                             "20k:fibonacci, or all");
}

/* "on" (1 %), "off", or percent below 50. */
static int settings_approx(struct lwp_settings *settings, const char *text, struct lwp_error *err)
{
    char *end;
    bool word = strcmp(text, "on") == 0 || strcmp(text, "off") == 0;
    double percent = word ? strcmp(text, "on") == 0 : strtod(text, &end);
    settings->approx = percent / 100;
    if (word || (end > text && (*end == '\0' || strcmp(end, "%") == 0) && percent > 0 && percent < 50))
        return LWP_OK;
    return lwp_error_set(err, LWP_ERR_USAGE, "collect: --approx takes on (1 %%), off, or a number of percent below 50");
}

/* FUNC:ARG,... with every ARG there. */
static int settings_allocators(struct lwp_settings *settings, const char *list, struct lwp_error *err)
{
    char *all = NULL;
    for (const char *at = list, *end; at; at = *end ? end + 1 : NULL) {
        end = strchrnul(at, ',');
        const char *colon = end; /* behind the last one; names of C++ have some, too */
        while (colon > at && colon[-1] != ':')
            colon--;
        bool given = end - colon == 1 && colon > at + 1 && colon[-2] != ':' && *colon >= '1' && *colon <= '3';
        const char *last = given ? colon - 1 : end;
        if (last == at || (!given && colon > at && (colon < at + 2 || colon[-2] != ':')))
            return lwp_error_set(err, LWP_ERR_USAGE, "collect: --allocator takes FUNC or FUNC:ARG with ARG 1 to 3, not '%.*s'",
                                 (int)(end - at), at);
        all = lwp_format("%s%s%.*s:%c", all ? all : "", all ? "," : "", (int)(last - at), at, given ? *colon : '1');
    }
    settings->allocators = all;
    return LWP_OK;
}

int lwp_settings_read(struct lwp_settings *settings, const struct lwp_options *options, struct lwp_error *err)
{
    const char *threshold = lwp_options_text(options, "heap-threshold");
    *settings = (struct lwp_settings){.options = options,
                                      .exact = strcmp(lwp_options_text(options, "engine"), "exact") == 0,
                                      .follow = !lwp_options_flag(options, "no-follow-fork"),
                                      .heap_threshold = threshold ? strtoull(threshold, NULL, 10) : 65536,
                                      .frequency = lwp_options_number(options, "frequency"),
                                      .period = lwp_options_number(options, "period"),
                                      .max_overhead = lwp_options_number(options, "max-overhead"),
                                      .delay = lwp_options_number(options, "delay"),
                                      .duration = lwp_options_number(options, "duration"),
                                      .region = lwp_options_text(options, "region"),
                                      .value_history = (unsigned)lwp_options_number(options, "value-history")};
    if (options_check(options, err) || settings_granule(settings, lwp_options_text(options, "granularity"), err) ||
        settings_detect(settings, lwp_options_text(options, "detect"), err) ||
        settings_window(settings, lwp_options_text(options, "window"), err) ||
        settings_approx(settings, lwp_options_text(options, "approx"), err) ||
        settings_allocators(settings, lwp_options_text(options, "allocator"), err))
        return err->status;
    if (!settings->exact)
        return LWP_OK;
    if (!lwp_options_given(options, "detect"))
        settings->detect &= ~LWP_DETECT_COMMUNICATION; /* it slows the program down: only when asked for by name */
    settings->counts_all = settings->detect & LWP_DETECT_COMMUNICATION || (settings->detect & LWP_DETECT_VALUES && !settings->window_off);
    if (!settings->counts_all)
        settings->detect |= LWP_DETECT_LAYOUT;
    return LWP_OK;
}

json_t *lwp_collect_options_json(const struct lwp_options *options)
{
    json_t *json = json_object();
    for (const struct lwp_option *row = lwp_collect_options; row->name; row++) {
        const char *value = lwp_options_text(options, row->name);
        if (strcmp(row->name, "follow-fork") == 0 || strcmp(row->name, "output") == 0 ||
            strcmp(row->name, "serve") == 0)
            continue; /* said by no-follow-fork; by the place of the file; does not change what is measured */
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
