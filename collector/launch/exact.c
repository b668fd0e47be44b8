/* The tool is executed directly, with what Valgrind's launcher would set: VALGRIND_LIB, where the tool and Valgrind's
 * preload library are, and VALGRIND_LAUNCHER, which it executes for the program's children. The program sees neither
 * (exact/environment.c). */
#include "collector/launch/exact.h"

#include "base/arena.h"
#include "base/path.h"
#include "collector/launch/launch.h"
#include "collector/launch/preload.h"

#include <assert.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char tool_name[] = "lwp-amd64-linux", tool_path[] = "exact/lwp-amd64-linux";

/* Some files beside the tool are links into Valgrind's package, which may have been removed since lwp was built. */
static bool exact_whole(const char *folder)
{
    static const char *const needed[] = {"launcher", "vgpreload_core-amd64-linux.so", "default.supp"};
    bool whole = true;
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++) {
        char path[PATH_MAX];
        snprintf(path, sizeof path, "%s/%s", folder, needed[i]);
        whole = whole && access(path, R_OK) == 0;
    }
    return whole;
}

char *lwp_exact_find(struct lwp_error *err)
{
    struct lwp_error why = {0};
    char *tool = lwp_path_installed(tool_path, X_OK, &why);
    if (tool) {
        *strrchr(tool, '/') = '\0';
        if (exact_whole(tool))
            return tool;
        free(tool);
        lwp_error_set(err, LWP_ERR_MISSING, "the exact engine needs Valgrind, which is not installed any more: apt install valgrind");
    } else if (why.status != LWP_ERR_MISSING) {
        *err = why;
    } else {
        lwp_error_set(err, LWP_ERR_MISSING,
                      "the exact engine was not built: it needs Valgrind (apt install valgrind, then "
                      "./configure && make)");
    }
    return NULL;
}

/* The data caches as the tool takes them: BYTES:WAYS:LINE,... */
static int exact_caches(const struct lwp_machine *machine, char *text, size_t size, struct lwp_error *err)
{
    enum { LEVELS = 3 };
    size_t used = 0;
    text[0] = '\0';
    for (unsigned i = 0; i < machine->cache_count && i < LEVELS; i++) {
        const struct lwp_machine_cache *cache = &machine->caches[i];
        if (!cache->bytes || !cache->ways || !machine->line_bytes)
            break;
        used += (size_t)snprintf(text + used, size - used, "%s%llu:%u:%u", i ? "," : "", (unsigned long long)cache->bytes, cache->ways,
                                 machine->line_bytes);
    }
    if (used)
        return LWP_OK;
    return lwp_error_set(err, LWP_ERR_MISSING,
                         "collect: the exact engine needs the sizes of the caches, which neither /sys/devices/system/cpu nor the C library "
                         "knows here; give a machine whose caches are known: lwp collect --machine FILE");
}

/* Bytes of the program's stack: Valgrind's default is at most 8 MiB. */
static unsigned long long exact_stack(void)
{
    static const rlim_t most = (rlim_t)1 << 30;
    const rlim_t limit = lwp_launch_stack();
    return limit < most ? limit : most;
}

/* The tool's option for a detector: yes or no, or how much is asked for. */
static char *exact_detector(const struct lwp_settings *settings, const struct lwp_detect_name *row)
{
    bool on = settings->detect & row->bit;
    const char *name = row->bit == LWP_DETECT_LAYOUT ? "sample" : row->bit == LWP_DETECT_LOCALITY ? "trace" : row->name;
    if (row->bit == LWP_DETECT_COMMUNICATION || row->bit == LWP_DETECT_VALUES)
        return lwp_format("--lwp-%s=%u", name, !on ? 0 : row->bit == LWP_DETECT_VALUES ? settings->value_history : settings->granule_bytes);
    return lwp_format("--lwp-%s=%s", name, on ? "yes" : "no");
}

