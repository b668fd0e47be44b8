#include "patch/sources/units.h"

#include "base/json_file.h"
#include "base/path.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct words {
    const char **words;
    size_t word_count, word_room;
};

/* The words of a command line, by a shell's rules for quotes. */
static struct words split_words(struct lwp_arena *arena, const char *command)
{
    struct words words = {0};
    char *to = lwp_arena_strdup(arena, command);
    for (const char *from = command; *from;) {
        from += strspn(from, " \t\n");
        if (!*from)
            break;
        const char *word = to;
        for (char quote = 0; *from && (quote || !strchr(" \t\n", *from)); from++) {
            if (*from == '\\' && quote != '\'' && from[1])
                *to++ = *++from;
            else if (*from == quote)
                quote = 0;
            else if (!quote && (*from == '\'' || *from == '"'))
                quote = *from;
            else
                *to++ = *from;
        }
        LWP_PUSH(words.word, lwp_arena_strndup(arena, word, (size_t)(to - word)));
    }
    return words;
}

static bool is_source(const char *word)
{
    static const char *const ends[] = {".c", ".cc", ".cpp", ".cxx", ".C"};
    const char *dot = word[0] == '-' ? NULL : strrchr(word, '.');
    for (size_t i = 0; dot && i < sizeof ends / sizeof *ends; i++)
        if (strcmp(dot, ends[i]) == 0)
            return true;
    return false;
}

static const char *absolute(struct lwp_arena *arena, const char *directory, const char *path)
{
    char full[PATH_MAX];
    const char *joined = path[0] == '/' ? path : lwp_arena_printf(arena, "%s/%s", directory, path);
    return realpath(joined, full) ? lwp_arena_strdup(arena, full) : joined;
}

/* Options that decide what the source says. Those of the first row take their value as the next word when nothing follows. */
static const char *const valued[] = {"-D", "-U", "-I", "-isystem", "-iquote", "-idirafter", "-include", "-imacros", "-x"};
static const char *const whole[] = {"-std=", "-ansi",   "-nostdinc",       "-m32",          "-m64",     "-mavx",        "-msse", "-mfma",
                                    "-mbmi", "-march=", "-funsigned-char", "-fsigned-char", "-pthread", "-fshort-enums", "-fno-strict-aliasing"};

static void add_argument(struct lwp_unit *unit, const char *word)
{
    LWP_PUSH(unit->argument, word);
}

static void add_options(struct lwp_unit *unit, const char *const *words, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        for (size_t v = 0; v < sizeof valued / sizeof *valued; v++) {
            size_t length = strlen(valued[v]);
            if (strncmp(words[i], valued[v], length) != 0 || (v > 2 && words[i][length] && valued[v][1] != 'x'))
                continue;
            add_argument(unit, words[i]);
            if (!words[i][length] && i + 1 < count)
                add_argument(unit, words[++i]);
            break;
        }
        for (size_t w = 0; w < sizeof whole / sizeof *whole; w++)
            if (strncmp(words[i], whole[w], strlen(whole[w])) == 0)
                add_argument(unit, words[i]);
        if (strcmp(words[i], "-fopenmp") == 0) /* itself it would hide the statements behind pragmas from who reads the unit */
            add_argument(unit, "-D_OPENMP=201511");
        if (strcmp(words[i], "-o") == 0 || strcmp(words[i], "-MF") == 0 || strcmp(words[i], "-MT") == 0 || strcmp(words[i], "-MQ") == 0)
            i++;
    }
}

static void add_unit(struct lwp_units *units, const char *directory, const char *file, const char *const *words, size_t count)
{
    struct lwp_unit *unit = LWP_PUSH(units->unit, (struct lwp_unit){.file = absolute(units->arena, directory, file)});
    unit->directory = absolute(units->arena, directory, ".");
    add_argument(unit, "clang");
    add_argument(unit, lwp_arena_printf(units->arena, "-working-directory=%s", unit->directory));
    add_options(unit, words, count);
    add_argument(unit, "-w");
    add_argument(unit, unit->file);
    LWP_GROW(&unit->arguments, unit->argument_count, &unit->argument_room);
    unit->arguments[unit->argument_count] = NULL;
}

/* The work tree around the first source; otherwise the folder that all sources and folders of compilation have in common. */
static void find_root(struct lwp_units *units)
{
    char *root = lwp_arena_strdup(units->arena, units->units[0].directory);
    units->root = root;
    if (lwp_path_work_tree(root) && lwp_path_is_below(units->units[0].file, root))
        return;
    for (size_t i = 0; i < units->unit_count; i++) {
        const char *both[] = {units->units[i].directory, units->units[i].file};
        for (int b = 0; b < 2; b++)
            while (!lwp_path_is_below(both[b], root) && strcmp(root, "/") != 0)
                *(strrchr(root, '/') == root ? root + 1 : strrchr(root, '/')) = '\0';
    }
}

static int finish(struct lwp_units *units, const char *from, struct lwp_error *err)
{
    if (!units->unit_count)
        return lwp_error_set(err, LWP_ERR_USAGE, "%s names no source file", from);
    find_root(units);
    return LWP_OK;
}

int lwp_units_read(struct lwp_units *units, const char *path, struct lwp_error *err)
{
    json_error_t problem;
    json_t *root = lwp_json_read(path, 0, &problem);
    if (!json_is_array(root)) {
        json_decref(root);
        return lwp_error_set(err, LWP_ERR_FORMAT, "cannot read '%s' as a compile_commands.json: %s", path,
                             root ? "it is no list" : problem.text);
    }
    size_t i;
    json_t *entry;
    json_array_foreach(root, i, entry) {
        const char *file = json_string_value(json_object_get(entry, "file"));
        const char *directory = json_string_value(json_object_get(entry, "directory"));
        const char *command = json_string_value(json_object_get(entry, "command"));
        json_t *arguments = json_object_get(entry, "arguments"), *argument;
        if (!file || !is_source(file))
            continue;
        struct words words = command ? split_words(units->arena, command) : (struct words){0};
        size_t a;
        json_array_foreach(arguments, a, argument) {
            const char *word = json_string_value(argument);
            LWP_PUSH(words.word, lwp_arena_strdup(units->arena, word ? word : ""));
        }
        add_unit(units, directory ? directory : ".", file, words.words, words.word_count);
        free(words.words);
    }
    json_decref(root);
    return finish(units, path, err);
}

int lwp_units_parse(struct lwp_units *units, const char *command, struct lwp_error *err)
{
    char here[PATH_MAX];
    if (!getcwd(here, sizeof here))
        return lwp_error_errno(err, "cannot find the current folder");
    struct words words = split_words(units->arena, command);
    for (size_t i = 1; i < words.word_count; i++)
        if (is_source(words.words[i]))
            add_unit(units, here, words.words[i], words.words, words.word_count);
    free(words.words);
    return finish(units, "--cc", err);
}

void lwp_units_free(struct lwp_units *units)
{
    for (size_t i = 0; i < units->unit_count; i++)
        free(units->units[i].arguments);
    free(units->units);
    *units = (struct lwp_units){0};
}
