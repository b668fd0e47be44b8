/* Code placement alone can move run times by 10 %, so both programs are built in several: each with another alignment of functions
 * and order of linking (a compiler in front of PATH adds that), and run with environments of varied size (Mytkowicz et al., ASPLOS 2009;
 * Curtsinger and Berger, ASPLOS 2013). The two programs of a pair share all of it. */
#include "patch/trial/copies.h"

#include "base/log.h"
#include "base/path.h"
#include "patch/trial/commands.h"

#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PLACEMENTS = 3 };

static int write_file(const char *path, const char *text, mode_t mode)
{
    FILE *file = fopen(path, "w");
    if (!file)
        return -1;
    bool wrong = fputs(text, file) < 0;
    wrong = fclose(file) || wrong;
    return wrong || chmod(path, mode) ? -1 : 0;
}

/* What stands in front of each compiler: %s the folder, its mark, and the name. Operands of -o stay where they are. */
static const char compiler_script[] =
    "#!/bin/sh\n# Written by lwp patch --try.\nPATH=${PATH#%s:}\n: > %s\nlink=$LWP_TRY_TURN before= first=\n"
    "for word; do\n    case $word in -c | -S | -E | -M | -MM | -x* | *[[:space:]]*) link=0 ;; esac\ndone\n"
    "if [ \"$link\" = 1 ]; then\n    count=$#\n    while [ $count -gt 0 ]; do\n"
    "        case $before:$1 in\n        -o:*) set -- \"$@\" \"$1\" ;;\n"
    "        *.o | *.c | *.cc | *.cpp | *.cxx) first=\"$1 $first\" ;;\n        *) set -- \"$@\" \"$1\" ;;\n"
    "        esac\n        before=$1\n        shift\n        count=$((count - 1))\n    done\nfi\n"
    "exec %s -falign-functions=$LWP_TRY_ALIGN $first \"$@\"\n";

static int make_compilers(struct lwp_copies *copies)
{
    static const char *const names[] = {"cc", "gcc", "clang", "c99", "c++", "g++", "clang++"};
    const char *folder = lwp_arena_printf(copies->arena, "%s/bin", copies->top), *path = getenv("PATH");
    const char *mark = lwp_arena_printf(copies->arena, "%s/called", copies->top);
    copies->path = lwp_arena_printf(copies->arena, "%s:%s", folder, path ? path : "/usr/bin:/bin");
    if (mkdir(folder, 0700))
        return -1;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *script = lwp_format(compiler_script, folder, mark, names[i]);
        int wrong = write_file(lwp_arena_printf(copies->arena, "%s/%s", folder, names[i]), script, 0700);
        free(script);
        if (wrong)
            return -1;
    }
    return 0;
}

static const char *copy_name(const struct lwp_copies *copies, bool patched, unsigned placement)
{
    return lwp_arena_printf(copies->arena, "%s/%s%u", copies->top, patched ? "after" : "before", placement);
}

const char *lwp_copies_folder(const struct lwp_copies *copies, bool patched, unsigned placement)
{
    return lwp_arena_printf(copies->arena, "%s/%s", copy_name(copies, patched, placement), copies->below);
}

/* Writes the patched sources into a copy; with `broken` at its end the first of them cannot be compiled. */
static int write_sources(const struct lwp_copies *copies, const char *to, const char *broken, struct lwp_error *err)
{
    for (size_t i = 0; i < copies->sources->source_count; i++) {
        const struct lwp_source *source = copies->sources->sources[i];
        if (!source->edit_count)
            continue;
        char *text = lwp_source_apply(source);
        lwp_format_more(&text, "%s", broken);
        broken = source->created ? broken : "";
        const char *path = lwp_arena_printf(copies->arena, "%s/%s", to, lwp_path_below(source->path, copies->units->root));
        int wrong = write_file(path, text, 0644);
        free(text);
        if (wrong)
            return lwp_error_errno(err, "cannot write %s", path);
    }
    return LWP_OK;
}

