/* Notes: what a person should know of how the run was measured, what was not looked for, and modules that carry weight
 * and whose names, lines or types are missing or doubtful: replaced since the run, gone, unreadable, without debug info, or
 * with a part of it lying somewhere else. One note for each kind of trouble, the hottest module first in it. Only times
 * tell whether a file without a build-id is still the one that ran. */
#include "analysis/findings/findings.h"

#include "analysis/advice/gain/gain_model.h"
#include "analysis/tables/engines.h"
#include "analysis/tables/severity.h"
#include "base/arena.h"
#include "base/path.h"
#include "format/record.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- modules ---- */

enum { NOTE_MODULES = 5, NOTE_TEXT = 4096 };

struct module_weight {
    const struct lwp_module *module;
    double weight;
};

static int module_compare(const void *a, const void *b)
{
    const struct module_weight *x = a, *y = b;
    if (x->weight != y->weight)
        return x->weight > y->weight ? -1 : 1;
    return strcmp(x->module->path, y->module->path);
}

enum trouble { REPLACED, GONE, UNREADABLE, NO_ELF, DOUBTFUL, TROUBLES };

static bool module_has(const struct lwp_profile *profile, const struct lwp_module *module, enum trouble trouble)
{
    struct tm tm = {0};
    const char *started = json_string_value(json_object_get(profile->run, "started"));
    switch (trouble) {
    case REPLACED:
        return module->debug_info == LWP_DEBUG_REPLACED;
    case GONE:
        return module->file == LWP_FILE_GONE;
    case UNREADABLE:
        return module->file == LWP_FILE_UNREADABLE;
    case NO_ELF:
        return module->file == LWP_FILE_ODD;
    default:
        return started && strptime(started, "%Y-%m-%dT%H:%M:%S", &tm) && module->file == LWP_FILE_READ && !module->build_id[0] &&
               module->changed > timegm(&tm);
    }
}

static const struct {
    const char *one, *many; /* after the names */
} notes[TROUBLES] = {
    [REPLACED] = {" is another build than the one that ran: its names and types are not used.",
                  " are other builds than those that ran: their names and types are not used."},
    [GONE] = {" is gone since the run: its code is known by address only.",
              " are gone since the run: their code is known by address only."},
    [UNREADABLE] = {" may not be read: its code is known by address only.", " may not be read: their code is known by address only."},
    [NO_ELF] = {" is no x86-64 ELF file (any more): its code is known by address only.",
                " are no x86-64 ELF files (any more): their code is known by address only."},
    [DOUBTFUL] = {" was written after the run began and has no build-id that would show whether it is the same: if it was built "
                  "anew, names, lines and types are wrong.",
                  " were written after the run began and have no build-id that would show whether they are the same: if they were "
                  "built anew, names, lines and types are wrong."},
};

static void module_note(struct lwp_profile *profile, const struct module_weight *modules, uint32_t count, enum trouble trouble)
{
    char names[NOTE_TEXT];
    size_t used = 0;
    uint32_t found = 0;
    names[0] = '\0';
    for (uint32_t i = 0; i < count; i++) {
        const char *path = modules[i].module->path;
        if (!module_has(profile, modules[i].module, trouble) || (found++ >= NOTE_MODULES || used + strlen(path) + 3 > sizeof names))
            continue;
        used += (size_t)snprintf(names + used, sizeof names - used, used ? ", %s" : "%s", path);
    }
    if (found > NOTE_MODULES)
        lwp_profile_note(profile, "%s and %u more%s", names, found - NOTE_MODULES, notes[trouble].many);
    else if (found)
        lwp_profile_note(profile, "%s%s", names, found == 1 ? notes[trouble].one : notes[trouble].many);
}

static void module_note_missing(struct lwp_profile *profile, const struct lwp_module *module)
{
    if (module->units_missing)
        lwp_profile_note(profile,
                         "%s: the debug info of %u compile units was not found, or cannot be read (.dwo files or a .dwp, the first is "
                         "'%s'): types are not known there.",
                         module->path, module->units_missing, module->missing);
    else if (module->missing)
        lwp_profile_note(profile,
                         "%s: a part of its debug info is in '%s' (made by dwz), which was not found: many types are "
                         "not known. It comes with the debug package.",
                         module->path, module->missing);
}

