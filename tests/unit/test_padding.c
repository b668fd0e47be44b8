/* The declaration offered for a falsely shared cache line is C and C++, and puts each thread's part on lines of its
 * own. */
#include "analysis/advice/threads/sharing.h"
#include "analysis/program/code.h"
#include "analysis/program/types/types.h"
#include "programs.h"

static const char before[] = "typedef int (*padded_call)(int);\nstruct padded_point { double x, y; };\n#include "
                             "<stddef.h>\n#include <stdalign.h>\n";

struct used {
    const char *field;
    unsigned offset, bytes;
};

struct given {
    const char *variable;
    struct used used[2];
    const char *type, *promise; /* NULL: nothing can be declared */
};

static const struct given cases[] = {
    {"in_turn",
     {{"hits", 8, 8}, {"misses", 16, 8}},
     "struct in_turn",
     "static_assert(alignof(T) == 64 && sizeof(T) == 256, \"\");\n"
     "static_assert(offsetof(T, first) == 0 && offsetof(T, hits) == 64 && offsetof(T, misses) == 128 && offsetof(T, "
     "rest) == 192, \"\");\n"},
    {"the_whole",
     {{"mine", 8, 8}, {"yours", 50, 2}},
     "whole",
     "static_assert(alignof(T) == 64 && sizeof(T) == 256, \"\");\n"
     "static_assert(offsetof(T, call) == 0 && offsetof(T, mine) == 64 && offsetof(T, where) == 128 && offsetof(T, "
     "yours) == 192, \"\");\n"},
    {"slots",
     {{"count", 0, 8}, {"count", 32, 8}},
     "struct slot",
     "static_assert(alignof(T) == 64 && sizeof(T) == 64 && offsetof(T, count) == 0 && offsetof(T, name) == 8, "
     "\"\");\n"},
    {"slots", {{"count, name", 0, 12}, {"name", 12, 4}}, NULL, NULL}, /* one element: nothing is said of its parts */
    {"the_bits", {{"mine", 0, 8}, {"yours", 16, 8}}, NULL, NULL},     /* a bit field would have to begin a line */
};

static const char *declare(struct lwp_arena *arena, const struct lwp_type *type, const struct given *given)
{
    struct lwp_object object = {.type = type};
    struct lwp_profile profile = {.arena = arena, .objects = &object, .object_count = 1};
    struct lwp_interaction_use uses[2] = {0};
    struct lwp_sharing item = {.is_false = true, .use_count = 2};
    for (int i = 0; i < 2; i++) {
        uses[i].stored = ((1ull << given->used[i].bytes) - 1) << given->used[i].offset;
        item.uses[i] = (struct lwp_sharing_use){&uses[i], given->used[i].field};
    }
    return lwp_padding_declare(&profile, &item);
}

static void compile(const char *compiler, const char *language, const struct given *given, const char *declaration)
{
    char path[300];
    snprintf(path, sizeof path, "%s/declared.%s", programs_folder, language);
    FILE *to = fopen(path, "w");
    assert_non_null(to);
    fprintf(to,
            "%s#include <assert.h>\n%s\ntypedef %s T;\n%sT each[2];\nint main(void) { return ((size_t)&each[1] & 63) "
            "!= 0; }\n",
            before, declaration, given->type, given->promise);
    assert_int_equal(fclose(to), 0);
    if (!programs_run("%s -Wall -Wextra -Werror -Wno-unused -o %s.out %s && %s.out", compiler, path, path, path))
        fail_msg("%s: what is declared for %s does not hold:\n%s", compiler, given->variable, declaration);
}

static void test_declared(void **state)
{
    static const char *const compilers[][2] = {{"gcc", "c"}, {"clang", "c"}, {"gcc -gdwarf-4 -O2", "c"}};
    (void)state;
    for (size_t c = 0; c < sizeof compilers / sizeof *compilers; c++) {
        char path[256];
        if (c == 1 && !programs_have("clang"))
            continue;
        snprintf(path, sizeof path, "%s/padded%zu", programs_folder, c);
        assert_true(programs_run("%s -g -o %s %s/tests/programs/padded.c", compilers[c][0], path, LWP_SOURCE));
        struct lwp_arena *arena = lwp_arena_new();
        struct lwp_code *code = lwp_code_new(arena);
        assert_int_equal(lwp_code_module(code, path, NULL, 0), 0);
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            uint64_t elements;
            const struct lwp_type *type =
                lwp_types_of_static(code, 0, programs_symbol(path, cases[i].variable), &elements);
            assert_non_null(type);
            const char *declaration = declare(arena, type, &cases[i]);
            if (!cases[i].type)
                assert_null(declaration);
            else if (!declaration)
                fail_msg("%s: nothing is declared", cases[i].variable);
            else
                compile(compilers[c][0], compilers[c][1], &cases[i], declaration);
        }
        lwp_code_free(code);
        lwp_arena_free(arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_declared)};
    return cmocka_run_group_tests(tests, programs_set_up, programs_tear_down);
}
