/* Code placement alone can move run times by 10 %, so both programs are built in several: each with another alignment of functions
 * and order of linking (a compiler in front of PATH adds that), and run with environments of varied size (Mytkowicz et al., ASPLOS 2009;
 * Curtsinger and Berger, ASPLOS 2013). The two programs of a pair share all of it. */
#include "patch/trial/trial.h"

#include "base/log.h"
#include "base/path.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PLACEMENTS = 3, PAIRS_LEAST = 6, PAIRS_MOST = 200, SECONDS_MOST = 120, BUILD_SECONDS_MOST = 600 };
static const double narrow = 0.03; /* width of the interval, of the gain */

struct copies {
    struct lwp_arena *arena;
    const char *top;   /* the temporary folder */
    const char *below; /* the current folder, within the tree */
    char *path;        /* PATH with the compilers in front */
};

int lwp_trial_parse(struct lwp_trial *trial, struct lwp_arena *arena, const char *command, struct lwp_error *err)
{
    const char *cut = NULL;
    for (const char *at = command; (at = strstr(at, "&&")); at += 2)
        cut = at;
    if (!cut)
        return lwp_error_set(err, LWP_ERR_USAGE, "--try takes how to build and how to run: --try 'make && ./app args'");
    trial->build = lwp_arena_strndup(arena, command, (size_t)(cut - command));
    trial->run = lwp_arena_strdup(arena, cut + 2);
    return LWP_OK;
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* Runs a shell command with standard output in a file. Its wait status, or -1; *cpu: seconds of it and its children. */
static int shell(const char *folder, const char *command, const char *output, const char *path, unsigned variant, double limit, double *cpu)
{
    struct rusage usage;
    int status;
    fflush(NULL);
    pid_t pid = fork();
    if (pid < 0)
        return -1;
    if (pid == 0) {
        int out = open(output, O_WRONLY | O_CREAT | O_TRUNC, 0600), in = open("/dev/null", O_RDONLY);
        char *filler = lwp_zeroed(variant * 509 % 4096 + 1, 1);
        memset(filler, 'x', variant * 509 % 4096);
        if (out < 0 || in < 0 || chdir(folder))
            _exit(127);
        dup2(in, 0);
        dup2(out, 1);
        if (path) /* a build's messages, for the report of what went wrong */
            dup2(out, 2);
        setenv("LWP_TRY_ENVIRONMENT", filler, 1);
        setenv("LWP_TRY_ALIGN", variant % 3 == 0 ? "16" : variant % 3 == 1 ? "32" : "64", 1);
        setenv("LWP_TRY_TURN", variant % 2 ? "1" : "0", 1);
        if (path)
            setenv("PATH", path, 1);
        setpgid(0, 0);
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
    setpgid(pid, pid);
    for (double end = now() + limit;;) {
        pid_t got = wait4(pid, &status, WNOHANG, &usage);
        if (got == pid)
            break;
        if (got < 0 && errno != EINTR)
            return -1;
        if (now() > end) {
            kill(-pid, SIGKILL);
            wait4(pid, &status, 0, &usage);
            return -1;
        }
        usleep(2000);
    }
    *cpu = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) + (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
    return status;
}

static int write_file(const char *path, const char *text, mode_t mode)
{
    FILE *file = fopen(path, "w");
    if (!file)
        return -1;
    bool wrong = fputs(text, file) < 0;
    wrong = fclose(file) || wrong;
    return wrong || chmod(path, mode) ? -1 : 0;
}

/* Compilers that add the alignment, and link object files in another order. */
static int make_compilers(struct copies *copies)
{
    static const char *const names[] = {"cc", "gcc", "clang", "c99"};
    const char *folder = lwp_arena_printf(copies->arena, "%s/bin", copies->top), *path = getenv("PATH");
    path = path ? path : "/usr/bin:/bin";
    if (mkdir(folder, 0700))
        return -1;
    copies->path = lwp_arena_printf(copies->arena, "%s:%s", folder, path);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *script = lwp_arena_printf(
            copies->arena,
            "#!/bin/sh\n# Written by lwp patch --try.\nPATH=${PATH#%s:}\nfirst=\nif [ \"$LWP_TRY_TURN\" = 1 ]; then\n"
            "    count=$#\n    while [ $count -gt 0 ]; do\n        case $1 in *.o) first=\"$1 $first\" ;; *) set -- \"$@\" \"$1\" ;; esac\n"
            "        shift\n        count=$((count - 1))\n    done\nfi\n"
            "exec %s -falign-functions=$LWP_TRY_ALIGN $first \"$@\"\n",
            folder, names[i]);
        if (write_file(lwp_arena_printf(copies->arena, "%s/%s", folder, names[i]), script, 0700))
            return -1;
    }
    return 0;
}

static const char *copy_name(const struct copies *copies, bool patched, unsigned placement)
{
    return lwp_arena_printf(copies->arena, "%s/%s%u", copies->top, patched ? "after" : "before", placement);
}

/* A copy of the tree in which sources are newer than what was built from them. */
static int copy_tree(const struct copies *copies, const struct lwp_sources *sources, const struct lwp_units *units, bool patched,
                     unsigned placement, struct lwp_error *err)
{
    const char *to = copy_name(copies, patched, placement);
    const char *output = lwp_arena_printf(copies->arena, "%s/copy.log", copies->top);
    double cpu;
    setenv("LWP_TRY_FROM", units->root, 1);
    setenv("LWP_TRY_TO", to, 1);
    if (shell("/",
              "mkdir \"$LWP_TRY_TO\" && cd \"$LWP_TRY_FROM\" && tar -cf - --exclude=.git --exclude='lwp-*.[0-9]*' . | tar -xf - -C "
              "\"$LWP_TRY_TO\"",
              output, NULL, 0, BUILD_SECONDS_MOST, &cpu) != 0)
        return lwp_error_set(err, LWP_ERR_SYSTEM, "cannot copy %s to %s", units->root, to);
    for (size_t i = 0; i < units->unit_count; i++) {
        const char *path = lwp_path_below(units->units[i].file, units->root);
        if (path)
            utimensat(AT_FDCWD, lwp_arena_printf(copies->arena, "%s/%s", to, path), NULL, 0);
    }
    for (size_t i = 0; i < sources->source_count && patched; i++) {
        const struct lwp_source *source = sources->sources[i];
        if (!source->edit_count)
            continue;
        char *text = lwp_source_apply(source);
        const char *path = lwp_arena_printf(copies->arena, "%s/%s", to, lwp_path_below(source->path, units->root));
        int wrong = write_file(path, text, 0644);
        free(text);
        if (wrong)
            return lwp_error_errno(err, "cannot write %s", path);
    }
    return LWP_OK;
}

static int build(const struct copies *copies, const struct lwp_trial *trial, bool patched, unsigned placement, struct lwp_error *err)
{
    const char *folder = lwp_arena_printf(copies->arena, "%s/%s", copy_name(copies, patched, placement), copies->below);
    const char *output = lwp_arena_printf(copies->arena, "%s.log", copy_name(copies, patched, placement));
    double cpu;
    lwp_log_progress("building %s, placement %u of %d", patched ? "the patched program" : "the program as it is", placement + 1,
                     PLACEMENTS);
    if (shell(folder, trial->build, output, copies->path, placement, BUILD_SECONDS_MOST, &cpu) == 0)
        return LWP_OK;
    FILE *log = fopen(output, "r");
    char line[256] = "";
    for (char more[256]; log && fgets(more, sizeof more, log);)
        if (!*line || strstr(more, "error"))
            memcpy(line, more, sizeof line);
    if (log)
        fclose(log);
    return lwp_error_set(err, LWP_ERR_SYSTEM, "'%s' fails for %s: %.200s", trial->build,
                         patched ? "the patched program" : "the program as it is", line);
}

static bool same_files(const char *a, const char *b)
{
    FILE *one = fopen(a, "r"), *two = fopen(b, "r");
    bool same = one && two;
    for (int c = 0; same && c != EOF;) {
        c = getc(one);
        same = c == getc(two);
    }
    if (one)
        fclose(one);
    if (two)
        fclose(two);
    return same;
}

/* One run of each; the logarithm of before / after. Which comes first changes from pair to pair. */
static int run_pair(const struct copies *copies, const struct lwp_trial *trial, unsigned pair, double *ratio, struct lwp_error *err)
{
    double cpu[2];
    int status[2];
    const char *output[2];
    for (unsigned turn = 0; turn < 2; turn++) {
        bool patched = (turn ^ pair) & 1;
        const char *folder = lwp_arena_printf(copies->arena, "%s/%s", copy_name(copies, patched, pair % PLACEMENTS), copies->below);
        output[patched] = lwp_arena_printf(copies->arena, "%s/out%d", copies->top, patched);
        status[patched] = shell(folder, trial->run, output[patched], NULL, pair, BUILD_SECONDS_MOST, &cpu[patched]);
        if (status[patched] < 0)
            return lwp_error_set(err, LWP_ERR_LIMIT, "'%s' does not end within %d seconds", trial->run, BUILD_SECONDS_MOST);
    }
    if (status[0] != status[1])
        return lwp_error_set(err, LWP_ERR_LIMIT, "the patched program ends with another status: %d instead of %d", status[1], status[0]);
    if (!same_files(output[0], output[1]))
        return lwp_error_set(err, LWP_ERR_LIMIT,
                             "the patched program prints something else; if what it prints differs from run to run, so that "
                             "both would, let the command discard that");
    *ratio = log((cpu[0] + 1e-4) / (cpu[1] + 1e-4));
    return LWP_OK;
}

/* 97.5 % of Student's t for `n` - 1 degrees of freedom, from above. */
static double student(unsigned n)
{
    return 1.96 + 2.6 / (n - 1) + 4.0 / ((n - 1) * (double)(n - 1));
}

static int measure(const struct copies *copies, struct lwp_trial *trial, struct lwp_error *err)
{
    double sum = 0, squares = 0, end = now() + SECONDS_MOST, ratio = 0;
    if (run_pair(copies, trial, 0, &ratio, err)) /* caches of files are warm from here on */
        return err->status;
    for (unsigned n = 1; n <= PAIRS_MOST; n++) {
        if (run_pair(copies, trial, n, &ratio, err))
            return err->status;
        sum += ratio;
        squares += ratio * ratio;
        double mean = sum / n, half = n > 1 ? student(n) * sqrt(fmax(0, squares / n - mean * mean) / (n - 1)) : INFINITY;
        trial->speedup = exp(mean);
        trial->low = exp(mean - half);
        trial->high = exp(mean + half);
        trial->pairs = n;
        lwp_log_progress("%u pairs: %.2fx (%.2f-%.2f)", n, trial->speedup, trial->low, trial->high);
        if ((n >= PAIRS_LEAST && trial->high - trial->low < narrow * trial->speedup) || (now() > end && n > 1))
            break;
    }
    return LWP_OK;
}

int lwp_trial_run(struct lwp_trial *trial, const struct lwp_sources *sources, const struct lwp_units *units, struct lwp_error *err)
{
    char here[PATH_MAX], folder[] = "/tmp/lwp-try.XXXXXX";
    const char *base = getcwd(here, sizeof here) ? lwp_path_below(here, units->root) : NULL;
    if (!base)
        return lwp_error_set(err, LWP_ERR_USAGE, "--try runs the command in a copy of %s, and the current folder is not in there",
                             units->root);
    if (!mkdtemp(folder))
        return lwp_error_errno(err, "cannot create a folder below /tmp");
    struct copies copies = {.arena = sources->arena, .top = folder, .below = *base ? base : "."};
    int status = make_compilers(&copies) ? lwp_error_errno(err, "cannot write to %s", folder) : LWP_OK;
    for (unsigned i = 0; i < PLACEMENTS * 2 && !status; i++) {
        status = copy_tree(&copies, sources, units, i & 1, i / 2, err);
        status = status ? status : build(&copies, trial, i & 1, i / 2, err);
    }
    trial->placements = PLACEMENTS;
    status = status ? status : measure(&copies, trial, err);
    lwp_log_progress(NULL);
    double cpu;
    setenv("LWP_TRY_TO", folder, 1);
    shell("/", "rm -rf \"$LWP_TRY_TO\"", "/dev/null", NULL, 0, BUILD_SECONDS_MOST, &cpu);
    return status;
}
