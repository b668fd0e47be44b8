/* The profile's life and its notes. */
#include "analysis/profile/profile.h"

#include "analysis/profile/locations.h"
#include "base/pages.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NOTES_MAX = 64, NOTE_TEXT = 600, CONTEXTS_MOST = 1 << 23 };

void lwp_profile_init(struct lwp_profile *profile)
{
    *profile = (struct lwp_profile){.arena = lwp_arena_new(), .code_arena = lwp_arena_new()};
    pthread_mutex_init(&profile->lock, NULL);
    profile->locations = lwp_locations_new();
    profile->code = lwp_code_new(profile->code_arena);
    profile->object_index = lwp_map_new();
    profile->region_index = lwp_map_new();
    profile->context_index = lwp_map_new();
    profile->contexts_most = CONTEXTS_MOST;
    profile->context_depth = UINT32_MAX;
    lwp_traversals_init(&profile->traversals);
    LWP_PUSH(profile->context, (struct lwp_context_node){.parent = 0, .module = LWP_NONE}); /* the root is its own parent */
}

void lwp_profile_fini(struct lwp_profile *profile)
{
    lwp_watchpoint_free(&profile->watchpoints);
    lwp_interaction_free(&profile->interaction);
    lwp_stall_profile_free(&profile->stalls);
    lwp_interrupts_free(&profile->interrupts);
    lwp_locality_counts_free(&profile->locality);
    lwp_object_uses_free(&profile->uses);
    lwp_communication_counts_free(&profile->communication);
    lwp_pages_free(profile->streams, profile->stream_room * sizeof *profile->streams);
    lwp_locations_free(profile->locations);
    pthread_mutex_destroy(&profile->lock);
    lwp_traversals_fini(&profile->traversals);
    lwp_moves_fini(&profile->moves);
    lwp_concurrents_free(&profile->concurrents);
    free(profile->notes);
    free(profile->processes);
    lwp_pages_free(profile->objects, profile->object_room * sizeof *profile->objects);
    free(profile->object_streams);
    free(profile->regions);
    free(profile->contexts);
    lwp_map_free(profile->object_index);
    lwp_map_free(profile->region_index);
    lwp_map_free(profile->context_index);
    json_decref(profile->run);
    json_decref(profile->runs);
    lwp_code_free(profile->code);
    lwp_arena_free(profile->code_arena);
    lwp_arena_free(profile->arena);
}

void lwp_profile_reset(struct lwp_profile *profile)
{
    const unsigned jobs = profile->jobs;
    const size_t contexts_most = profile->contexts_most;
    const struct lwp_hierarchy_plan elsewhere = profile->machines[LWP_MACHINE_ELSEWHERE];
    lwp_profile_fini(profile);
    lwp_profile_init(profile);
    profile->jobs = jobs;
    profile->contexts_most = contexts_most;
    profile->machines[LWP_MACHINE_ELSEWHERE] = elsewhere;
}

bool lwp_profile_detected(const struct lwp_profile *profile, enum lwp_detect detector, bool unsaid)
{
    const char *list = json_string_value(json_object_get(json_object_get(profile->run, "options"), "detect"));
    return list ? strcmp(list, "all") == 0 || lwp_detect_parse(list) & detector : unsaid;
}

bool lwp_profile_is_noted(const struct lwp_profile *profile, const char *begin)
{
    for (size_t i = 0; i < profile->note_count; i++)
        if (strncmp(profile->notes[i], begin, strlen(begin)) == 0)
            return true;
    return false;
}

void lwp_profile_note(struct lwp_profile *profile, const char *format, ...)
{
    char text[NOTE_TEXT];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    for (size_t i = 0; i < profile->note_count; i++)
        if (strcmp(profile->notes[i], text) == 0)
            return;
    if (profile->note_count > NOTES_MAX)
        return;
    if (profile->note_count == NOTES_MAX)
        snprintf(text, sizeof text, "There were more notes than are shown here.");
    LWP_PUSH(profile->note, lwp_arena_strdup(profile->arena, text));
}
