#include "collector/outside/mappings.h"

#include "base/arena.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAPPINGS_MAX = 1 << 20 };

/* "start-end rwxp offset major:minor inode   path" */
static bool mapping_parse(char *line, struct lwp_mapping *mapping)
{
    char rights[5];
    int path = 0;
    line[strcspn(line, "\n")] = '\0';
    if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*s %*s %n", &mapping->start, &mapping->end, rights, &mapping->offset,
               &path) != 4 || !path || strlen(rights) != 4)
        return false;
    mapping->read = rights[0] == 'r';
    mapping->write = rights[1] == 'w';
    mapping->execute = rights[2] == 'x';
    mapping->shared = rights[3] == 's';
    mapping->file = line[path] == '/' && line[path + 1] != '/' && strncmp(line + path, "/memfd:", 7) && strncmp(line + path, "/dev/zero", 9) &&
                    strncmp(line + path, "/SYSV", 5) && strncmp(line + path, "/anon_hugepage", 14);
    mapping->path = lwp_allocated(strdup(line + path));
    return true;
}

static void mappings_keep_uses(struct lwp_mappings *mappings, const struct lwp_mappings *before)
{
    size_t at = 0;
    for (size_t i = 0; i < mappings->count; i++) {
        struct lwp_mapping *mapping = &mappings->items[i];
        while (at < before->count && before->items[at].start < mapping->start)
            at++;
        if (at < before->count && before->items[at].start == mapping->start && strcmp(before->items[at].path, mapping->path) == 0)
            mapping->use = before->items[at].use;
    }
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
    mappings_keep_uses(&now, mappings);
    lwp_mappings_free(mappings);
    *mappings = now;
    return true;
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
    size_t from = 0, to = mappings->count;
    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (mappings->items[middle].end <= address)
            from = middle + 1;
        else
            to = middle;
    }
    return from < mappings->count && mappings->items[from].start <= address ? &mappings->items[from] : NULL;
}