/* Nobody compiles a library of the system for its names. */
static void module_note_hottest(struct lwp_profile *profile, const struct lwp_module *module)
{
    if (module->file != LWP_FILE_READ)
        return;
    if (module->debug_info == LWP_DEBUG_NONE || module->debug_info == LWP_DEBUG_SYMBOLS)
        lwp_profile_note(profile,
                         "%s, where most of the time goes, has no debug info: types are not known and fields only by "
                         "offset. %s to see names.",
                         module->path, lwp_path_is_system_library(module->path) ? "Install its debug package" : "Compile it with -g");
}

static void module_notes(struct lwp_profile *profile)
{
    uint32_t all = lwp_code_module_count(profile->code), count = 0;
    struct module_weight *modules = lwp_arena_alloc(profile->arena, all + 1, sizeof *modules);
    double *weights = lwp_arena_alloc(profile->arena, all + 1, sizeof *weights);
    for (size_t i = 0; i < profile->region_count; i++)
        if (profile->regions[i].same_as == i && profile->regions[i].module < all)
            weights[profile->regions[i].module] += profile->regions[i].weight.weight;
    for (uint32_t i = 0; i < all; i++)
        if (weights[i] > 0)
            modules[count++] = (struct module_weight){lwp_code_module_info(profile->code, i), weights[i]};
    if (!count)
        return;
    qsort(modules, count, sizeof *modules, module_compare);
    for (enum trouble trouble = 0; trouble < TROUBLES; trouble++)
        module_note(profile, modules, count, trouble);
    for (uint32_t i = 0; i < count; i++)
        module_note_missing(profile, modules[i].module);
    module_note_hottest(profile, modules[0].module);
}

/* ---- the run ---- */

/* Instructions, some tenths of a second: to start a program takes milliseconds. */
static const uint64_t run_brief = 1000000000;

static const char *run_time(struct lwp_profile *profile, double ns)
{
    return ns < 100e6 ? lwp_arena_printf(profile->arena, "%.2g ms", ns * 1e-6) : lwp_arena_printf(profile->arena, "%.2g s", ns * 1e-9);
}

static void run_note_brief(struct lwp_profile *profile)
{
    const double kernel = lwp_gain_kernel(profile), millions = (double)profile->instructions * 1e-6;
    const char *native = "";
    if (profile->native_instructions)
        native = lwp_arena_printf(profile->arena, " (copies of the program ran %.0f %% of it without Valgrind, in %s)",
                                  100 * fmin(1, (double)profile->native_instructions / (double)profile->instructions),
                                  run_time(profile, (double)profile->native_ns));
    if (kernel > 0)
        lwp_profile_note(
            profile,
            "The run has %.3g million instructions: a fraction of a second without Valgrind. What the kernel does for a program "
            "is not traced. That is at least %s here (start: %s, %llu page faults of %.2g us), which no other layout or "
            "search saves. Gains of searches are of the whole, and as uncertain as how long the traced part takes%s; those of "
            "layouts are of the traced part. Trace more work to see what a longer run gains.",
            millions, run_time(profile, kernel), run_time(profile, (double)profile->starts * (double)profile->start_ns),
            (unsigned long long)profile->page_faults, (double)profile->page_fault_ns * 1e-3, native);
    else
        lwp_profile_note(
            profile,
            "The run has %.3g million instructions: a fraction of a second without Valgrind. What the kernel does for a program "
            "(starting it, page faults, system calls) is not traced; of so short a run that may be most of the time, and it then "
            "gains less than is predicted. Trace more work to see what a longer one gains.",
            millions);
}

static void run_spinning(struct lwp_profile *profile)
{
    static const double much = 0.1;
    const double share = lwp_gain_spinning(profile);
    if (share > much)
        lwp_profile_note(
            profile,
            "%.0f %% of the CPU time is threads waiting for each other in the OpenMP runtime: loops share their work unevenly, "
            "or one thread works alone meanwhile. That part shrinks with what they wait for; predicted gains are of the CPU "
            "time, and the time on the clock may gain more or less.",
            100 * share);
}

