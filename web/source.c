/* Collects the source lines that an analysis names: of loops, of the calling contexts of redundant pairs and of shared cache
 * lines, and a few around them. The paths come from untrusted debug information, and the page may be shared: only regular
 * files named like source files are read, only below the folders of source_roots.c, only those lines, and all is bounded. */
#include "web/source.h"

#include "base/arena.h"
#include "base/path.h"
#include "base/text.h"

#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    SOURCE_FILE_BYTES_MAX = 8 << 20,
    SOURCE_FILES_MAX = 500,
    SOURCE_LOOP_LINES_MAX = 150,
    SOURCE_LINE_BYTES_MAX = 400,
    SOURCE_AROUND_LINES = 3,
    SOURCE_FRAMES_MAX = 24, /* of a call path */
    SOURCE_ITEMS_MAX = 40,  /* regions and rows of locality whose loops are shown */
};

/* A span of lines to show; 1-based, both included. */
struct source_span {
    const char *path;
    int first, last;
};

struct source_spans {
    struct source_span *items;
    size_t count, room;
};

static const double share_hot = 0.01;

static const char *source_extension(const char *path)
{
    const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');
    return dot ? dot + 1 : "";
}

static bool source_named_like_source(const char *path)
{
    static const char *const known[] = {"c",   "h",   "cc",  "hh",  "cpp", "hpp", "cxx", "hxx", "c++",  "h++",
                                        "inl", "inc", "ipp", "tcc", "tpp", "txx", "cu",  "cuh", "rs",   "f",
                                        "for", "f77", "f90", "f95", "f03", "f08", "d",   "go",  "zig",  "nim",
                                        "adb", "ads", "s",   "asm", "y",   "l",   "m",   "mm",  "java", "kt",
                                        "js",  "ts",  "py",  "pyx", "def", "ml",  "hs",  "pas", "swift"};
    const char *extension = source_extension(path);
    if (!*extension) /* <vector> and its like */
        return strncmp(path, "/usr/include/", 13) == 0 && !strstr(path, "/../");
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcasecmp(extension, known[i]) == 0)
            return true;
    return false;
}

static int source_compare(const void *a, const void *b)
{
    const struct source_span *x = a, *y = b;
    int by_path = strcmp(x->path, y->path);
    return by_path ? by_path : (x->first > y->first) - (x->first < y->first);
}

/* The loops of the first `most` of `items`. */
static void source_mark_loops(const json_t *items, size_t most, bool *wanted, size_t loops)
{
    size_t i;
    const json_t *item;
    json_array_foreach(items, i, item)
    {
        const json_t *loop = json_object_get(item, "loop");
        if (i < most && json_is_integer(loop) && json_integer_value(loop) >= 0 && (size_t)json_integer_value(loop) < loops)
            wanted[json_integer_value(loop)] = true;
    }
}

/* The loops of all objects that some split is about, and those of communication and locality. */
static void source_mark_advised(const json_t *analysis, bool *wanted, size_t loops)
{
    const json_t *objects = json_object_get(analysis, "objects"), *split;
    size_t i;
    json_array_foreach(json_object_get(analysis, "splits"), i, split)
    {
        json_int_t object = json_integer_value(json_object_get(split, "object"));
        if (object >= 0)
            source_mark_loops(json_object_get(json_array_get(objects, (size_t)object), "loops"), SIZE_MAX, wanted, loops);
    }
    source_mark_loops(json_object_get(json_object_get(analysis, "communication"), "regions"), SOURCE_ITEMS_MAX, wanted, loops);
    source_mark_loops(json_object_get(analysis, "locality"), SOURCE_ITEMS_MAX, wanted, loops);
}

static void source_add(struct source_spans *spans, const json_t *file, json_int_t first, json_int_t last)
{
    const char *path = json_string_value(file);
    if (!path || !*path || strlen(path) != json_string_length(file) || first < 1 || first > INT_MAX / 2)
        return;
    if (last < first)
        last = first;
    if (last - first >= SOURCE_LOOP_LINES_MAX)
        last = first + SOURCE_LOOP_LINES_MAX - 1;
    LWP_GROW(&spans->items, spans->count, &spans->room);
    spans->items[spans->count++] = (struct source_span){
        path, first > SOURCE_AROUND_LINES ? (int)first - SOURCE_AROUND_LINES : 1, (int)last + SOURCE_AROUND_LINES};
}

