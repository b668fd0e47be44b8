/* lwp export: a result as one HTML file that needs nothing else. */
#include "analysis/output/profile_formats.h"
#include "analysis/output/redact.h"
#include "base/command.h"
#include "base/log.h"
#include "web/page.h"
#include "web/result.h"
#include "web/source.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct lwp_option export_options[] = {
    {.name = "output", .letter = 'o', .kind = LWP_OPT_TEXT, .argument = "FILE", .help = "output file; - is stdout. Default: DIR.html"},
    {.name = "format",
     .kind = LWP_OPT_CHOICE,
     .choices = "html|" LWP_PROFILE_FORMATS,
     .argument = "FORMAT",
     .initial = "html",
     .help = "html: the report; else memory stall by calling context, for other viewers"},
    {.name = "diff", .kind = LWP_OPT_FLAG, .help = "compare two results side by side: lwp export --diff BEFORE AFTER"},
    {.name = "source",
     .kind = LWP_OPT_CHOICE,
     .choices = "all|hot|none",
     .argument = "WHICH",
     .initial = "hot",
     .help = "source lines to embed: of all loops, of hot loops, or none"},
    {.name = "limit",
     .kind = LWP_OPT_NUMBER,
     .argument = "MIB",
     .min = 1,
     .max = 8,
     .initial = "8",
     .help = "maximum size of the file; details of small items are left out"},
    {.name = "redact",
     .kind = LWP_OPT_FLAG,
     .help = "leave out host names, user names, home directories, arguments and folders outside of the source"},
    {.name = "root",
     .kind = LWP_OPT_TEXT,
     .argument = "FOLDER",
     .help = "folder of the source: source is read from there too, and paths are relative to it, "
             "not to the work tree around the current folder"},
    {.name = "source-url",
     .kind = LWP_OPT_TEXT,
     .argument = "PATTERN",
     .help = "link source lines: https://.../{path}#L{line}; paths as in the page"},
    {.name = "templates",
     .kind = LWP_OPT_TEXT,
     .argument = "FOLDER",
     .help = "read the page's HTML, style and scripts from FOLDER, to try changes"},
    {.name = "force", .letter = 'f', .kind = LWP_OPT_FLAG, .help = "overwrite a file that is not an export of lwp"},
    {0},
};

static int export_write(int fd, const char *bytes, size_t left)
{
    while (left) {
        ssize_t wrote = write(fd, bytes, left);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote < 0)
            return -1;
        bytes += wrote;
        left -= (size_t)wrote;
    }
    return 0;
}

/* Whether the file begins like a page of ours. */
static bool export_is_ours(const char *path)
{
    char start[1025] = "";
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t got = read(fd, start, sizeof start - 1);
    close(fd);
    return got == 0 || (got > 0 && strstr(start, LWP_PAGE_GENERATOR));
}

/* Beside its place first, then renamed, so that a full disk never leaves half a page under the name. */
static int export_save(const char *path, const char *html, size_t length, bool force, struct lwp_error *err)
{
    struct stat info;
    char real[PATH_MAX], aside[PATH_MAX + 32];
    int fd;
    if (strcmp(path, "-") == 0)
        return export_write(STDOUT_FILENO, html, length) ? lwp_error_errno(err, "cannot write to stdout") : 0;
    if (stat(path, &info) == 0) {
        if (S_ISDIR(info.st_mode))
            return lwp_error_set(err, LWP_ERR_USAGE, "%s is a folder; name a file with -o", path);
        if (!S_ISREG(info.st_mode)) { /* a pipe or a device: nothing to rename over */
            if ((fd = open(path, O_WRONLY | O_CLOEXEC)) < 0)
                return lwp_error_errno(err, "cannot write %s", path);
            int failed = export_write(fd, html, length);
            return close(fd) || failed ? lwp_error_errno(err, "cannot write %s", path) : 0;
        }
        if (!force && !export_is_ours(path))
            return lwp_error_set(err, LWP_ERR_USAGE, "%s is there and no export of lwp; name another file with -o or add --force", path);
        if (realpath(path, real)) /* a link stays a link */
            path = real;
    }
    if (snprintf(aside, sizeof aside, "%s.%ld.tmp", path, (long)getpid()) >= (int)sizeof aside)
        return lwp_error_set(err, LWP_ERR_LIMIT, "the path of the file is too long");
    fd = open(aside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0)
        return lwp_error_errno(err, "cannot write %s", path);
    int status = export_write(fd, html, length) ? lwp_error_errno(err, "cannot write %s", path) : 0;
    if ((close(fd) || (!status && rename(aside, path))) && !status)
        status = lwp_error_errno(err, "cannot write %s", path);
    if (status)
        unlink(aside);
    return status;
}

