/* The page polls once a second; counting reads all sample files, in a process of its own, and so is done less often. So is the
 * analysis of what is there so far: it takes one processor, at most a twentieth of the time, and only while someone looks. */
#include "web/live.h"

#include "base/busy.h"
#include "base/clock.h"
#include "base/json_file.h"
#include "base/text.h"
#include "config.h"
#include "web/preparing.h"
#include "web/result.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Between two counts, at least so many seconds, and so many times what the last one took. */
#define LIVE_LEAST_S 0.8
#define LIVE_PAUSE 20

/* The same for findings. */
#define LIVE_FINDINGS_S 4
enum { LIVE_SAMPLES_LEAST = 100, LIVE_SHOWN = 5 };

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

/* Seconds that the program has run, or null. */
static json_t *live_elapsed(const json_t *run)
{
    const json_t *wall = json_object_get(run, "wall_s");
    const char *started = json_string_value(json_object_get(run, "started"));
    struct tm tm = {0};
    if (json_is_number(wall))
        return json_real(json_number_value(wall));
    const char *rest = started ? strptime(started, "%Y-%m-%dT%H:%M:%S", &tm) : NULL;
    double elapsed = rest ? lwp_clock_s(CLOCK_REALTIME) - ((double)timegm(&tm) + strtod(rest, NULL)) : -1;
    return elapsed >= 0 ? json_real(elapsed) : json_null(); /* a clock of another machine may be ahead */
}

/* The first few of `rows`, with these keys only. */
static json_t *live_rows(const json_t *rows, const char *const *keys)
{
    json_t *shown = json_array();
    for (size_t i = 0; i < json_array_size(rows) && i < LIVE_SHOWN; i++) {
        json_t *row = json_object();
        for (const char *const *key = keys; *key; key++)
            json_object_set(row, *key, json_object_get(json_array_get(rows, i), *key));
        json_array_append_new(shown, row);
    }
    return shown;
}

static json_t *live_summary(const json_t *analysis)
{
    static const char *const finding[] = {"title", "speedup", "expected_speedup", "share", NULL}, *const object[] = {"name", "type",
                                                                                                                     "share", NULL};
    const json_t *run = json_object_get(analysis, "run");
    return json_pack("{s:O?, s:O?, s:o, s:o}", "samples", json_object_get(run, "samples"), "stall_share",
                     json_object_get(run, "stall_share"), "findings", live_rows(json_object_get(analysis, "findings"), finding), "objects",
                     live_rows(json_object_get(analysis, "objects"), object));
}

/* Takes the analysis that has ended, and starts the next one when it is due. */
static void live_findings(struct lwp_live *live, const char *dir, double now)
{
    json_t *analysis = NULL;
    if (live->work && lwp_preparing_wait(live->work, 0)) {
        double pause = LIVE_PAUSE * (now - live->begun_s);
        if (lwp_preparing_end(live->work, &analysis, NULL) == 0 && analysis) {
            json_decref(live->interim);
            live->interim = live_summary(analysis);
        }
        json_decref(analysis);
        live->work = NULL;
        live->due_s = now + (pause > LIVE_FINDINGS_S ? pause : LIVE_FINDINGS_S);
    }
    if (!live->work && now >= live->due_s && json_integer_value(json_object_get(live->counts, "samples")) >= LIVE_SAMPLES_LEAST) {
        live->begun_s = now;
        lwp_preparing_start(&live->work, dir, lwp_result_interim, NULL);
    }
}

json_t *lwp_live_json(struct lwp_live *live, const char *dir, bool analysing)
{
    double now = lwp_clock_s(CLOCK_MONOTONIC);
    if (now >= live->next_s) {
        json_decref(live->counts);
        lwp_result_counts(dir, &live->counts, NULL);
        double after = lwp_clock_s(CLOCK_MONOTONIC), pause = LIVE_PAUSE * (after - now);
        live->next_s = after + (pause > LIVE_LEAST_S ? pause : LIVE_LEAST_S);
    }
    json_t *run = live_run(dir), *json = live->counts ? json_copy(live->counts) : json_object();
    const char *state = analysing ? "analysing" : !lwp_live_is(dir) ? "ended" : json_object_get(run, "ended") ? "analysing" : "running";
    if (strcmp(state, "running") == 0)
        live_findings(live, dir, now);
    json_object_set_new(json, "state", json_string(state));
    json_object_set_new(json, "elapsed_s", live_elapsed(run));
    json_object_set(json, "interim", live->interim ? live->interim : json_null());
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
    json_decref(live->interim);
    lwp_preparing_leave(live->work);
    *live = (struct lwp_live){0};
}
