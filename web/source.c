#include "web/source.h"

#include "web/file.h"

#include <stdlib.h>
#include <stdio.h>
#include <string.h>

enum { SOURCE_AROUND = 3, SOURCE_LINES = 60, SOURCE_LINE_BYTES = 400, SOURCE_TOTAL_BYTES = 1 << 20 };

/* Only what looks like a source file: a result from elsewhere must not make the page show other files. */
static int source_plausible(const char *path)
{
    static const char *const endings[] = {".c",   ".h",   ".cc",  ".cpp", ".cxx", ".hh",  ".hpp", ".hxx", ".C", ".f",
                                          ".f90", ".f95", ".F90", ".rs",  ".inl", ".tcc", ".S",   ".s",   ".inc"};
    const char *dot = strrchr(path, '.');
    for (size_t i = 0; dot && i < sizeof endings / sizeof *endings; i++)
        if (strcmp(dot, endings[i]) == 0)
            return 1;
    return strstr(path, "/include/c++/") != NULL;
}

static json_t *source_text(const char *line, size_t length)
{
    if (length > SOURCE_LINE_BYTES)
        length = SOURCE_LINE_BYTES;
    json_t *text = json_stringn(line, length);
    return text ? text : json_string("(not valid UTF-8)");
}

static void source_take(json_t *files, const char *path, json_int_t first, json_int_t last, size_t *total)
{
    char *bytes;
    size_t size;
    if (*total > SOURCE_TOTAL_BYTES || !source_plausible(path) || lwp_file_read(path, 8u << 20, &bytes, &size, NULL))
        return;
    json_t *lines = json_object_get(files, path);
    if (!lines) {
        lines = json_object();
        json_object_set_new(files, path, lines);
    }
    json_int_t number = 1, from = first - SOURCE_AROUND, to = last + SOURCE_AROUND;
    if (to - from > SOURCE_LINES)
        to = from + SOURCE_LINES;
    for (const char *line = bytes; *line && number <= to; number++) {
        size_t length = strcspn(line, "\n");
        if (number >= from) {
            char key[24];
            snprintf(key, sizeof key, "%lld", (long long)number);
            json_object_set_new(lines, key, source_text(line, length));
            *total += length;
        }
        line += length + (line[length] == '\n');
    }
    free(bytes);
}

json_t *lwp_source_collect(const json_t *analysis, enum lwp_source_choice choice)
{
    json_t *files = json_object();
    size_t i, total = 0;
    json_t *loop;
    if (choice == LWP_SOURCE_EMBED_NONE)
        return files;
    json_array_foreach(json_object_get(analysis, "loops"), i, loop) {
        const char *file = json_string_value(json_object_get(loop, "file"));
        json_int_t first = json_integer_value(json_object_get(loop, "first_line"));
        json_int_t last = json_integer_value(json_object_get(loop, "last_line"));
        if (!file || first <= 0 || last < first)
            continue;
        if (choice == LWP_SOURCE_HOT && json_number_value(json_object_get(loop, "share")) < 0.005)
            continue;
        source_take(files, file, first, last, &total);
    }
    return files;
}