static enum lwp_source_policy export_policy(const char *text)
{
    if (strcmp(text, "all") == 0)
        return LWP_SOURCE_ALL;
    return strcmp(text, "none") == 0 ? LWP_SOURCE_NONE : LWP_SOURCE_HOT;
}

/* Paths become relative; with --redact all else goes that tells who ran it where. */
static void export_redact(json_t *data, json_t *analysis, const struct lwp_options *options)
{
    if (lwp_options_flag(options, "redact"))
        lwp_redact(data, analysis, lwp_options_text(options, "root"));
    else
        lwp_redact_paths(data, analysis, lwp_options_text(options, "root"));
}

/* How a result is to be shown; the caller frees its roots. */
static struct lwp_page_wish export_wish(const char *dir, const struct lwp_options *options, json_t **roots)
{
    struct lwp_page_wish wish = {.mode = "exported",
                                 .source = export_policy(lwp_options_text(options, "source")),
                                 .bytes_max = (size_t)lwp_options_number(options, "limit") << 20};
    wish.roots = *roots = wish.source == LWP_SOURCE_NONE ? NULL : lwp_source_roots(dir, lwp_options_text(options, "root"));
    return wish;
}

static void export_link_source(json_t *data, const struct lwp_options *options)
{
    if (lwp_options_text(options, "source-url"))
        json_object_set_new(data, "source_url", json_string(lwp_options_text(options, "source-url")));
}

/* What the page is given, of one result. */
static int export_result(const char *dir, const struct lwp_options *options, json_t **data, const char **title, char *title_room,
                         struct lwp_error *err)
{
    json_t *analysis = NULL, *roots;
    char *name = lwp_result_name(dir);
    int status = lwp_result_prepare(dir, err);
    if (!status)
        status = lwp_result_load(dir, &analysis, err);
    if (!status && name) {
        struct lwp_page_wish wish = export_wish(dir, options, &roots);
        *data = lwp_page_result_data(name, analysis, &wish);
        json_decref(roots);
        export_redact(*data, analysis, options);
        export_link_source(*data, options);
        snprintf(title_room, PATH_MAX, "%s", lwp_page_title(name, analysis));
        *title = title_room;
    }
    json_decref(analysis);
    free(name);
    return status;
}

/* Leaves of a side's run the program's name. */
static void export_drop_private(json_t *side)
{
    json_object_set_new(side, "host", json_null());
    json_t *command = json_object_get(side, "command");
    while (json_array_size(command) > 1)
        json_array_remove(command, 1);
}

/* ... of two: the report of the second, with what came of the first. */
static int export_diff(const char *before, const char *after, const struct lwp_options *options, json_t **data, struct lwp_error *err)
{
    json_t *diff = NULL, *first = NULL, *second = NULL, *roots;
    char *name = lwp_result_name(after);
    int status = lwp_result_diff(before, after, &diff, err);
    if (!status)
        status = lwp_result_load(before, &first, err);
    if (!status)
        status = lwp_result_load(after, &second, err);
    if (!status && name) {
        struct lwp_page_wish wish = export_wish(after, options, &roots);
        if (lwp_options_flag(options, "redact")) {
            export_drop_private(json_object_get(diff, "before"));
            export_drop_private(json_object_get(diff, "after"));
        }
        *data = lwp_page_diff_data(name, diff, first, second, &wish);
        json_decref(roots);
        export_redact(*data, first, options);
        export_redact(*data, second, options);
        export_link_source(*data, options);
    }
    free(name);
    json_decref(second);
    json_decref(first);
    json_decref(diff);
    return status;
}

/* For another program than a browser. */
static int export_profile(const char *dir, const struct lwp_options *options, char **text, size_t *length, struct lwp_error *err)
{
    json_t *analysis = NULL, *none = json_object();
    FILE *out = open_memstream(text, length);
    int status = out ? lwp_result_prepare(dir, err) : lwp_error_errno(err, "no memory for the profile");
    if (!status)
        status = lwp_result_load(dir, &analysis, err);
    if (!status) {
        export_redact(none, analysis, options);
        status = lwp_profile_format_write(out, analysis, lwp_options_text(options, "format"), err);
    }
    if (out && fclose(out) && !status)
        status = lwp_error_errno(err, "no memory for the profile");
    json_decref(analysis);
    json_decref(none);
    return status;
}

