/* The machine as the kernel describes it in /proc/cpuinfo and sysfs, or where sysfs has no caches, as the C library does. Caches are those
 * of the first online CPU: on hybrid processors the other cores may have different ones. */
#include "collector/machine/machine.h"

#include <cpuid.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MACHINE_CPUS_MAX = 8192 };

static bool machine_text(const char *root, const char *path, char *text, size_t size)
{
    char full[1024];
    snprintf(full, sizeof full, "%s/%s", root, path);
    FILE *file = fopen(full, "re");
    if (!file)
        return false;
    bool read = fgets(text, (int)size, file) != NULL;
    fclose(file);
    if (read)
        text[strcspn(text, "\n")] = '\0';
    return read;
}

static unsigned long machine_number(const char *root, const char *folder, const char *name, char *unit)
{
    char path[256], text[64], *end;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (!machine_text(root, path, text, sizeof text))
        return 0;
    unsigned long number = strtoul(text, &end, 10);
    if (unit)
        *unit = *end;
    return number;
}

/* Calls `each` for every number of a kernel list like "0-3,8"; returns how many there are. */
static unsigned machine_list(const char *list, void (*each)(unsigned number, void *to), void *to)
{
    unsigned count = 0;
    while (*list >= '0' && *list <= '9') {
        char *end;
        unsigned long first = strtoul(list, &end, 10), last = first;
        if (*end == '-')
            last = strtoul(end + 1, &end, 10);
        if (first > last || last >= MACHINE_CPUS_MAX)
            break;
        count += (unsigned)(last - first + 1);
        for (unsigned long i = first; each && i <= last; i++)
            each((unsigned)i, to);
        list = *end == ',' ? end + 1 : end;
    }
    return count;
}

struct machine_cores {
    const char *root;
    uint8_t *online; /* each CPU */
    uint64_t *seen;  /* package and core id of each core found */
    unsigned count;
    bool unknown;
    unsigned first_cpu;
};

static void machine_count_core(unsigned cpu, void *to)
{
    struct machine_cores *cores = to;
    char path[128], package[32], core[32];
    if (cores->first_cpu > cpu)
        cores->first_cpu = cpu;
    cores->online[cpu] = 1;
    snprintf(path, sizeof path, "sys/devices/system/cpu/cpu%u/topology/physical_package_id", cpu);
    bool known = machine_text(cores->root, path, package, sizeof package);
    snprintf(path, sizeof path, "sys/devices/system/cpu/cpu%u/topology/core_id", cpu);
    known = known && machine_text(cores->root, path, core, sizeof core);
    if (!known) {
        cores->unknown = true;
        return;
    }
    uint64_t id = (uint64_t)strtoul(package, NULL, 10) << 32 | (uint32_t)strtoul(core, NULL, 10);
    for (unsigned i = 0; i < cores->count; i++)
        if (cores->seen[i] == id)
            return;
    cores->seen[cores->count++] = id;
}

static void machine_cores(struct lwp_machine *machine, const char *root, unsigned *first_cpu, uint8_t cpus[MACHINE_CPUS_MAX])
{
    char online[4096];
    struct machine_cores cores = {.root = root, .first_cpu = MACHINE_CPUS_MAX, .online = cpus};
    if (machine_text(root, "sys/devices/system/cpu/online", online, sizeof online)) {
        cores.seen = calloc(1 + machine_list(online, NULL, NULL), sizeof *cores.seen);
        machine->cpus = machine_list(online, cores.seen ? machine_count_core : NULL, &cores);
        free(cores.seen);
    }
    if (machine->cpus == 0 && *root == '\0') {
        long count = sysconf(_SC_NPROCESSORS_ONLN);
        machine->cpus = count > 0 ? (unsigned)count : 1;
    }
    machine->cores = cores.unknown || cores.count == 0 ? machine->cpus : cores.count;
    *first_cpu = cores.first_cpu == MACHINE_CPUS_MAX ? 0 : cores.first_cpu;
}

static void machine_cover(unsigned cpu, void *to)
{
    ((uint8_t *)to)[cpu] = 2;
}

/* The CPUs of each cache like this one: each file that is read stands for all CPUs in it. */
static void machine_groups(struct lwp_machine_cache *cache, const char *root, unsigned index, const uint8_t online[MACHINE_CPUS_MAX])
{
    uint8_t cpus[MACHINE_CPUS_MAX];
    size_t length = 0;
    memcpy(cpus, online, sizeof cpus);
    for (unsigned cpu = 0; cpu < MACHINE_CPUS_MAX; cpu++) {
        char path[128], list[1024];
        if (cpus[cpu] != 1)
            continue;
        snprintf(path, sizeof path, "sys/devices/system/cpu/cpu%u/cache/index%u/shared_cpu_list", cpu, index);
        cpus[cpu] = 2;
        if (!machine_text(root, path, list, sizeof list) || !machine_list(list, machine_cover, cpus) ||
            length + strlen(list) + 2 > sizeof cache->groups) {
            *cache->groups = '\0';
            return;
        }
        length += (size_t)sprintf(cache->groups + length, "%s%s", length ? ";" : "", list);
    }
}

