/* The page polls once a second; counting reads all sample files, in a process of its own, and so is done less often. */
#include "web/live.h"

#include "base/busy.h"
#include "base/json_file.h"
#include "base/text.h"
#include "config.h"
#include "web/result.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Between two counts, at least so many seconds, and so many times what the last one took. */
#define LIVE_LEAST_S 0.8
#define LIVE_PAUSE 20

bool lwp_live_is(const char *dir)
{
    return lwp_busy(dir);
}

static json_t *live_run(const char *dir)
{
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%s/run.json", dir) >= (int)sizeof path)
        return NULL;
    return lwp_json_read(path, 0, NULL);
}

static double live_now(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Seconds that the program has run, or null. */
static json_t *live_elapsed(const json_t *run)
{
    const json_t *wall = json_object_get(run, "wall_s");
    const char *started = json_string_value(json_object_get(run, "started"));
    struct tm tm = {0};
    if (json_is_number(wall))
        return json_real(json_number_value(wall));
    const char *rest = started ? strptime(started, "%Y-%m-%dT%H:%M:%S", &tm) : NULL;
    double elapsed = rest ? live_now(CLOCK_REALTIME) - ((double)timegm(&tm) + strtod(rest, NULL)) : -1;
    return elapsed >= 0 ? json_real(elapsed) : json_null(); /* a clock of another machine may be ahead */
}

json_t *lwp_live_json(struct lwp_live *live, const char *dir, bool analysing)
{
    double now = live_now(CLOCK_MONOTONIC);
    if (now >= live->next_s) {
        json_decref(live->counts);
        lwp_result_counts(dir, &live->counts, NULL);
        double after = live_now(CLOCK_MONOTONIC), pause = LIVE_PAUSE * (after - now);
        live->next_s = after + (pause > LIVE_LEAST_S ? pause : LIVE_LEAST_S);
    }
    json_t *run = live_run(dir), *json = live->counts ? json_copy(live->counts) : json_object();
    const char *state = analysing ? "analysing" : !lwp_live_is(dir) ? "ended" : json_object_get(run, "ended") ? "analysing" : "running";
    json_object_set_new(json, "state", json_string(state));
    json_object_set_new(json, "elapsed_s", live_elapsed(run));
    json_decref(run);
    return json;
}

json_t *lwp_live_page(const char *name, const char *dir, const char *progress)
{
    json_t *run = live_run(dir);
    char *clean = lwp_utf8_clean(name); /* a folder's name is bytes */
    json_t *page = json_pack("{s:s, s:s, s:s, s:s, s:s, s:{s:{s:O?}}}", "view", "running", "name", clean ? clean : "", "mode",
                             "served", "lwp", LWP_VERSION, "progress", progress, "analysis", "run", "command",
                             json_object_get(run, "command"));
    free(clean);
    json_decref(run);
    return page;
}

void lwp_live_free(struct lwp_live *live)
{
    json_decref(live->counts);
    *live = (struct lwp_live){0};
}
