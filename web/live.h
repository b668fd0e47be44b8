/* A result while it is being written. */
#ifndef LWP_WEB_LIVE_H
#define LWP_WEB_LIVE_H

#include "base/error.h"

#include <jansson.h>
#include <stdbool.h>

struct lwp_preparing;

/* What was counted and found last, so that both take a small part of the time however large the result is. All zero at first. */
struct lwp_live {
    json_t *counts;
    double next_s;              /* of CLOCK_MONOTONIC: when to count again */
    json_t *interim;            /* findings so far, or NULL */
    struct lwp_preparing *work; /* the analysis of what is there so far; NULL: none is on its way */
    double begun_s, due_s;      /* when that began, and when the next one may */
};

/* Whether lwp collect, or the analysis after it, is at work on `dir`. */
bool lwp_live_is(const char *dir);

/* `analysing`: that is known. {"state": "running", "analysing" or "ended", "elapsed_s" (null: unknown), "processes", "threads", "samples",
 * "bytes", "interim": null or {"samples", "stall_share", "findings": [{"title", "speedup", "expected_speedup", "share"}], "objects":
 * [{"name", "type", "share"}]} of some seconds ago}; the caller's to decref, NULL without memory. */
json_t *lwp_live_json(struct lwp_live *live, const char *dir, bool analysing);

/* What the page of a running result is given: {"view": "running", "name", "mode", "lwp", "progress" (where to ask),
 * "analysis": {"run": {"command"}}}: nothing that changes while it runs. The caller's to decref. */
json_t *lwp_live_page(const char *name, const char *dir, const char *progress);

void lwp_live_free(struct lwp_live *live);

#endif