static void source_of_loops(const json_t *analysis, enum lwp_source_policy policy, struct source_spans *spans)
{
    const json_t *loops = json_object_get(analysis, "loops");
    size_t total = json_array_size(loops), i;
    json_t *loop;
    bool *wanted = lwp_zeroed(total, sizeof *wanted);
    source_mark_advised(analysis, wanted, total);
    json_array_foreach(loops, i, loop)
    {
        if (policy != LWP_SOURCE_HOT || json_number_value(json_object_get(loop, "share")) >= share_hot || wanted[i])
            source_add(spans, json_object_get(loop, "file"), json_integer_value(json_object_get(loop, "first_line")),
                       json_integer_value(json_object_get(loop, "last_line")));
    }
    free(wanted);
}

static void source_of_context(const json_t *analysis, const json_t *id, struct source_spans *spans)
{
    const json_t *contexts = json_object_get(analysis, "contexts"), *frame;
    size_t i;
    if (!json_is_integer(id) || json_integer_value(id) < 0)
        return;
    json_array_foreach(json_object_get(json_array_get(contexts, (size_t)json_integer_value(id)), "frames"), i, frame)
    {
        json_int_t line = json_integer_value(json_object_get(frame, "line"));
        if (i == SOURCE_FRAMES_MAX)
            break;
        source_add(spans, json_object_get(frame, "file"), line, line);
    }
}

/* Where redundant pairs and shared lines are accessed. */
static void source_of_accesses(const json_t *analysis, enum lwp_source_policy policy, struct source_spans *spans)
{
    const json_t *item, *site;
    size_t i, k;
    json_array_foreach(json_object_get(analysis, "redundancies"), i, item)
    {
        if (policy == LWP_SOURCE_HOT && json_number_value(json_object_get(item, "share")) < share_hot)
            continue;
        source_of_context(analysis, json_object_get(item, "first"), spans);
        source_of_context(analysis, json_object_get(item, "second"), spans);
    }
    json_array_foreach(json_object_get(analysis, "sharing"), i, item)
    {
        json_array_foreach(json_object_get(item, "sites"), k, site)
        {
            source_of_context(analysis, json_object_get(site, "context"), spans);
        }
    }
}

/* When the run began, by the clock of files; 0: unknown. */
static time_t source_run_start(const json_t *analysis)
{
    const char *started = json_string_value(json_object_get(json_object_get(analysis, "run"), "started"));
    struct tm parts = {0};
    return started && strptime(started, "%Y-%m-%dT%H:%M:%S", &parts) ? timegm(&parts) : 0;
}

/* Both without links. */
static bool source_is_below(const char *path, const json_t *roots)
{
    size_t i;
    const json_t *root;
    json_array_foreach(roots, i, root)
    {
        const char *folder = json_string_value(root);
        if (folder && lwp_path_is_below(path, folder))
            return true;
    }
    return false;
}

/* The text of a plain file, NUL-ended, or NULL and why. */
static char *source_read(const char *named, const json_t *roots, struct stat *info, const char **why)
{
    char path[PATH_MAX];
    if (!source_named_like_source(named)) {
        *why = "not called like a source file";
        return NULL;
    }
    if (!realpath(named, path)) {
        *why = "not found on this machine";
        return NULL;
    }
    if (!source_named_like_source(path)) {
        *why = "a link to what is not called like a source file";
        return NULL;
    }
    if (!source_is_below(path, roots)) {
        *why = json_array_size(roots) ? "outside of the folders that the run's source is in (--root FOLDER names another)"
                                      : "not read: this result was not made here (--root FOLDER names where its source is)";
        return NULL;
    }
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW);
    if (fd < 0) {
        *why = "not found on this machine";
        return NULL;
    }
    char *text = NULL;
    if (fstat(fd, info) || !S_ISREG(info->st_mode) || info->st_size > SOURCE_FILE_BYTES_MAX) {
        *why = "not a plain file of at most 8 MiB";
    } else if ((text = malloc((size_t)info->st_size + 1))) {
        size_t used = 0;
        ssize_t got;
        while (used < (size_t)info->st_size && (got = read(fd, text + used, (size_t)info->st_size - used)) > 0)
            used += (size_t)got;
        text[used] = '\0';
        if (strlen(text) != used) {
            *why = "not a text file";
            free(text);
            text = NULL;
        }
    } else {
        *why = "too large for the memory left";
    }
    close(fd);
    return text;
}

