/* The profile's life and its notes. */
#include "analysis/profile.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NOTES_MAX = 64, NOTE_TEXT = 600 };

void lwp_profile_init(struct lwp_profile *profile)
{
    *profile = (struct lwp_profile){.arena = lwp_arena_new(), .random = 0x2545f4914f6cdd1du};
    profile->code = lwp_code_new(profile->arena);
    profile->object_index = lwp_map_new();
    profile->stream_index = lwp_map_new();
    profile->region_index = lwp_map_new();
    profile->context_index = lwp_map_new();
    lwp_walks_init(&profile->walks);
    LWP_GROW(&profile->contexts, profile->context_count, &profile->context_room);
    profile->contexts[profile->context_count++] =
        (struct lwp_context_node){.parent = 0, .module = LWP_NONE}; /* the root is its own parent */
}

void lwp_profile_fini(struct lwp_profile *profile)
{
    for (size_t i = 0; i < profile->stream_count; i++) {
        free(profile->streams[i].fair.offsets);
        free(profile->streams[i].biased.offsets);
    }
    lwp_walks_fini(&profile->walks);
    free(profile->notes);
    free(profile->processes);
    free(profile->objects);
    free(profile->object_streams);
    free(profile->streams);
    free(profile->regions);
    free(profile->contexts);
    lwp_map_free(profile->object_index);
    lwp_map_free(profile->stream_index);
    lwp_map_free(profile->region_index);
    lwp_map_free(profile->context_index);
    json_decref(profile->run);
    lwp_code_free(profile->code);
    lwp_arena_free(profile->arena);
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
    LWP_GROW(&profile->notes, profile->note_count, &profile->note_room);
    profile->notes[profile->note_count++] = lwp_arena_strdup(profile->arena, text);
}
