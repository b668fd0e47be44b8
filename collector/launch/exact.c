/* The tool is executed directly, with what Valgrind's launcher would set: VALGRIND_LIB, where the tool and Valgrind's
 * preload library are, and VALGRIND_LAUNCHER, which it executes for the program's children. The program sees neither
 * (exact/environment.c). */
#include "collector/launch/exact.h"

#include "base/path.h"
#include "collector/launch/exact_messages.h"
#include "collector/launch/preload.h"

#include <assert.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { WINDOW_ON = 20000, WINDOW_OFF = 2000000, TRACE_ON = 8000000, TRACE_OFF = 72000000, OPTIONS_MAX = 40 };

static const char tool_name[] = "lwp-amd64-linux", tool_path[] = "exact/lwp-amd64-linux";

/* Of the files beside the tool some are links to where Valgrind's package was when lwp was built. */
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
        lwp_error_set(err, LWP_ERR_MISSING, "the exact engine was not built: it needs Valgrind (apt install valgrind, then "
                                            "./configure && make)");
    }
    return NULL;
}

static const char *window_number(const char *text, uint64_t *value)
{
    char *end;
    double number = strtod(text, &end), scale = *end == 'k' ? 1e3 : *end == 'M' ? 1e6 : *end == 'G' ? 1e9 : 1;
    if (end == text || *text == '-' || !(number * scale >= 1) || number * scale > 1e12)
        return NULL;
    *value = (uint64_t)(number * scale);
    return end + (scale > 1);
}

int lwp_exact_window(const char *text, struct lwp_exact *exact, struct lwp_error *err)
{
    exact->on = exact->trace ? TRACE_ON : WINDOW_ON;
    exact->off = exact->trace ? TRACE_OFF : WINDOW_OFF;
    exact->windows = text && strcmp(text, "all") != 0;
    if (!text)
        return LWP_OK;
    if (strcmp(text, "all") == 0) {
        exact->off = 0;
        return LWP_OK;
    }
    const char *rest = window_number(text, &exact->on);
    if (rest && strcmp(rest, ":fibonacci") == 0) {
        exact->off = exact->on;
        exact->grows = true;
        return LWP_OK;
    }
    rest = rest && *rest == ':' ? window_number(rest + 1, &exact->off) : NULL;
    if (rest && *rest == '\0')
        return LWP_OK;
    return lwp_error_set(err, LWP_ERR_USAGE, "collect: --window takes ON:OFF in instructions, for example 20k:2M, "
                                             "20k:fibonacci, or all");
}

int lwp_exact_approx(const char *text, double *approx, struct lwp_error *err)
{
    char *end;
    double percent = strcmp(text, "on") == 0 ? 1 : strcmp(text, "off") == 0 ? 0 : strtod(text, &end);
    bool word = strcmp(text, "on") == 0 || strcmp(text, "off") == 0;
    *approx = percent / 100;
    if (word || (end > text && (*end == '\0' || strcmp(end, "%") == 0) && percent > 0 && percent < 50))
        return LWP_OK;
    return lwp_error_set(err, LWP_ERR_USAGE, "collect: --approx takes on (1 %%), off, or a number of percent below 50");
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
        used += (size_t)snprintf(text + used, size - used, "%s%llu:%u:%u", i ? "," : "", (unsigned long long)cache->bytes,
                                 cache->ways, machine->line_bytes);
    }
    if (used)
        return LWP_OK;
    return lwp_error_set(err, LWP_ERR_MISSING,
                         "collect: the exact engine needs the sizes of the caches, which /sys/devices/system/cpu does not tell here");
}

/* Bytes of the program's stack: Valgrind gives 8 MiB at most unless told. */
static unsigned long long exact_stack(void)
{
    static const rlim_t most = (rlim_t)1 << 30;
    struct rlimit limit;
    return getrlimit(RLIMIT_STACK, &limit) ? 0 : limit.rlim_cur < most ? limit.rlim_cur : most;
}