static void machine_cache(struct lwp_machine *machine, const char *root, unsigned cpu, unsigned index, const uint8_t *online)
{
    char folder[128];
    snprintf(folder, sizeof folder, "sys/devices/system/cpu/cpu%u/cache/index%u", cpu, index);
    char path[256], type[32], unit = 0, list[4096];
    snprintf(path, sizeof path, "%s/type", folder);
    if (!machine_text(root, path, type, sizeof type) || strcmp(type, "Instruction") == 0)
        return;
    struct lwp_machine_cache cache = {.level = (unsigned)machine_number(root, folder, "level", NULL),
                                      .bytes = machine_number(root, folder, "size", &unit),
                                      .ways = (unsigned)machine_number(root, folder, "ways_of_associativity", NULL)};
    if (unit == 'K')
        cache.bytes <<= 10;
    else if (unit == 'M')
        cache.bytes <<= 20;
    if (cache.level == 0 || cache.bytes == 0)
        return;
    snprintf(path, sizeof path, "%s/shared_cpu_list", folder);
    if (machine_text(root, path, list, sizeof list))
        cache.shared_by = machine_list(list, NULL, NULL);
    if (machine->line_bytes == 0)
        machine->line_bytes = (unsigned)machine_number(root, folder, "coherency_line_size", NULL);
    unsigned at = machine->cache_count;
    if (at == LWP_CACHES_MAX)
        return;
    machine_groups(&cache, root, index, online);
    for (; at > 0 && machine->caches[at - 1].level > cache.level; at--)
        machine->caches[at] = machine->caches[at - 1];
    machine->caches[at] = cache;
    machine->cache_count++;
}

/* By what the processor itself says, as in virtual machines that hide how caches are shared. A third level whose ways are not known is the
 * sum of several on some processors: left out. */
static void machine_ask_library(struct lwp_machine *machine)
{
    static const struct {
        unsigned level;
        int bytes, ways, line;
    } names[] = {{1, _SC_LEVEL1_DCACHE_SIZE, _SC_LEVEL1_DCACHE_ASSOC, _SC_LEVEL1_DCACHE_LINESIZE},
                 {2, _SC_LEVEL2_CACHE_SIZE, _SC_LEVEL2_CACHE_ASSOC, _SC_LEVEL2_CACHE_LINESIZE},
                 {3, _SC_LEVEL3_CACHE_SIZE, _SC_LEVEL3_CACHE_ASSOC, _SC_LEVEL3_CACHE_LINESIZE}};
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        const long bytes = sysconf(names[i].bytes), ways = sysconf(names[i].ways), line = sysconf(names[i].line);
        if (bytes <= 0 || ways <= 0 || line <= 0)
            continue;
        machine->line_bytes = (unsigned)line;
        machine->caches[machine->cache_count++] =
            (struct lwp_machine_cache){.level = names[i].level, .bytes = (uint64_t)bytes, .ways = (unsigned)ways};
    }
}

static unsigned machine_nodes(const char *root)
{
    char online[4096];
    if (!machine_text(root, "sys/devices/system/node/online", online, sizeof online))
        return 1; /* a kernel without NUMA */
    unsigned nodes = machine_list(online, NULL, NULL);
    return nodes ? nodes : 1;
}

void lwp_machine_read(struct lwp_machine *machine, const char *root)
{
    *machine = (struct lwp_machine){0};
    lwp_cpu_name(root, machine->cpu, sizeof machine->cpu);
    unsigned first_cpu;
    uint8_t online[MACHINE_CPUS_MAX] = {0};
    machine_cores(machine, root, &first_cpu, online);
    for (unsigned i = 0; i < 2 * LWP_CACHES_MAX; i++)
        machine_cache(machine, root, first_cpu, i, online);
    if (machine->cache_count == 0 && *root == '\0')
        machine_ask_library(machine);
    if (machine->line_bytes == 0 && *root == '\0') { /* sysfs hidden, as in some sandboxes: ask the processor */
        unsigned a, b, c, d;
        if (__get_cpuid(1, &a, &b, &c, &d))
            machine->line_bytes = (b >> 8 & 0xff) * 8;
    }
    long page = sysconf(_SC_PAGESIZE);
    machine->page_bytes = page > 0 ? (unsigned)page : 4096;
    struct timespec tick;
    if (clock_getres(CLOCK_MONOTONIC_COARSE, &tick) == 0)
        machine->tick_ns = (unsigned)tick.tv_nsec;
    machine->numa_nodes = machine_nodes(root);
}
