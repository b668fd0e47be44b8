#include "collector/outside/process/mappings.h"

#include "base/arena.h"
#include "base/order.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAPPINGS_MAX = 1 << 20 };

static bool mapping_is_file(const char *path)
{
    return path[0] == '/' && path[1] != '/' && strncmp(path, "/memfd:", 7) && strncmp(path, "/dev/zero", 9) && strncmp(path, "/SYSV", 5) &&
           strncmp(path, "/anon_hugepage", 14);
}

/* "start-end rwxp offset major:minor inode   path" */
static bool mapping_parse(char *line, struct lwp_mapping *mapping)
{
    char rights[5];
    int path = 0;
    line[strcspn(line, "\n")] = '\0';
    if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*s %*s %n", &mapping->start, &mapping->end, rights, &mapping->offset,
               &path) != 4 ||
        !path || strlen(rights) != 4)
        return false;
    mapping->read = rights[0] == 'r';
    mapping->write = rights[1] == 'w';
    mapping->execute = rights[2] == 'x';
    mapping->shared = rights[3] == 's';
    mapping->file = mapping_is_file(line + path);
    mapping->path = lwp_allocated(strdup(line + path));
    return true;
}

bool lwp_mappings_read(struct lwp_mappings *mappings, pid_t pid)
{
    char path[32], *line = NULL;
    size_t room = 0;
    struct lwp_mappings now = {0};
    snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
    FILE *maps = fopen(path, "re");
    if (!maps)
        return false;
    while (now.count < MAPPINGS_MAX && getline(&line, &room, maps) > 0) {
        struct lwp_mapping mapping = {0};
        if (!mapping_parse(line, &mapping))
            continue;
        LWP_GROW(&now.items, now.count, &now.room);
        now.items[now.count++] = mapping;
    }
    free(line);
    fclose(maps);
    if (!now.count) /* a zombie's */
        return false;
    lwp_mappings_free(mappings);
    *mappings = now;
    return true;
}

static void mapping_append(struct lwp_mappings *mappings, const struct lwp_mapping *mapping, uint64_t start, uint64_t end)
{
    if (start >= end || mappings->count >= MAPPINGS_MAX)
        return;
    struct lwp_mapping part = *mapping;
    part.offset += start - mapping->start;
    part.start = start;
    part.end = end;
    part.file = mapping_is_file(mapping->path);
    part.path = lwp_allocated(strdup(mapping->path));
    LWP_APPEND(&mappings->items, &mappings->count, &mappings->room, part);
}

void lwp_mappings_put(struct lwp_mappings *mappings, const struct lwp_mapping *mapping)
{
    struct lwp_mappings now = {0};
    size_t i = 0;
    for (; i < mappings->count && mappings->items[i].start < mapping->start; i++) {
        const struct lwp_mapping *before = &mappings->items[i];
        mapping_append(&now, before, before->start, before->end < mapping->start ? before->end : mapping->start);
    }
    mapping_append(&now, mapping, mapping->start, mapping->end);
    for (i -= i > 0; i < mappings->count; i++) {
        const struct lwp_mapping *after = &mappings->items[i];
        mapping_append(&now, after, after->start > mapping->end ? after->start : mapping->end, after->end);
    }
    lwp_mappings_free(mappings);
    *mappings = now;
}

void lwp_mappings_copy(struct lwp_mappings *to, const struct lwp_mappings *from)
{
    *to = (struct lwp_mappings){0};
    for (size_t i = 0; i < from->count; i++)
        mapping_append(to, &from->items[i], from->items[i].start, from->items[i].end);
}

void lwp_mappings_free(struct lwp_mappings *mappings)
{
    for (size_t i = 0; i < mappings->count; i++)
        free(mappings->items[i].path);
    free(mappings->items);
    *mappings = (struct lwp_mappings){0};
}

struct lwp_mapping *lwp_mappings_at(const struct lwp_mappings *mappings, uint64_t address)
{
    const size_t ended = LWP_COUNT_UP_TO(mappings->items, mappings->count, end, address);
    return ended < mappings->count && mappings->items[ended].start <= address ? &mappings->items[ended] : NULL;
}
