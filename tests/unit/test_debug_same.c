/* Moving debug info about changes no answer: for each byte of a program's functions and variables, frames, loops, and
 * types are the same text before and after. */
#include "analysis/program/code.h"
#include "analysis/program/types/types.h"
#include "programs.h"
#include "tests/unit/amount.h"

static void write_type(FILE *out, const struct lwp_type *type)
{
    fprintf(out, "%s", type ? type->name : "?");
    for (uint32_t i = 0; type && i < type->field_count; i++)
        fprintf(out, ";%llu %s", (unsigned long long)type->fields[i].offset, type->fields[i].declaration);
}

static size_t write_answers(FILE *out, struct lwp_code *code, uint64_t at)
{
    struct lwp_candidate candidates[8];
    uint64_t elements;
    const struct lwp_symbolized *location = lwp_code_symbolize(code, 0, at);
    fprintf(out, "%llx", (unsigned long long)at);
    for (uint32_t i = 0; i < location->frame_count; i++)
        fprintf(out, " %s %s:%u", location->frames[i].function, location->frames[i].file, location->frames[i].line);
    if (location->loop != LWP_NONE)
        fprintf(out, " loop %u-%u", lwp_code_loop(code, location->loop)->first_line,
                lwp_code_loop(code, location->loop)->last_line);
    size_t count = lwp_types_at_access(code, 0, at, candidates, 8), types = count;
    for (size_t i = 0; i < count && i < 8; i++) {
        fprintf(out, " [%s ", candidates[i].variable);
        write_type(out, candidates[i].type);
    }
    count = lwp_types_at_call(code, 0, at, candidates, 8);
    for (size_t i = 0; i < count && i < 8; i++) {
        fprintf(out, " {%s ", candidates[i].variable);
        write_type(out, candidates[i].type);
    }
    const struct lwp_type *type = lwp_types_of_static(code, 0, at, &elements);
    if (type) {
        write_type(out, type);
        fprintf(out, " %llu", (unsigned long long)elements);
    }
    fputc('\n', out);
    return types + (type ? 1 : 0);
}

/* The answers about every byte (with sanitizers every 31st) of what nm lists, in PROGRAM.answers; how many types are among them. */
static size_t answer_all(const char *program, const char *symbols)
{
    char path[320], command[700];
    unsigned long long start, bytes;
    size_t types = 0;
    snprintf(path, sizeof path, "%s.answers", program);
    snprintf(command, sizeof command, "nm -S %s | awk '$3 ~ /^[TtBbDd]$/ { print $1, $2 }'", symbols);
    FILE *out = fopen(path, "w"), *nm = popen(command, "r");
    assert_non_null(out);
    assert_non_null(nm);
    struct lwp_arena *arena = lwp_arena_new();
    struct lwp_code *code = lwp_code_new(arena);
    lwp_code_module(code, program, NULL, 0);
    assert_int_equal(lwp_code_module_info(code, 0)->debug_info, LWP_DEBUG_FULL);
    while (fscanf(nm, "%llx %llx", &start, &bytes) == 2)
        for (uint64_t at = start; at < start + bytes; at += LONG_AMOUNT(1, 31) * (bytes > 2000 ? 17 : 1))
            types += write_answers(out, code, at);
    assert_int_equal(lwp_code_module_info(code, 0)->units_missing, 0);
    lwp_code_free(code);
    lwp_arena_free(arena);
    fclose(out);
    pclose(nm);
    return types;
}

static void compare(const char *what, const char *a, const char *b)
{
    if (!programs_run("cmp -s %s.answers %s.answers", a, b)) {
        programs_run("diff %s.answers %s.answers | cut -c1-300 | head -4 >&2", a, b);
        fail_msg("%s: other answers", what);
    }
}

