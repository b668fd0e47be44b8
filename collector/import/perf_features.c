/* The description of the recording in a perf.data file: events and their names, host, command, build ids. */
#include "collector/import/perf_reading.h"

#include "base/arena.h"

#include <stdlib.h>
#include <string.h>

enum { IDS_MAX = 1 << 20, BUILD_IDS_MAX = 1 << 18 };

/* Features (tools/perf/util/header.h). */
enum {
    FEATURE_BUILD_ID = 2,
    FEATURE_HOST = 3,
    FEATURE_CPU = 8,
    FEATURE_COMMAND = 11,
    FEATURE_EVENTS = 12,
};

void lwp_perf_text(char *to, size_t room, const uint8_t *from, size_t size)
{
    size_t length = strnlen((const char *)from, size);
    if (length >= room)
        length = room - 1;
    memcpy(to, from, length);
    to[length] = '\0';
}

bool lwp_perf_add_event(struct lwp_perf_file *file, const uint8_t *attr, size_t bytes, const uint8_t *ids,
                        size_t id_bytes)
{
    if (file->event_count == LWP_PERF_EVENTS_MAX)
        return false;
    struct lwp_perf_event *event = &file->events[file->event_count];
    *event = (struct lwp_perf_event){.name = NULL};
    memcpy(&event->attr, attr, bytes < sizeof event->attr ? bytes : sizeof event->attr);
    for (size_t i = 0; i + 8 <= id_bytes && file->id_count < IDS_MAX; i += 8, file->id_count++)
        *lwp_map_at(&file->ids, lwp_u64_at(ids + i)) = (uint32_t)file->event_count;
    file->event_count++;
    return true;
}

void lwp_perf_name_event(struct lwp_perf_file *file, size_t index, const uint8_t *text, size_t size)
{
    if (index >= file->event_count)
        return;
    lwp_perf_text(file->names[index], sizeof *file->names, text, size);
    file->events[index].name = file->names[index];
}

const struct lwp_perf_event *lwp_perf_event_of(const struct lwp_perf_file *file, uint64_t id)
{
    uint32_t index = id ? lwp_map_get(&file->ids, id) : LWP_MAP_NONE;
    if (index == LWP_MAP_NONE || index >= file->event_count)
        index = 0; /* one event, or ids not written */
    return file->event_count ? &file->events[index] : NULL;
}

/* "u32 length, text". Returns the rest. */
static struct lwp_perf_bytes perf_feature_text(struct lwp_perf_bytes from, char *to, size_t room)
{
    if (from.size < 4)
        return (struct lwp_perf_bytes){NULL, 0};
    struct lwp_perf_bytes text = lwp_perf_part(from, 4, lwp_u32_at(from.at));
    if (to)
        lwp_perf_text(to, room, text.at, text.size);
    return lwp_perf_part(from, 4 + text.size, from.size);
}

static void perf_command(struct lwp_perf_about *about, struct lwp_perf_bytes from)
{
    uint32_t count = from.size >= 4 ? lwp_u32_at(from.at) : 0;
    from = lwp_perf_part(from, 4, from.size);
    about->command_bytes = 0;
    for (uint32_t i = 0; i < count && from.size >= 4; i++) {
        char word[1024];
        from = perf_feature_text(from, word, sizeof word);
        size_t bytes = strlen(word) + 1;
        if (about->command_bytes + bytes > sizeof about->command)
            break;
        memcpy(about->command + about->command_bytes, word, bytes);
        about->command_bytes += bytes;
    }
}

/* nr, attr size, then for each event: attr, number of ids, name, ids. */
static void perf_event_names(struct lwp_perf_file *file, struct lwp_perf_bytes from)
{
    if (from.size < 8)
        return;
    uint32_t count = lwp_u32_at(from.at), attr_bytes = lwp_u32_at(from.at + 4);
    from = lwp_perf_part(from, 8, from.size);
    for (uint32_t i = 0; i < count && i < LWP_PERF_EVENTS_MAX; i++) {
        from = lwp_perf_part(from, attr_bytes, from.size);
        if (from.size < 8)
            return;
        uint32_t ids = lwp_u32_at(from.at);
        from = lwp_perf_part(from, 4, from.size);
        struct lwp_perf_bytes text = lwp_perf_part(from, 4, lwp_u32_at(from.at));
        lwp_perf_name_event(file, i, text.at, text.size);
        from = lwp_perf_part(from, 4 + text.size, from.size);
        from = lwp_perf_part(from, 8 * (uint64_t)ids, from.size);
    }
}

void lwp_perf_add_build_id(struct lwp_perf_file *file, uint16_t misc, struct lwp_perf_bytes from)
{
    enum { HAS_SIZE = 1 << 15, HEAD = 4 + 24 };
    if (from.size <= HEAD || file->build_id_count >= BUILD_IDS_MAX)
        return;
    struct lwp_perf_build_id id = {.count = misc & HAS_SIZE ? from.at[4 + 20] : 20};
    if (id.count > sizeof id.bytes)
        id.count = sizeof id.bytes;
    memcpy(id.bytes, from.at + 4, id.count);
    char path[LWP_PERF_TEXT_MAX];
    lwp_perf_text(path, sizeof path, from.at + HEAD, from.size - HEAD);
    LWP_GROW(&file->build_id_list, file->build_id_count, &file->build_id_room);
    *lwp_map_at(&file->build_ids, lwp_hash_text(path)) = (uint32_t)file->build_id_count;
    file->build_id_list[file->build_id_count++] = id;
}

static void perf_build_ids(struct lwp_perf_file *file, struct lwp_perf_bytes from)
{
    while (from.size >= LWP_PERF_RECORD_HEAD) {
        uint16_t size = lwp_u16_at(from.at + 6);
        if (size < LWP_PERF_RECORD_HEAD || size > from.size)
            return;
        lwp_perf_add_build_id(file, lwp_u16_at(from.at + 4),
                              lwp_perf_part(from, LWP_PERF_RECORD_HEAD, size - LWP_PERF_RECORD_HEAD));
        from = lwp_perf_part(from, size, from.size);
    }
}

void lwp_perf_feature(struct lwp_perf_file *file, unsigned feature, struct lwp_perf_bytes from)
{
    struct lwp_perf_about *about = file->about;
    switch (feature) {
    case FEATURE_BUILD_ID:
        perf_build_ids(file, from);
        break;
    case FEATURE_HOST:
        perf_feature_text(from, about->host, sizeof about->host);
        break;
    case FEATURE_CPU:
        perf_feature_text(from, about->cpu, sizeof about->cpu);
        break;
    case FEATURE_COMMAND:
        perf_command(about, from);
        break;
    case FEATURE_EVENTS:
        perf_event_names(file, from);
        break;
    default:
        break;
    }
}