char **lwp_exact_command(const struct lwp_exact *exact, const char *folder, char *const *command, struct lwp_error *err)
{
    char caches[256];
    size_t arguments = 0, used = 0;
    if (exact_caches(exact->machine, caches, sizeof caches, err))
        return NULL;
    while (command[arguments])
        arguments++;
    char **list = calloc(arguments + OPTIONS_MAX + 1, sizeof *list);
    if (!list)
        goto memory;
    static const char *const fixed[] = {
        "-q", "--command-line-only=yes", "--tool=lwp", "--vgdb=no", "--fair-sched=yes", "--read-inline-info=no",
        "--sigill-diagnostics=yes", "--run-libc-freeres=no", "--run-cxx-freeres=no"};
    if (asprintf(&list[used++], "%s/%s", folder, tool_name) < 0)
        goto memory;
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
        if (!(list[used++] = strdup(fixed[i])))
            goto memory;
    const struct {
        const char *format;
        unsigned long long value;
    } numbers[] = {{"--lwp-heap-threshold=%llu", exact->heap_threshold},
                   {"--lwp-on=%llu", exact->on},
                   {"--lwp-off=%llu", exact->off},
                   {"--lwp-communication=%llu", exact->communication},
                   {"--lwp-values=%llu", exact->values},
                   {"--main-stacksize=%llu", exact_stack()}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (asprintf(&list[used++], numbers[i].format, numbers[i].value) < 0)
            goto memory;
    if (asprintf(&list[used++], "--lwp-dir=%s", exact->dir) < 0 || asprintf(&list[used++], "--lwp-caches=%s", caches) < 0 ||
        asprintf(&list[used++], "--lwp-follow=%s", exact->follow ? "yes" : "no") < 0 ||
        asprintf(&list[used++], "--lwp-grow=%s", exact->grows ? "yes" : "no") < 0 ||
        asprintf(&list[used++], "--lwp-windows=%s", exact->windows ? "yes" : "no") < 0 ||
        asprintf(&list[used++], "--lwp-close=%.6f", exact->approx) < 0 ||
        (exact->region && asprintf(&list[used++], "--lwp-region=%s", exact->region) < 0) ||
        asprintf(&list[used++], "--lwp-spatial=%s", exact->spatial ? "yes" : "no") < 0 ||
        asprintf(&list[used++], "--lwp-trace=%s", exact->trace ? "yes" : "no") < 0 ||
        asprintf(&list[used++], "--lwp-registers=%s", exact->registers ? "yes" : "no") < 0 ||
        asprintf(&list[used++], "--lwp-redundancy=%s", exact->redundancy ? "yes" : "no") < 0 ||
        asprintf(&list[used++], "--lwp-sample=%s", exact->sample ? "yes" : "no") < 0 ||
        asprintf(&list[used++], "--trace-children=%s", exact->follow ? "yes" : "no") < 0 ||
        asprintf(&list[used++], "--log-file=%s/%s%%p", exact->dir, LWP_EXACT_LOG) < 0 || !(list[used++] = strdup("--")))
        goto memory;
    assert(used <= OPTIONS_MAX);
    for (size_t i = 0; i < arguments; i++)
        if (!(list[used++] = strdup(command[i])))
            goto memory;
    return list;
memory:
    lwp_error_set(err, LWP_ERR_MEMORY, "out of memory");
    lwp_exact_free(list);
    return NULL;
}

/* The same folder by a name of a length that nearly all have: the program's stack begins above its environment, so that its
 * addresses would depend on where lwp is installed. */
static void exact_even(const char *folder, char *even)
{
    enum { EVEN = 256 };
    size_t length = strlen(folder), more = (EVEN - length % EVEN) % EVEN;
    memset(even, '/', more);
    memcpy(even + more, folder, length + 1);
}

/* OpenMP's threads would spin through each other's turns: only one runs at a time. Shells set _ to what they execute. */
char **lwp_exact_environment(char *const *from, const char *folder, const char *program)
{
    char *settings[5] = {NULL}, **environment = NULL, even[2 * PATH_MAX];
    size_t count = 0;
    exact_even(folder, even);
    bool there = asprintf(&settings[count++], "VALGRIND_LIB=%s", even) >= 0 &&
                 asprintf(&settings[count++], "VALGRIND_LAUNCHER=%s/launcher", folder) >= 0;
    if (there && !getenv("OMP_WAIT_POLICY"))
        there = (settings[count++] = strdup("OMP_WAIT_POLICY=passive"));
    if (there && getenv("_"))
        there = asprintf(&settings[count++], "_=%s", program) >= 0;
    if (there)
        environment = lwp_preload_environment(from, NULL, settings);
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        free(settings[i]);
    return environment;
}

void lwp_exact_free(char **list)
{
    lwp_preload_environment_free(list);
}
