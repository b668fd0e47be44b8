#include "base/cpu.h"

#include <stdio.h>
#include <string.h>

void lwp_cpu_name(const char *root, char *name, size_t room)
{
    char path[1024], line[512];
    snprintf(path, sizeof path, "%s/proc/cpuinfo", root);
    FILE *file = fopen(path, "re");
    *name = '\0';
    if (!file)
        return;
    while (fgets(line, sizeof line, file)) {
        const char *value = strchr(line, ':');
        if (strncmp(line, "model name", 10) || !value)
            continue;
        value += strspn(value, ": \t");
        snprintf(name, room, "%.*s", (int)strcspn(value, "\n"), value);
        break;
    }
    fclose(file);
}
