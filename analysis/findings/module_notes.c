/* Notes about modules that carry weight and whose names, lines or types are missing or doubtful: replaced since the
 * run, gone, unreadable, without debug info, or with a part of it lying somewhere else. One note for each kind of
 * trouble, the hottest module first in it. Only times tell whether a file without a build-id is still the one that ran.
 */
#include "analysis/findings/module_notes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

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

static bool module_is_replaced(const struct lwp_profile *profile, const struct lwp_module *module)
{
    (void)profile;
    return module->debug_info == LWP_DEBUG_REPLACED;
}

static bool module_is_gone(const struct lwp_profile *profile, const struct lwp_module *module)
{
    (void)profile;
    return module->file == LWP_FILE_GONE;
}

static bool module_is_unreadable(const struct lwp_profile *profile, const struct lwp_module *module)
{
    (void)profile;
    return module->file == LWP_FILE_UNREADABLE;
}

static bool module_is_odd(const struct lwp_profile *profile, const struct lwp_module *module)
{
    (void)profile;
    return module->file == LWP_FILE_ODD;
}

static bool module_is_doubtful(const struct lwp_profile *profile, const struct lwp_module *module)
{
    struct tm tm = {0};
    const char *started = json_string_value(json_object_get(profile->run, "started"));
    const char *end = started ? strptime(started, "%Y-%m-%dT%H:%M:%S", &tm) : NULL;
    if (!end || module->file != LWP_FILE_READ || module->build_id[0])
        return false;
    return module->changed > timegm(&tm);
}

static const struct {
    bool (*applies)(const struct lwp_profile *profile, const struct lwp_module *module);
    const char *one, *many; /* after the names */
} notes[] = {
    {module_is_replaced, " is another build than the one that ran: its names and types are not used.",
     " are other builds than those that ran: their names and types are not used."},
    {module_is_gone, " is gone since the run: its code is known by address only.",
     " are gone since the run: their code is known by address only."},
    {module_is_unreadable, " may not be read: its code is known by address only.",
     " may not be read: their code is known by address only."},
    {module_is_odd, " is no x86-64 ELF file (any more): its code is known by address only.",
     " are no x86-64 ELF files (any more): their code is known by address only."},
    {module_is_doubtful,
     " was written after the run began and has no build-id that would tell whether it is the same: if it was built "
     "anew, names, lines and types are wrong.",
     " were written after the run began and have no build-id that would tell whether they are the same: if they were "
     "built anew, names, lines and types are wrong."},
};

static void module_note(struct lwp_profile *profile, const struct module_weight *modules, uint32_t count, size_t kind)
{
    char names[NOTE_TEXT];
    size_t used = 0;
    uint32_t found = 0;
    names[0] = '\0';
    for (uint32_t i = 0; i < count; i++) {
        const char *path = modules[i].module->path;
        if (!notes[kind].applies(profile, modules[i].module) ||
            (found++ >= NOTE_MODULES || used + strlen(path) + 3 > sizeof names))
            continue;
        used += (size_t)snprintf(names + used, sizeof names - used, used ? ", %s" : "%s", path);
    }
    if (found > NOTE_MODULES)
        lwp_profile_note(profile, "%s and %u more%s", names, found - NOTE_MODULES, notes[kind].many);
    else if (found)
        lwp_profile_note(profile, "%s%s", names, found == 1 ? notes[kind].one : notes[kind].many);
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

static void module_note_hottest(struct lwp_profile *profile, const struct lwp_module *module)
{
    if (module->file != LWP_FILE_READ)
        return;
    if (module->debug_info == LWP_DEBUG_NONE || module->debug_info == LWP_DEBUG_SYMBOLS)
        lwp_profile_note(profile,
                         "%s, where most of the time goes, has no debug info: types are not known and fields only by "
                         "offset. Compile it with -g to see names.",
                         module->path);
}

void lwp_module_notes(struct lwp_profile *profile)
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
    for (size_t kind = 0; kind < sizeof notes / sizeof *notes; kind++)
        module_note(profile, modules, count, kind);
    for (uint32_t i = 0; i < count; i++)
        module_note_missing(profile, modules[i].module);
    module_note_hottest(profile, modules[0].module);
}