static json_t *source_line(const char *start, size_t bytes)
{
    char line[SOURCE_LINE_BYTES_MAX + 8];
    bool cut = bytes > SOURCE_LINE_BYTES_MAX;
    if (cut)
        bytes = SOURCE_LINE_BYTES_MAX;
    /* not in the middle of a character */
    while (cut && bytes && ((unsigned char)start[bytes] & 0xc0) == 0x80)
        bytes--;
    snprintf(line, sizeof line, "%.*s%s", (int)bytes, start, cut ? "…" : "");
    char *clean = lwp_utf8_clean(line);
    json_t *text = clean ? json_string(clean) : NULL;
    free(clean);
    return text;
}

/* The lines of the spans (sorted by first line) that the file has; overlapping ones become one excerpt. */
static json_t *source_excerpts(const char *text, const struct source_span *spans, size_t count, size_t *budget)
{
    json_t *excerpts = json_array(), *lines = NULL;
    int number = 1, covered = 0;
    size_t next = 0;
    for (const char *at = text; *at && *budget; number++) {
        size_t bytes = strcspn(at, "\n");
        while (next < count && spans[next].first <= number) {
            if (spans[next].last > covered)
                covered = spans[next].last;
            next++;
        }
        if (number > covered) {
            lines = NULL;
            if (next == count)
                break;
        } else {
            if (!lines) {
                lines = json_array();
                json_array_append_new(excerpts, json_pack("{s:i, s:o}", "first", number, "lines", lines));
            }
            json_array_append_new(lines, source_line(at, bytes && at[bytes - 1] == '\r' ? bytes - 1 : bytes));
            size_t cost = (bytes < SOURCE_LINE_BYTES_MAX ? bytes : SOURCE_LINE_BYTES_MAX) + 8;
            *budget = *budget > cost ? *budget - cost : 0;
        }
        at += bytes + (at[bytes] == '\n');
    }
    return excerpts;
}

static json_t *source_file(const json_t *analysis, const struct source_span *spans, size_t count, const json_t *roots, size_t *budget)
{
    const char *path = spans->path, *why = NULL;
    const char *cwd = json_string_value(json_object_get(json_object_get(analysis, "run"), "cwd"));
    char full[PATH_MAX];
    struct stat info = {0};
    char *text = NULL;
    if (!*budget)
        why = "left out: the page would become too large";
    else if (*path != '/' && !cwd)
        why = "a relative path, and where the program ran is unknown";
    else if (snprintf(full, sizeof full, "%s%s%s", *path == '/' ? "" : cwd, *path == '/' ? "" : "/", path) >=
             (int)sizeof full)
        why = "its path is too long";
    else
        text = source_read(full, roots, &info, &why);
    time_t started = source_run_start(analysis);
    json_t *file =
        json_pack("{s:s, s:b, s:s?, s:o}", "path", path, "changed", text && started && info.st_mtime > started,
                  "missing", why, "excerpts", text ? source_excerpts(text, spans, count, budget) : json_array());
    free(text);
    return file;
}

json_t *lwp_source_collect(const json_t *analysis, enum lwp_source_policy policy, const json_t *roots, size_t most)
{
    static const char *const names[] = {"none", "hot", "all"};
    json_t *files = json_array(), *sources = json_pack("{s:s, s:o}", "policy", names[policy], "files", files);
    size_t budget = most;
    struct source_spans spans = {0};
    if (!sources || policy == LWP_SOURCE_NONE)
        return sources;
    source_of_loops(analysis, policy, &spans);
    source_of_accesses(analysis, policy, &spans);
    if (spans.count)
        qsort(spans.items, spans.count, sizeof *spans.items, source_compare);
    for (size_t i = 0, end; i < spans.count && json_array_size(files) < SOURCE_FILES_MAX; i = end) {
        for (end = i + 1; end < spans.count && strcmp(spans.items[end].path, spans.items[i].path) == 0; end++)
            ;
        json_array_append_new(files, source_file(analysis, spans.items + i, end - i, roots, &budget));
    }
    free(spans.items);
    return sources;
}