static int export_page(const char *const *dirs, const struct lwp_options *options, char **html, size_t *length, struct lwp_error *err)
{
    struct lwp_assets assets = {0};
    json_t *data = NULL;
    char title_room[PATH_MAX];
    const char *title = "before and after";
    int status = lwp_options_flag(options, "diff") ? export_diff(dirs[0], dirs[1], options, &data, err)
                                                   : export_result(dirs[0], options, &data, &title, title_room, err);
    if (!status)
        status = lwp_assets_load(&assets, lwp_options_text(options, "templates"), err);
    if (!status)
        status = data ? lwp_page_build(&assets, NULL, title, data, html, length, err)
                      : lwp_error_set(err, LWP_ERR_MEMORY, "no memory for the page");
    json_decref(data);
    lwp_assets_free(&assets);
    return status;
}

/* DIR.html, or with --diff AFTER-diff.html beside AFTER. 0 or -1: too long. */
static int export_name(const char *dir, bool diff, const char *suffix, char *named, size_t room)
{
    size_t length = strlen(dir);
    while (length > 1 && dir[length - 1] == '/')
        length--;
    char *name = lwp_result_name(dir);
    bool by_path = length >= strlen(name) && strncmp(dir + length - strlen(name), name, strlen(name)) == 0;
    int used =
        snprintf(named, room, "%.*s%s%s", by_path ? (int)length : (int)strlen(name), by_path ? dir : name, diff ? "-diff" : "", suffix);
    free(name);
    return used >= (int)room ? -1 : 0;
}

static int export_run(int argc, char **argv, const struct lwp_command *self)
{
    struct lwp_options options;
    struct lwp_error err = {0};
    int status;
    if (!lwp_command_begin(&options, self, argc, argv, &status))
        return status;
    bool diff = lwp_options_flag(&options, "diff");
    char **operands = argv + options.operands;
    const char *dirs[2] = {NULL};
    if (!diff) {
        dirs[0] = lwp_result_operand("export", argc - options.operands, operands);
    } else if (argc - options.operands != 2) {
        lwp_log(LWP_LOG_ERROR, "export: name the result before the change and the one after it: lwp export --diff BEFORE AFTER");
    } else {
        dirs[0] = operands[0];
        dirs[1] = operands[1];
    }
    if (!dirs[0])
        return LWP_WRONG_USE;
    const char *output = lwp_options_text(&options, "output"), *format = lwp_options_text(&options, "format");
    bool page = strcmp(format, "html") == 0;
    if (diff && !page) {
        lwp_log(LWP_LOG_ERROR, "export: --diff has a page only; leave out --format %s", format);
        return LWP_WRONG_USE;
    }
    char named[PATH_MAX], *html = NULL;
    size_t length = 0;
    if (!output) {
        if (export_name(dirs[diff], diff, page ? ".html" : lwp_profile_format_suffix(format), named, sizeof named)) {
            lwp_log(LWP_LOG_ERROR, "the path of the result is too long; name a file with -o");
            return 1;
        }
        output = named;
    }
    status = page ? export_page(dirs, &options, &html, &length, &err) : export_profile(dirs[0], &options, &html, &length, &err);
    if (!status)
        status = export_save(output, html, length, lwp_options_flag(&options, "force"), &err);
    free(html);
    if (status) {
        lwp_log(LWP_LOG_ERROR, "%s", err.text);
        return 1;
    }
    if (strcmp(output, "-") != 0)
        lwp_log(LWP_LOG_NOTE, "wrote %s (%zu KiB)%s", output, (length + 1023) / 1024, page ? "; open it in a browser" : "");
    return 0;
}

const struct lwp_command lwp_cmd_export = {
    .name = "export",
    .usage = "[options] [DIR] | --diff BEFORE AFTER",
    .summary = "write the report of a result as one HTML file to share",
    .details = "Without DIR the newest lwp-* in the current folder is taken.\n"
               "The file contains the page, its data and, by default, the source lines of hot loops. It works without a network and\n"
               "without lwp. An earlier export is replaced; any other file only with --force. Paths of source files are relative to\n"
               "the work tree around the current folder, or to what they have in common.\n\n"
               "For a large result the page leaves out details of the items with the smallest shares, and says so: it stays below\n"
               "8 MiB. With --diff the report of AFTER begins with the output of 'lwp diff': the predicted and the measured gain, and\n"
               "each structure in memory before and after; it is written to AFTER-diff.html.\n\n"
               "--format speedscope, pprof, callgrind or perf-script writes memory stall by calling context, with the data object as the\n"
               "innermost frame, for speedscope.app, pprof, callgrind_annotate and KCachegrind, or stackcollapse-perf.pl.\n\n"
               "Exit status: 0 done, 1 DIR could not be read or the file not written, 125 wrong usage.",
    .options = export_options,
    .run = export_run,
};
