/* Times measured on one machine say nothing about another one. */
#include "analysis/measure/here.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* As "machine": {"cpu"} of run.json has it. */
static void here_cpu(char *name, size_t room)
{
    char line[512];
    FILE *file = fopen("/proc/cpuinfo", "re");
    *name = '\0';
    while (file && fgets(line, sizeof line, file)) {
        const char *value = strchr(line, ':');
        if (strncmp(line, "model name", 10) || !value)
            continue;
        value += strspn(value, ": \t");
        snprintf(name, room, "%.*s", (int)strcspn(value, "\n"), value);
        break;
    }
    if (file)
        fclose(file);
}

bool lwp_measure_is_here(const json_t *run)
{
    const json_t *machine = json_object_get(run, "machine");
    const char *ran_on = json_string_value(json_object_get(run, "host")), *cpu = json_string_value(json_object_get(machine, "cpu"));
    char host[256] = "", name[256];
    gethostname(host, sizeof host - 1);
    here_cpu(name, sizeof name);
    return ran_on && cpu && strcmp(host, ran_on) == 0 && strcmp(name, cpu) == 0 &&
           json_integer_value(json_object_get(machine, "cpus")) == sysconf(_SC_NPROCESSORS_ONLN);
}
