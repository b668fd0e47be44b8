/* lwp export: one self-contained HTML file of a result. */
#include "base/command.h"
#include "base/log.h"
#include "web/file.h"
#include "web/page.h"
#include "web/result.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char export_mark[] = "<meta name=\"generator\" content=\"lwp\">";

static const struct lwp_option export_options[] = {
    {"output", 'o', LWP_OPT_TEXT, "FILE", 0, 0, NULL, NULL, "the file to write [DIR.html]"},
    {"source", 0, LWP_OPT_CHOICE, "WHICH", 0, 0, "all|hot|none", "hot", "source lines to embed"},
    {"force", 'f', LWP_OPT_FLAG, NULL, 0, 0, NULL, NULL, "overwrite FILE even when it is not an export of lwp"},
    {"templates", 0, LWP_OPT_TEXT, "DIR", 0, 0, NULL, NULL, "read the page's template, style and script from DIR"},
    {0},
};

static bool export_may_write(const char *path)
{
    char *bytes;
    size_t size;
    if (access(path, F_OK))
        return true;
    if (lwp_file_read(path, 64u << 20, &bytes, &size, NULL))
        return false;
    bool ours = strstr(bytes, export_mark) != NULL;
    free(bytes);
    return ours;
}

static int export_run(int argc, char **argv, const struct lwp_command *self)
{
    struct lwp_options options;
    struct lwp_error err;
    int status;
    if (!lwp_command_begin(&options, self, argc, argv, 2, &status))
        return status;
    if (argc - options.operands != 1) {
        lwp_log(LWP_LOG_ERROR, "export: name one result directory: lwp export DIR");
        return 2;
    }
    char *directory = argv[options.operands];
    for (size_t length = strlen(directory); length > 1 && directory[length - 1] == '/'; length--)
        directory[length - 1] = '\0';
    char path[4096];
    const char *given = lwp_options_text(&options, "output");
    snprintf(path, sizeof path, given ? "%s" : "%s.html", given ? given : directory);
    if (!lwp_options_flag(&options, "force") && !export_may_write(path)) {
        lwp_log(LWP_LOG_ERROR, "%s exists and is no export of lwp; name another with -o, or use --force", path);
        return 1;
    }
    const char *source = lwp_options_text(&options, "source");
    struct lwp_page_options page = {
        .inlined = true,
        .templates = lwp_options_text(&options, "templates"),
        .source = !strcmp(source, "all")   ? LWP_SOURCE_ALL
                  : !strcmp(source, "none") ? LWP_SOURCE_EMBED_NONE
                                            : LWP_SOURCE_HOT,
    };
    json_t *analysis;
    char *bytes = NULL;
    size_t size = 0;
    status = lwp_result_load(directory, &analysis, &err);
    if (!status)
        status = lwp_page_make(analysis, &page, &bytes, &size, &err);
    if (!status)
        status = lwp_file_write(path, bytes, size, &err);
    free(bytes);
    json_decref(analysis);
    if (status) {
        lwp_log(LWP_LOG_ERROR, "%s", err.text);
        return 1;
    }
    printf("%s\n", path);
    return 0;
}

const struct lwp_command lwp_cmd_export = {
    .name = "export",
    .usage = "DIR [-o FILE.html] [--source=all|hot|none]",
    .summary = "write a result as one self-contained HTML file",
    .details = "The file needs no network and no other file: attach it to a code review. It embeds the source lines of the\n"
               "hot loops unless --source says otherwise. Exit status: 0 written, 1 not, 2 wrong use.",
    .options = export_options,
    .run = export_run,
};