/* A copy of the tree in which sources are newer than what was built from them. */
static int copy_tree(const struct lwp_copies *copies, bool patched, unsigned placement, struct lwp_error *err)
{
    const struct lwp_units *units = copies->units;
    const char *to = copy_name(copies, patched, placement);
    struct lwp_trial_command copy = {
        .folder = "/",
        .text = "mkdir \"$LWP_TRY_TO\" && cd \"$LWP_TRY_FROM\" && tar -cf - --exclude=.git --exclude='lwp-*.[0-9]*' . | tar -xf - -C "
                "\"$LWP_TRY_TO\"",
        .output = lwp_arena_printf(copies->arena, "%s/copy.log", copies->top),
        .seconds = LWP_TRIAL_SECONDS_MOST,
    };
    double cpu;
    setenv("LWP_TRY_FROM", units->root, 1);
    setenv("LWP_TRY_TO", to, 1);
    if (lwp_trial_command(&copy, &cpu) != 0)
        return lwp_error_set(err, LWP_ERR_SYSTEM, "cannot copy %s to %s", units->root, to);
    for (size_t i = 0; i < units->unit_count; i++) {
        const char *path = lwp_path_below(units->units[i].file, units->root);
        if (path)
            utimensat(AT_FDCWD, lwp_arena_printf(copies->arena, "%s/%s", to, path), NULL, 0);
    }
    return LWP_OK;
}

/* The line of a build's messages that says what is wrong. */
static void say_line(const char *path, char *line, size_t size)
{
    FILE *log = fopen(path, "r");
    *line = '\0';
    for (char more[256]; log && fgets(more, sizeof more, log);)
        if (!*line || strstr(more, "error"))
            snprintf(line, size, "%.*s", (int)strcspn(more, "\n"), more);
    if (log)
        fclose(log);
}

static int build_one(const struct lwp_copies *copies, const char *build, bool patched, unsigned placement, struct lwp_error *err)
{
    struct lwp_trial_command command = {
        .folder = lwp_copies_folder(copies, patched, placement),
        .text = build,
        .output = lwp_arena_printf(copies->arena, "%s.log", copy_name(copies, patched, placement)),
        .path = copies->path,
        .variant = placement,
        .seconds = LWP_TRIAL_SECONDS_MOST,
    };
    double cpu;
    char line[256];
    if (lwp_trial_command(&command, &cpu) == 0)
        return LWP_OK;
    say_line(command.output, line, sizeof line);
    return lwp_error_set(err, LWP_ERR_SYSTEM, "'%s' fails for %s: %.200s", build, patched ? "the patched program" : "the program as it is",
                         line);
}

/* A build that names files by absolute paths (cmake's do) would compile the sources as they are, and the trial say that nothing
 * changed. */
static int check_reads_copy(const struct lwp_copies *copies, const char *build, struct lwp_error *err)
{
    struct lwp_error expected = {0};
    const char *to = copy_name(copies, true, 0);
    if (write_sources(copies, to, "\n#error lwp patch --try\n", err))
        return err->status;
    if (build_one(copies, build, true, 0, &expected))
        return write_sources(copies, to, "", err);
    return lwp_error_set(err, LWP_ERR_USAGE,
                         "'%s' compiles none of the patched sources when it runs in a copy of %s; does it name that "
                         "folder, as cmake's build folders do? Then let it configure anew",
                         build, copies->units->root);
}

int lwp_copies_make(struct lwp_copies *copies, const char *build, struct lwp_error *err)
{
    const char *mark = lwp_arena_printf(copies->arena, "%s/called", copies->top);
    copies->placements = PLACEMENTS;
    int status = make_compilers(copies) ? lwp_error_errno(err, "cannot write to %s", copies->top) : LWP_OK;
    for (unsigned i = 0; i < copies->placements * 2 && !status; i++) {
        bool patched = i & 1;
        lwp_log_progress("building %s, placement %u of %u", patched ? "the patched program" : "the program as it is", i / 2 + 1,
                         copies->placements);
        status = copy_tree(copies, patched, i / 2, err);
        if (!status && patched)
            status = i == 1 ? check_reads_copy(copies, build, err) : write_sources(copies, copy_name(copies, true, i / 2), "", err);
        status = status ? status : build_one(copies, build, patched, i / 2, err);
        if (i == 0 && access(mark, F_OK) != 0)
            copies->placements = 1;
    }
    return status;
}

static int remove_entry(const char *path, const struct stat *info, int kind, struct FTW *where)
{
    (void)info;
    (void)kind;
    (void)where;
    remove(path);
    return 0;
}

void lwp_copies_remove(const struct lwp_copies *copies)
{
    nftw(copies->top, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}
