/* The small pieces everything else stands on: options, arena, map, errors, log, text for JSON. */
#include "base/arena.h"
#include "base/command.h"
#include "base/cpu.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/path.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- options ---- */

static const struct lwp_option rows[] = {
    {.name = "output", .letter = 'o', .kind = LWP_OPT_TEXT, .argument = "DIR", .help = "where"},
    {.name = "rate", .letter = 'F', .kind = LWP_OPT_NUMBER, .argument = "HZ", .min = 1, .max = 100, .initial = "10", .help = "how often"},
    {.name = "engine", .kind = LWP_OPT_CHOICE, .argument = "NAME", .choices = "auto|timer|pmu", .initial = "auto", .help = "how"},
    {.name = "force", .kind = LWP_OPT_FLAG, .help = "overwrite"},
    {0},
};
static const struct lwp_command mixed = {.name = "mixed", .options = rows, .usage = "", .summary = ""};
static const struct lwp_command stops = {.name = "stops", .options = rows, .usage = "", .summary = "", .stops_at_first = true};

enum { WORDS_MOST = 12 };

struct parsed {
    char *argv[WORDS_MOST + 1];
    int argc, status;
    struct lwp_options options;
    struct lwp_error err;
    char storage[512];
};

/* `line` is split at spaces; "_" stands for an empty word. */
static void parse(struct parsed *parsed, const struct lwp_command *command, const char *line)
{
    static char name[] = "lwp", empty[] = "";
    *parsed = (struct parsed){.argc = 1, .argv = {name}};
    snprintf(parsed->storage, sizeof parsed->storage, "%s", line);
    for (char *word = strtok(parsed->storage, " "); word && parsed->argc < WORDS_MOST; word = strtok(NULL, " "))
        parsed->argv[parsed->argc++] = strcmp(word, "_") ? word : empty;
    parsed->status = lwp_options_parse(&parsed->options, command, parsed->argc, parsed->argv, &parsed->err);
}

static void test_options_accepted(void **state)
{
    (void)state;
    static const struct {
        const struct lwp_command *command;
        const char *line, *output, *engine;
        double rate;
        bool force;
        const char *operands; /* joined by spaces */
    } table[] = {
        {&mixed, "", NULL, "auto", 10, false, ""},
        {&mixed, "-o a --rate 20 --engine pmu --force b", "a", "pmu", 20, true, "b"},
        {&mixed, "b -oa c --rate=2.5 --engine=timer", "a", "timer", 2.5, false, "b c"},
        {&mixed, "-F100 --output=x=y", "x=y", "auto", 100, false, ""},
        {&mixed, "--output= x", "", "auto", 10, false, "x"},
        {&mixed, "-o -o x", "-o", "auto", 10, false, "x"},
        {&mixed, "a -- --force -o", NULL, "auto", 10, false, "a --force -o"},
        {&mixed, "- x", NULL, "auto", 10, false, "- x"},
        {&mixed, "-o a -o b", "b", "auto", 10, false, ""},
        {&stops, "-o a app --force -o b", "a", "auto", 10, false, "app --force -o b"},
        {&stops, "--force -- --app x", NULL, "auto", 10, true, "--app x"},
        {&stops, "app -- x", NULL, "auto", 10, false, "app -- x"},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct parsed parsed;
        parse(&parsed, table[i].command, table[i].line);
        print_message("%s\n", table[i].line);
        assert_int_equal(parsed.status, 0);
        const char *output = lwp_options_text(&parsed.options, "output");
        if (table[i].output)
            assert_string_equal(output, table[i].output);
        else
            assert_null(output);
        assert_string_equal(lwp_options_text(&parsed.options, "engine"), table[i].engine);
        assert_true(lwp_options_number(&parsed.options, "rate") == table[i].rate);
        assert_int_equal(lwp_options_flag(&parsed.options, "force"), table[i].force);
        char operands[512] = "";
        for (int k = parsed.options.operands; k < parsed.argc; k++) {
            strcat(operands, *operands ? " " : "");
            strcat(operands, parsed.argv[k]);
        }
        assert_string_equal(operands, table[i].operands);
    }
}