static void run_measured(struct lwp_profile *profile)
{
    const struct lwp_engine_row *engine = lwp_engine_row(profile->engine);
    const struct lwp_unit_row *unit = lwp_unit_row(profile->weight_unit);
    double cpu = (double)(profile->user_ns + profile->system_ns);
    if (profile->samples == 0 && !profile->communication.measured)
        lwp_profile_note(profile, "No samples were taken: the program ran too briefly or hardly used the processor. Let "
                                  "it run for a few seconds of CPU time, or sample more (" LWP_SAMPLE_MORE ").");
    else if (profile->samples && profile->samples < 300)
        lwp_profile_note(profile,
                         "Only %llu samples were taken: shares are rough. Let the program run longer or sample more "
                         "(" LWP_SAMPLE_MORE ").",
                         (unsigned long long)profile->samples);
    if (engine->cpu_time && cpu > 0 && (double)profile->system_ns > 0.15 * cpu)
        lwp_profile_note(profile,
                         "%.0f %% of the CPU time was spent in the kernel (page faults, system calls). Shares are of the other time; "
                         "gains are of both.",
                         100 * (double)profile->system_ns / cpu);
    run_spinning(profile);
    if (profile->watchpoints.beyond)
        lwp_profile_note(profile, "There were too many different pairs of accesses: the last ones are not reported.");
    if (engine->note)
        lwp_profile_note(profile, "%s", engine->note);
    if (engine->exact && profile->instructions && profile->instructions < run_brief)
        run_note_brief(profile);
    if (engine->note_of_weights && profile->samples)
        lwp_profile_note(profile, "%s", engine->note_of_weights);
    if (unit->note)
        lwp_profile_note(profile, "%s", unit->note);
}

static void run_unknown(struct lwp_profile *profile)
{
    if (profile->unknown_weight > 0.1 * profile->total.weight)
        lwp_profile_note(profile, "For %.0f %% of the cost the instruction is unknown.",
                         100 * profile->unknown_weight / profile->total.weight);
    double lost = 0;
    for (size_t i = 0; i < profile->object_count; i++)
        if (profile->objects[i].kind == LWP_OBJECT_UNKNOWN)
            lost += profile->objects[i].weight.weight;
    if (lost > 0.1 * profile->total.weight)
        lwp_profile_note(profile,
                         "%.0f %% of the cost is on accesses whose address or data object is unknown; other "
                         "objects may be hotter than they look.",
                         100 * lost / profile->total.weight);
    if (!profile->machine.line_bytes || !profile->machine.l2_bytes)
        lwp_profile_note(profile, "The machine's caches are not known: 64-byte lines, 1 MiB of L2 and 16 MiB of L3 were "
                                  "assumed.");
    else if (!profile->machine.l3_bytes)
        lwp_profile_note(profile, "The machine's third-level cache is not known: one of 16 MiB was assumed.");
}

/* Why there is nothing about redundant stores and loads. */
static void run_no_redundancy(struct lwp_profile *profile)
{
    if (!lwp_profile_detected(profile, LWP_DETECT_REDUNDANCY, false))
        lwp_profile_note(profile, "Redundant stores and loads were not measured: that takes lwp collect --detect redundancy.");
    else if (!profile->samples_with_address)
        lwp_profile_note(profile, "Of redundant stores and loads nothing is known: no access was sampled with its address.");
    else if (!lwp_profile_is_noted(profile, LWPS_NOTE_NO_BREAKPOINTS))
        lwp_profile_note(profile, "Of redundant stores and loads nothing is known: no sampled access got a watchpoint; it is not possible "
                                  "with this engine, or no hardware breakpoint was available (lwp doctor).");
}

void lwp_findings_notes(struct lwp_profile *profile, const struct lwp_answers *answers)
{
    run_measured(profile);
    run_unknown(profile);
    module_notes(profile);
    if (!answers->locality.measured)
        lwp_profile_note(profile, "Reuse distances and what caches keep were not measured: that takes a full trace "
                                  "(lwp collect -e exact --detect locality).");
    if (!profile->watchpoints.origin_count)
        run_no_redundancy(profile);
}