/* With the tool of the first word when it is there. */
static void test_moved(void **state)
{
    (void)state;
    static const char *const moves[] = {
        "dwz %s",
        "dwz -m common.dwz %s sibling",
        "objcopy --compress-debug-sections=zlib-gabi %s",
        "objcopy --compress-debug-sections=zlib-gnu %s",
        "objcopy --only-keep-debug %s moved.debug && strip %s && objcopy --add-gnu-debuglink=moved.debug %s",
        "objcopy --only-keep-debug %s moved.debug && dwz moved.debug && strip %s && "
        "objcopy --add-gnu-debuglink=moved.debug %s",
    };
    static const struct {
        const char *compiler, *flags, *source;
    } programs[] = {
        {"gcc", "-O2 -gdwarf-5", "types.c"},
        {"clang", "-O2 -gdwarf-4", "types.c"},
        {"g++", "-O2 -gdwarf-4", "types.cc"},
        {"clang++", "-O1 -gdwarf-5", "types.cc"},
    };
    for (size_t p = 0; p < sizeof programs / sizeof *programs; p++) {
        char plain[256], copy[300], sibling[300], command[1400];
        if (!programs_build(programs[p].compiler, programs[p].flags, programs[p].source, plain, sizeof plain))
            continue;
        assert_true(answer_all(plain, plain) > LONG_AMOUNT(100, 5));
        for (size_t m = LONG_AMOUNT(0, p % 3); m < sizeof moves / sizeof *moves; m += LONG_AMOUNT(1, 3)) {
            char tool[16] = "", what[600];
            sscanf(moves[m], "%15s", tool);
            if (!programs_have(tool))
                continue;
            if (strstr(programs[p].compiler, "clang") && strstr(programs[p].flags, "dwarf-5") &&
                strstr(moves[m], "dwz"))
                continue; /* dwz refuses forms of clang's DWARF 5 */
            snprintf(copy, sizeof copy, "%s.moved", plain);
            snprintf(sibling, sizeof sibling, "%s/sibling", programs_folder);
            snprintf(command, sizeof command, moves[m], copy, copy, copy);
            snprintf(what, sizeof what, "%s %s %s; %s", programs[p].compiler, programs[p].flags, programs[p].source,
                     moves[m]);
            if (!programs_run("cp %s %s && cp %s %s && cd %s && rm -f common.dwz && { %s; }", plain, copy, plain,
                              sibling, programs_folder, command))
                fail_msg("%s fails", what);
            answer_all(copy, plain);
            compare(what, plain, copy);
        }
    }
}

/* -gsplit-dwarf does not change the code, and neither does packing. */
static void test_split(void **state)
{
    (void)state;
    static const struct {
        const char *compiler, *flags, *source, *packer;
    } programs[] = {
        {"gcc", "-O2 -gdwarf-4", "types.c", "dwp"},
        {"gcc", "-O2 -gdwarf-5", "types.c", NULL}, /* the packers that there are crash or hang */
        {"g++", "-O2 -gdwarf-4", "types.cc", "dwp"},
        {"clang", "-O2 -gdwarf-4", "types.c", "dwp"},
        {"clang", "-O2 -gdwarf-5", "types.c", "llvm-dwp"},
        {"clang++", "-O2 -gdwarf-5", "types.cc", "llvm-dwp"},
        {"g++", "-O2 -gdwarf-5", "types.cc", NULL},
        {"gcc", "-O2 -gdwarf-4 -fdebug-types-section", "types.c", "dwp"},
        {"g++", "-O2 -gdwarf-5 -fdebug-types-section", "types.cc", NULL},
        {"clang++", "-O2 -gdwarf-5 -fdebug-types-section", "types.cc", "llvm-dwp"},
    };
    for (size_t p = 0; p < sizeof programs / sizeof *programs; p += LONG_AMOUNT(1, 3)) {
        char plain[256], split[300], what[300];
        if (!programs_build(programs[p].compiler, programs[p].flags, programs[p].source, plain, sizeof plain))
            continue;
        snprintf(split, sizeof split, "%s/s%zu", programs_folder, p);
        snprintf(what, sizeof what, "%s %s %s", programs[p].compiler, programs[p].flags, programs[p].source);
        if (!programs_run("cd %s && %s %s -gsplit-dwarf -c -o s%zu.o %s/tests/programs/%s && %s -o s%zu s%zu.o",
                          programs_folder, programs[p].compiler, programs[p].flags, p, LWP_SOURCE, programs[p].source,
                          programs[p].compiler, p, p))
            fail_msg("%s: does not build", what);
        assert_true(answer_all(plain, plain) > LONG_AMOUNT(100, 5));
        answer_all(split, plain);
        compare(what, plain, split);
        if (!programs[p].packer || !programs_have(programs[p].packer))
            continue;
        if (!programs_run("cd %s && timeout 20 %s -e s%zu -o s%zu.dwp && rm *.dwo", programs_folder, programs[p].packer,
                          p, p))
            fail_msg("%s: %s fails", what, programs[p].packer);
        answer_all(split, plain);
        compare(what, plain, split);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_moved),
        cmocka_unit_test(test_split),
    };
    return cmocka_run_group_tests(tests, programs_set_up, programs_tear_down);
}
