/* What reads the JSON beside the samples: run.json of a run and of its ranks, machines, budgets, baselines. */
#include "analysis/check/check.h"
#include "analysis/json/analyze.h"
#include "analysis/load/result_files.h"
#include "collector/machine/machine.h"
#include "tests/fuzz/folder.h"
#include "web/live.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size);

static void read_inputs(const char *dir)
{
    struct lwp_profile profile;
    struct lwp_inputs inputs = {0};
    struct lwp_error err;
    lwp_profile_init(&profile);
    lwp_inputs_find(&profile, (const char *const[]){dir, dir}, 2, &inputs, &err);
    lwp_inputs_free(&inputs);
    lwp_profile_fini(&profile);
}

/* lwp serve: while a run goes on; nothing is counted anew. */
static void read_live(const char *dir)
{
    struct lwp_live live = {.next_s = 1e300};
    json_decref(lwp_live_json(&live, dir, false));
    json_decref(lwp_live_page("result", dir, "/progress"));
    lwp_live_free(&live);
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
    char path[256];
    struct lwp_hierarchy_plan plan;
    struct lwp_machine machine = {0};
    struct lwp_budget budget = lwp_budget_usual();
    struct lwp_baseline baseline = {0};
    struct lwp_error err;
    const char *dir = fuzz_folder();
    snprintf(path, sizeof path, "%s/p1", dir);
    mkdir(path, 0700);
    fuzz_file("run.0.json", input, size);
    snprintf(path, sizeof path, "%s", fuzz_file("run.json", input, size));
    read_inputs(dir);
    read_live(dir);
    lwp_hierarchy_plan_read(&plan, path, &err);
    lwp_machine_file(&machine, path, &err);
    lwp_budget_read(&budget, path, &err);
    struct lwp_arena *arena = lwp_arena_new();
    lwp_baseline_read(&baseline, path, arena, &err);
    lwp_baseline_fini(&baseline);
    lwp_arena_free(arena);
    return 0;
}
