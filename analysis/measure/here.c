/* Times measured on one machine say nothing about another one. */
#include "analysis/measure/here.h"

#include "base/cpu.h"

#include <string.h>
#include <unistd.h>

bool lwp_measure_is_here(const json_t *run)
{
    const json_t *machine = json_object_get(run, "machine");
    const char *ran_on = json_string_value(json_object_get(run, "host")), *cpu = json_string_value(json_object_get(machine, "cpu"));
    char host[256] = "", name[LWP_CPU_NAME];
    gethostname(host, sizeof host - 1);
    lwp_cpu_name("", name, sizeof name);
    return ran_on && cpu && strcmp(host, ran_on) == 0 && strcmp(name, cpu) == 0 &&
           json_integer_value(json_object_get(machine, "cpus")) == sysconf(_SC_NPROCESSORS_ONLN);
}