static void test_options_refused(void **state)
{
    (void)state;
    static const struct {
        const char *line, *says;
    } table[] = {
        {"--forse", "did you mean '--force'"},
        {"--outptu x", "did you mean '--output'"},
        {"--zzzzzz", "'lwp help mixed'"},
        {"-x", "'-x'"},
        {"--force=1", "'--force=1'"},
        {"--rate", "--rate needs HZ"},
        {"-o", "--output needs DIR"},
        {"--rate 0", "from 1 to 100"},
        {"--rate 101", "from 1 to 100"},
        {"--rate 5x", "from 1 to 100"},
        {"--rate _", "from 1 to 100"},
        {"--rate nan", "from 1 to 100"},
        {"--rate inf", "from 1 to 100"},
        {"--rate 0x10", "from 1 to 100"},
        {"--rate -5", "from 1 to 100"},
        {"--engine pm", "auto|timer|pmu"},
        {"--engine timer|pmu", "auto|timer|pmu"},
        {"--engine _", "auto|timer|pmu"},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct parsed parsed;
        parse(&parsed, &mixed, table[i].line);
        print_message("%s: %s\n", table[i].line, parsed.status ? parsed.err.text : "accepted");
        assert_int_equal(parsed.status, LWP_ERR_USAGE);
        assert_non_null(strstr(parsed.err.text, table[i].says));
    }
}

static void test_options_help(void **state)
{
    (void)state;
    struct parsed parsed;
    parse(&parsed, &mixed, "--help");
    assert_true(parsed.options.help);
    parse(&parsed, &stops, "app --help");
    assert_false(parsed.options.help);
}

