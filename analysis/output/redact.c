/* Two passes: what is private is gathered from the analysis (its host, its arguments, the homes that any text names), then
 * every text of the data is gone through. A text keeps its other parts, so that what belongs together still does: the
 * same path is the same everywhere. */
#include "analysis/output/redact.h"

#include "analysis/json/json_value.h"
#include "analysis/review/names.h"
#include "base/path.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS_MAX = 256, ARGUMENT_LEAST = 4, HOST_LEAST = 3 };

struct redact_word {
    const char *from, *to;
    bool component; /* of a path only: between slashes */
};

struct redact {
    struct lwp_arena *arena;
    const char *root; /* of the source; NULL: unknown */
    bool all;         /* or paths alone */
    struct redact_word words[WORDS_MAX];
    size_t count;
};

static void redact_add(struct redact *redact, const char *from, const char *to, bool component)
{
    for (size_t i = 0; i < redact->count; i++)
        if (strcmp(redact->words[i].from, from) == 0 && redact->words[i].component == component)
            return;
    if (redact->count < WORDS_MAX)
        redact->words[redact->count++] = (struct redact_word){lwp_arena_strdup(redact->arena, from), to, component};
}

/* ---- what is private ---- */

static bool redact_name_part(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '-' || (unsigned char)c >= 0x80;
}

/* "/home/name" and the like anywhere in the text. */
static void redact_find_homes(void *to, const char *key, json_t *value)
{
    (void)key;
    struct redact *redact = to;
    const char *text = json_string_value(value);
    static const char *const above[] = {"/home/", "/Users/"};
    for (size_t i = 0; i < sizeof above / sizeof *above; i++)
        for (const char *at = strstr(text, above[i]); at; at = strstr(at + 1, above[i])) {
            size_t length = strlen(above[i]), name = 0;
            while (redact_name_part(at[length + name]) || (at[length + name] == '.' && redact_name_part(at[length + name + 1])))
                name++;
            if (!name)
                continue;
            redact_add(redact, lwp_arena_strndup(redact->arena, at, length + name), "~", false);
            redact_add(redact, lwp_arena_strndup(redact->arena, at + length, name), "[user]", true);
        }
}

/* A number or a word, as functions have, too: where it stands on its own it says nothing. */
static bool redact_is_plain(const char *text)
{
    while (isalnum((unsigned char)*text) || *text == '_')
        text++;
    return !*text;
}

/* Who shares it, where that is who made it. */
static void redact_gather_user(struct redact *redact)
{
    const char *home = getenv("HOME"), *user = getenv("USER");
    if (home && home[0] == '/' && home[1])
        redact_add(redact, home, "~", false);
    if (user && strlen(user) >= HOST_LEAST && strcmp(user, "root") != 0)
        redact_add(redact, user, "[user]", true);
    redact_add(redact, "/root", "~", false);
}

static void redact_gather_run(struct redact *redact, const json_t *run)
{
    const char *host = lwp_json_string(run, "host");
    size_t i;
    json_t *word;
    json_array_foreach(json_object_get(run, "command"), i, word) {
        const char *argument = json_string_value(word);
        if (i && argument && strlen(argument) >= ARGUMENT_LEAST && !redact_is_plain(argument))
            redact_add(redact, argument, "[argument]", false);
    }
    if (host && strlen(host) >= HOST_LEAST && strcmp(host, "localhost") != 0) {
        redact_add(redact, host, "[host]", false);
        size_t label = strcspn(host, ".");
        if (label >= HOST_LEAST)
            redact_add(redact, lwp_arena_strndup(redact->arena, host, label), "[host]", false);
    }
}

/* ---- every text ---- */

/* Whether the word stands there on its own: "/home/ann" is not in "/home/anna". */
static bool redact_is_at(const struct redact_word *word, const char *text, const char *at)
{
    size_t length = strlen(word->from);
    if (strncmp(at, word->from, length) != 0)
        return false;
    char before = at > text ? at[-1] : '/', after = at[length];
    if (word->component)
        return before == '/' && (after == '/' || !after);
    bool starts = !redact_name_part(word->from[0]) || at == text || !redact_name_part(before);
    bool slashed = word->from[0] == '/' && at > text && (redact_name_part(before) || before == '.');
    return starts && !slashed && !(redact_name_part(word->from[length - 1]) && redact_name_part(after));
}