char **lwp_exact_command(const struct lwp_settings *settings, const struct lwp_machine *machine, const char *dir, const char *folder,
                         char *const *command, struct lwp_error *err)
{
    enum { OPTIONS_MAX = 40 };
    static const char *const fixed[] = {"-q",
                                        "--command-line-only=yes",
                                        "--tool=lwp",
                                        "--vgdb=no",
                                        "--fair-sched=yes",
                                        "--read-inline-info=no",
                                        "--sigill-diagnostics=yes",
                                        "--run-libc-freeres=no",
                                        "--run-cxx-freeres=no"};
    const struct {
        const char *name;
        unsigned long long value;
    } numbers[] = {{"--lwp-heap-threshold", settings->heap_threshold},
                   {"--lwp-on", settings->window_on},
                   {"--lwp-off", settings->window_off},
                   {"--lwp-page-fault", machine->page_fault_ns},
                   {"--main-stacksize", exact_stack()}};
    const struct {
        const char *name;
        bool yes;
    } flags[] = {{"--lwp-follow", settings->follow},
                 {"--lwp-grow", settings->window_grows},
                 {"--lwp-copies", !lwp_options_flag(settings->options, "no-measure")},
                 {"--lwp-windows", settings->windows},
                 {"--trace-children", settings->follow}};
    char caches[256];
    size_t arguments = 0, used = 0;
    if (exact_caches(machine, caches, sizeof caches, err))
        return NULL;
    while (command[arguments])
        arguments++;
    char **list = lwp_zeroed(arguments + OPTIONS_MAX, sizeof *list);
    list[used++] = lwp_format("%s/%s", folder, tool_name);
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
        list[used++] = lwp_format("%s", fixed[i]);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        list[used++] = lwp_format("%s=%llu", numbers[i].name, numbers[i].value);
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        list[used++] = lwp_format("%s=%s", flags[i].name, flags[i].yes ? "yes" : "no");
    for (const struct lwp_detect_name *row = lwp_detect_names; row->name; row++)
        if (row->bit != LWP_DETECT_SHARING) /* of the timer engine only */
            list[used++] = exact_detector(settings, row);
    list[used++] = lwp_format("--lwp-dir=%s", dir);
    list[used++] = lwp_format("--lwp-caches=%s", caches);
    list[used++] = lwp_format("--lwp-close=%.6f", settings->approx);
    if (settings->allocators)
        list[used++] = lwp_format("--lwp-allocator=%s", settings->allocators);
    if (settings->region)
        list[used++] = lwp_format("--lwp-region=%s", settings->region);
    list[used++] = lwp_format("--log-file=%s/%s%%p", dir, LWP_EXACT_LOG);
    list[used++] = lwp_format("--");
    assert(used <= OPTIONS_MAX);
    for (size_t i = 0; i < arguments; i++)
        list[used++] = lwp_format("%s", command[i]);
    return list;
}

/* The folder's name padded with slashes to a common length: the addresses of the program's stack depend on the size of its
 * environment, and should not depend on where lwp is installed. */
static void exact_even(const char *folder, char *even)
{
    enum { EVEN = 256 };
    size_t length = strlen(folder), more = (EVEN - length % EVEN) % EVEN;
    memset(even, '/', more);
    memcpy(even + more, folder, length + 1);
}

/* Only one thread runs at a time under Valgrind: OpenMP's threads must not spin. Shells set _ to what they execute. */
char **lwp_exact_environment(char *const *from, const char *folder, const char *program)
{
    char *settings[5] = {NULL}, even[2 * PATH_MAX];
    size_t count = 0;
    exact_even(folder, even);
    settings[count++] = lwp_format("VALGRIND_LIB=%s", even);
    settings[count++] = lwp_format("VALGRIND_LAUNCHER=%s/launcher", folder);
    if (!getenv("OMP_WAIT_POLICY"))
        settings[count++] = lwp_format("OMP_WAIT_POLICY=passive");
    if (getenv("_"))
        settings[count++] = lwp_format("_=%s", program);
    char **environment = lwp_preload_environment(from, NULL, settings);
    while (count)
        free(settings[--count]);
    return environment;
}