static void test_nearest(void **state)
{
    (void)state;
    static const char *const names[] = {"collect", "analyze", "report", "serve", NULL};
    assert_string_equal(lwp_nearest("colect", names), "collect");
    assert_string_equal(lwp_nearest("analyse", names), "analyze");
    assert_string_equal(lwp_nearest("serve", names), "serve");
    assert_null(lwp_nearest("xyz", names));
    assert_null(lwp_nearest("", names));
    char longest[300];
    memset(longest, 'a', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    assert_null(lwp_nearest(longest, names));
}

/* ---- arena ---- */

static void test_arena(void **state)
{
    (void)state;
    struct lwp_arena *arena = lwp_arena_new();
    char *blocks[500];
    size_t sizes[500];
    for (size_t i = 0; i < 500; i++) {
        sizes[i] = i % 97 == 0 ? 300000 + i : i * 7 % 4001 + 1;
        blocks[i] = lwp_arena_alloc(arena, sizes[i], 1);
        assert_int_equal((uintptr_t)blocks[i] % 16, 0);
        for (size_t k = 0; k < sizes[i]; k++)
            assert_true(blocks[i][k] == 0);
        memset(blocks[i], (int)i | 1, sizes[i]);
    }
    for (size_t i = 0; i < 500; i++) /* none overlaps another */
        for (size_t k = 0; k < sizes[i]; k++)
            assert_true(blocks[i][k] == (char)(i | 1));
    assert_string_equal(lwp_arena_strdup(arena, "text"), "text");
    assert_string_equal(lwp_arena_strndup(arena, "text", 2), "te");
    assert_string_equal(lwp_arena_printf(arena, "%d %s", 42, "x"), "42 x");
    lwp_arena_free(arena);
    lwp_arena_free(NULL);
}

static void test_arena_list(void **state)
{
    static const char *const names[] = {"a", "b", "c"};
    struct lwp_arena *arena = lwp_arena_new();
    (void)state;
    assert_string_equal(lwp_arena_list(arena, names, 0, 0), "");
    assert_string_equal(lwp_arena_list(arena, names, 1, 0), "a");
    assert_string_equal(lwp_arena_list(arena, names, 2, 0), "a and b");
    assert_string_equal(lwp_arena_list(arena, names, 3, 0), "a, b and c");
    assert_string_equal(lwp_arena_list(arena, names, 3, 4), "a, b, c and 4 more");
    lwp_arena_free(arena);
}

static void test_arena_overflow(void **state)
{
    (void)state;
    pid_t child = fork();
    if (child == 0) {
        int null = open("/dev/null", O_WRONLY);
        dup2(null, STDERR_FILENO);
        static struct lwp_arena *volatile arena; /* reachable at exit: no leak to report */
        arena = lwp_arena_new();
        lwp_arena_alloc(arena, SIZE_MAX / 4, 8);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 125);
}

static void test_grow(void **state)
{
    (void)state;
    unsigned *items = NULL;
    size_t capacity = 0;
    for (unsigned i = 0; i < 10000; i++) {
        LWP_GROW(&items, i, &capacity);
        items[i] = i;
    }
    for (unsigned i = 0; i < 10000; i++)
        assert_int_equal(items[i], i);
    free(items);
}

/* ---- map ---- */

static void test_map(void **state)
{
    (void)state;
    struct lwp_map *map = lwp_map_new();
    assert_int_equal(lwp_map_get(map, 0), LWP_MAP_NONE);
    for (uint64_t i = 0; i < 50000; i++) {
        uint64_t key = i << 32 | (i & 3); /* keys that differ in high bits only */
        uint32_t *value = lwp_map_at(map, key);
        assert_int_equal(*value, LWP_MAP_NONE);
        *value = (uint32_t)i;
    }
    assert_int_equal(map->count, 50000);
    for (uint64_t i = 0; i < 50000; i++) {
        assert_int_equal(lwp_map_get(map, i << 32 | (i & 3)), i);
        assert_int_equal(*lwp_map_at(map, i << 32 | (i & 3)), i);
        assert_int_equal(lwp_map_get(map, i << 32 | ((i & 3) + 4)), LWP_MAP_NONE);
    }
    assert_int_equal(map->count, 50000);
    lwp_map_clear(map);
    assert_int_equal(lwp_map_get(map, 0), LWP_MAP_NONE);
    *lwp_map_at(map, 7) = 8;
    lwp_map_reserve(map, 1000);
    assert_int_equal(lwp_map_get(map, 7), 8);
    assert_int_equal(map->count, 1);
    lwp_map_free(map);
    lwp_map_free(NULL);
}

/* ---- errors, log, text ---- */

static void test_errors(void **state)
{
    (void)state;
    struct lwp_error err;
    assert_int_equal(lwp_error_set(&err, LWP_ERR_LIMIT, "%d of %s", 3, "them"), LWP_ERR_LIMIT);
    assert_int_equal(err.status, LWP_ERR_LIMIT);
    assert_string_equal(err.text, "3 of them");
    errno = ENOENT;
    assert_int_equal(lwp_error_errno(&err, "cannot open %s", "x"), LWP_ERR_SYSTEM);
    assert_string_equal(err.text, "cannot open x: No such file or directory");
    assert_int_equal(lwp_error_set(NULL, LWP_ERR_USAGE, "x"), LWP_ERR_USAGE);
    char longest[2000];
    memset(longest, 'a', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    lwp_error_errno(&err, "%s", longest);
    assert_int_equal(strlen(err.text), LWP_ERROR_TEXT - 1);
}

static void test_log(void **state)
{
    (void)state;
    char path[] = "/tmp/lwp-log.XXXXXX", text[256] = "";
    int file = mkstemp(path), before = dup(STDERR_FILENO);
    assert_true(file >= 0 && before >= 0);
    unlink(path);
    fflush(stderr);
    dup2(file, STDERR_FILENO);
    lwp_log_progress("never seen: not a terminal");
    lwp_log(LWP_LOG_ERROR, "a\033[31mb\n%s", "c\x7f");
    lwp_log(LWP_LOG_DEBUG, "dropped");
    lwp_log_set_level(LWP_LOG_DEBUG);
    lwp_log(LWP_LOG_DEBUG, "kept");
    lwp_log_set_level(LWP_LOG_NOTE);
    fflush(stderr);
    dup2(before, STDERR_FILENO);
    close(before);
    ssize_t size = pread(file, text, sizeof text - 1, 0);
    close(file);
    assert_true(size > 0);
    assert_string_equal(text, "lwp: a?[31mb?c?\nlwp: debug: kept\n");
}

static void test_utf8(void **state)
{
    (void)state;
#define BAD "\xef\xbf\xbd"
    static const struct {
        const char *dirty, *clean;
    } table[] = {
        {"", ""},
        {"plain", "plain"},
        {"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"},
        {"a\xff" "b", "a" BAD "b"},
        {"\xc3", BAD},
        {"\xc0\xaf", BAD BAD},             /* overlong */
        {"\xed\xa0\x80", BAD BAD BAD},     /* a surrogate */
        {"\xf4\x90\x80\x80", BAD BAD BAD BAD}, /* beyond U+10FFFF */
        {"\xe2\x82", BAD BAD},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        char *clean = lwp_utf8_clean(table[i].dirty);
        assert_string_equal(clean, table[i].clean);
        free(clean);
    }
}

static void test_visible(void **state)
{
    (void)state;
    static const struct {
        const char *text, *shown;
        bool line_breaks;
        size_t most;
    } table[] = {
        {"", "", false, 0},
        {"caf\xc3\xa9", "caf\xc3\xa9", false, 0},
        {"a\033[31mb\x7f", "a\\x1b[31mb\\x7f", false, 0},
        {"\xc2\x9b" "2J", "\\x9b2J", false, 0},                  /* CSI as one character */
        {"a\xe2\x80\xae" "b", "a\\u202eb", false, 0},           /* right to left from here */
        {"a\xe2\x80\x8b" "b", "a\\u200bb", false, 0},
        {"\xf3\xa0\x81\x81", "\\U000e0041", false, 0},         /* a tag: drawn as nothing */
        {"a\xff\xc0\xaf", "a\\xff\\xc0\\xaf", false, 0},
        {"a\nb\tc", "a\\x0ab c", false, 0},
        {"a\nb\rc", "a\nb\\x0dc", true, 0},
        {"0123456789abcdef", "012345...def", false, 12},
        {"0123456789ab", "0123456789ab", false, 12},
        {"loop of one::two::Three::four (a.rs:5)", "loop of ...Three::four (a.rs:5)", false, 32}, /* the innermost says most */
        {"one::two<int>::three", "...two<int>::three", false, 18},
        {"one::two<0123456789>::three", "...two<01234...three", false, 20},
        {"\xe6\xbc\xa2\xe6\xbc\xa2\xe6\xbc\xa2\xe6\xbc\xa2\xe6\xbc\xa2", "\xe6\xbc\xa2\xe6\xbc\xa2...\xe6\xbc\xa2", false, 9},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        char *shown = lwp_visible(table[i].text, table[i].line_breaks, table[i].most);
        assert_string_equal(shown, table[i].shown);
        free(shown);
    }
    assert_int_equal(lwp_visible_columns("a\xe6\xbc\xa2" "e\xcc\x81"), 4);
    char marks[2 * 1000 + 2] = "e";
    for (size_t i = 0; i < 1000; i++)
        memcpy(marks + 1 + 2 * i, "\xcc\x81", 3);
    char *few = lwp_visible(marks, false, 0);
    assert_int_equal(strlen(few), 1 + 2 * 4);
    free(few);
}

static void paths_of_the_system(void **state)
{
    (void)state;
    assert_true(lwp_path_is_system("/usr/include/stdio.h"));
    assert_true(lwp_path_is_system("/rust/deps/hashbrown-0.16.1/src/rustc_entry.rs"));
    assert_true(lwp_path_is_system("/home/me/.cargo/registry/src/slab/lib.rs"));
    assert_false(lwp_path_is_system("/usr/src/program/main.c"));
    assert_false(lwp_path_is_system("/home/me/rust/deps/main.rs"));
}

static void functions_in_brief(void **state)
{
    (void)state;
    static const struct {
        const char *name, *brief;
    } table[] = {
        {"walk", "walk"},
        {"bool ns::Tree<ns::Box<float, 3>, ns::Heap>::find<long>(ns::Point const&, long) const", "ns::Tree<...>::find<long>"},
        {"std::pair<A<1>, A<2> > Table<int>::add(std::vector<int>)", "Table<int>::add"},
        {"decltype (f({parm#1})) ns::call<ns::Function, ns::Other>(int)", "ns::call<...>"},
        {"main::{lambda(int)#1}::operator()(int) const", "main::{lambda}::operator()"},
        {"ns::Long<ns::Long<ns::A> >::operator<(ns::Long<ns::A> const&) const", "ns::Long<...>::operator<"},
        {"bool std::operator< <char, std::allocator<char> >(std::string const&)", "std::operator< <...>"},
        {"ns::A::operator std::basic_string<char>() const", "ns::A::operator std::basic_string<char>"},
        {"(anonymous namespace)::run(int)", "(anonymous namespace)::run"},
        {"example.com/a/interp.(*interp).execute", "example.com/a/interp.(*interp).execute"},
        {"f(int)::Local::g()", "f()::Local::g"},
        {"void f<(E)1, &A::operator->>(int) [clone .constprop.0]", "f<...>"},
        {"<alloc::vec::Vec<T> as core::iter::Extend<T>>::extend", "<...>::extend"},
        {"cut<int, <", "cut<int, <"},
        {"{lambda", "{lambda}"},
        {"", ""},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        char *brief = lwp_function_brief(table[i].name);
        assert_string_equal(brief, table[i].brief);
        free(brief);
    }
}

/* A program's many pages are not the few that the kernel has at hand. */
static void page_fault_of_as_many(void **state)
{
    (void)state;
    const uint64_t many = 5000;
    struct rusage before, after;
    getrusage(RUSAGE_THREAD, &before);
    assert_true(lwp_cpu_page_fault_ns(many) > 0);
    getrusage(RUSAGE_THREAD, &after);
    assert_true((uint64_t)(after.ru_minflt - before.ru_minflt) >= many);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_options_accepted),
        cmocka_unit_test(test_options_refused),
        cmocka_unit_test(test_options_help),
        cmocka_unit_test(test_nearest),
        cmocka_unit_test(test_arena),
        cmocka_unit_test(test_arena_list),
        cmocka_unit_test(test_arena_overflow),
        cmocka_unit_test(test_grow),
        cmocka_unit_test(test_map),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_log),
        cmocka_unit_test(test_utf8),
        cmocka_unit_test(test_visible),
        cmocka_unit_test(functions_in_brief),
        cmocka_unit_test(paths_of_the_system),
        cmocka_unit_test(page_fault_of_as_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