static const char *redact_words(struct redact *redact, const char *text)
{
    char *made = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&made, &length);
    for (const char *at = text; out && *at;) {
        const struct redact_word *found = NULL;
        for (size_t i = 0; i < redact->count && !found; i++)
            if (redact_is_at(&redact->words[i], text, at))
                found = &redact->words[i];
        if (found)
            fputs(found->to, out);
        else
            putc(*at, out);
        at += found ? strlen(found->from) : 1;
    }
    const char *answer = out && fclose(out) == 0 ? lwp_arena_strdup(redact->arena, made) : "[left out]";
    free(made);
    return answer;
}

/* A file: relative below the root; elsewhere, when all is to go and it is not the system's, without its folders. */
static const char *redact_path(const struct redact *redact, const char *path)
{
    const char *relative = *path == '/' || strncmp(path, "../", 3) == 0 ? lwp_source_relative(redact->arena, redact->root, path) : path;
    if (redact->all && *relative == '/' && !lwp_path_is_system(relative))
        return lwp_arena_printf(redact->arena, ".../%s", lwp_path_last(relative));
    return relative;
}

static void redact_text(void *to, const char *key, json_t *value)
{
    struct redact *redact = to;
    const char *text = json_string_value(value);
    if (strcmp(key, "file") == 0 || strcmp(key, "path") == 0)
        text = redact_path(redact, text);
    if (redact->all)
        text = redact_words(redact, text);
    if (strcmp(text, json_string_value(value)) != 0)
        json_string_set(value, text);
}

/* ---- the run ---- */

/* "/srv/app/particles --count 5" -> "particles [2 arguments]". */
static void redact_command(struct redact *redact, json_t *run)
{
    json_t *command = json_object_get(run, "command"), *process;
    size_t arguments = json_array_size(command), i;
    const char *program = json_string_value(json_array_get(command, 0));
    if (program && json_is_array(command)) {
        json_t *kept = json_pack("[s]", lwp_path_last(program));
        if (arguments > 1)
            json_array_append_new(
                kept, json_string(lwp_arena_printf(redact->arena, "[%zu argument%s]", arguments - 1, arguments == 2 ? "" : "s")));
        json_object_set_new(run, "command", kept);
    }
    json_array_foreach(json_object_get(run, "processes"), i, process) {
        const char *line = lwp_json_string(process, "command");
        if (line)
            json_object_set_new(process, "command", json_string(lwp_path_last(lwp_arena_strndup(redact->arena, line, strcspn(line, " ")))));
    }
}

static void redact_run(struct redact *redact, json_t *run)
{
    static const char *const nulled[] = {"cwd", "host"};
    json_t *options = json_object_get(run, "options"), *option, *merged;
    const char *name;
    size_t i;
    redact_command(redact, run);
    for (size_t k = 0; k < 2; k++)
        if (json_is_string(json_object_get(run, nulled[k])))
            json_object_set_new(run, nulled[k], json_null());
    json_object_foreach(options, name, option)
        if (json_is_string(option))
            json_string_set(option, "[left out]");
    json_array_foreach(json_object_get(run, "runs"), i, merged) {
        const char *dir = lwp_json_string(merged, "dir");
        if (dir)
            json_object_set_new(merged, "dir", json_string(lwp_path_last(dir)));
    }
}

static void redact_data(json_t *data, json_t *analysis, const char *source_root, bool all)
{
    struct redact redact = {.arena = lwp_arena_new(), .all = all};
    json_t *run = json_object_get(analysis, "run");
    redact.root = lwp_source_root(redact.arena, analysis, source_root);
    if (all) {
        redact_gather_run(&redact, run);
        redact_gather_user(&redact);
        lwp_json_texts(data, "", redact_find_homes, &redact);
        redact_run(&redact, run);
    }
    lwp_json_texts(data, "", redact_text, &redact);
    lwp_arena_free(redact.arena);
}

void lwp_redact_paths(json_t *data, json_t *analysis, const char *source_root)
{
    redact_data(data, analysis, source_root, false);
}

void lwp_redact(json_t *data, json_t *analysis, const char *source_root)
{
    redact_data(data, analysis, source_root, true);
}
