/* Wherever a compiler, linker or packager puts debug info, types and the lines of loops come out the same. */
#include "analysis/program/code.h"
#include "analysis/program/types/types.h"
#include "programs.h"
#include "tests/unit/amount.h"

struct loaded {
    struct lwp_arena *arena;
    struct lwp_code *code;
};

static struct loaded load_file(const char *path)
{
    struct loaded loaded = {.arena = lwp_arena_new()};
    loaded.code = lwp_code_new(loaded.arena);
    assert_int_equal(lwp_code_module(loaded.code, path, NULL, 0), 0);
    return loaded;
}

static void unload(struct loaded *loaded)
{
    lwp_code_free(loaded->code);
    lwp_arena_free(loaded->arena);
}

static const char *base_name(const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL;
    return slash ? slash + 1 : path ? path : "?";
}

/* The loop of `function` and its lines. */
static void check_loop(struct loaded *loaded, const char *what, uint64_t start, const char *file, uint32_t first,
                       uint32_t last)
{
    const struct lwp_symbolized *location = lwp_code_symbolize(loaded->code, 0, start);
    for (uint64_t at = start; at < location->function_high; at++) {
        uint32_t index = lwp_code_symbolize(loaded->code, 0, at)->loop;
        if (index == LWP_NONE)
            continue;
        const struct lwp_loop *loop = lwp_code_loop(loaded->code, index);
        if (loop->first_line < first || loop->last_line > last || strcmp(base_name(loop->file), file))
            fail_msg("%s: loop %s:%u-%u, expected %s:%u-%u", what, loop->file, loop->first_line, loop->last_line, file,
                     first, last);
        return;
    }
    fail_msg("%s: no loop at %#llx", what, (unsigned long long)start);
}

static void check_type(const char *what, const struct lwp_type *type, const char *name, const char *field,
                       uint64_t offset)
{
    if (!type)
        fail_msg("%s: no type, expected %s", what, name);
    if (strcmp(type->name, name))
        fail_msg("%s: type %s, expected %s", what, type->name, name);
    for (uint32_t i = 0; i < type->field_count; i++)
        if (!strcmp(type->fields[i].name, field) && type->fields[i].offset == offset)
            return;
    fail_msg("%s: %s has no field %s at %llu", what, name, field, (unsigned long long)offset);
}

/* Does an access inside the function lead to the struct through the named pointer? */
static void check_access(struct loaded *loaded, const char *what, uint64_t start, const char *name)
{
    const struct lwp_symbolized *location = lwp_code_symbolize(loaded->code, 0, start);
    for (uint64_t at = start; at < location->function_high; at++) {
        struct lwp_candidate candidates[8];
        size_t count = lwp_types_at_access(loaded->code, 0, at, candidates, 8);
        for (size_t i = 0; i < count && i < 8; i++)
            if (candidates[i].type && !strcmp(candidates[i].type->name, name))
                return;
    }
    fail_msg("%s: no access to %s", what, name);
}

struct addresses {
    uint64_t one, two, particles, cells;
};

static struct addresses addresses_of(const char *path)
{
    struct addresses found = {programs_symbol(path, "one_weight"), programs_symbol(path, "two_keys"),
                              programs_symbol(path, "particles"), programs_symbol(path, "cells")};
    assert_true(found.one && found.two && found.particles && found.cells);
    return found;
}

enum knows { KNOWS_TYPES, KNOWS_LINES };

static void check_program(const char *what, const char *path, struct addresses at, enum knows knows)
{
    uint64_t elements;
    struct loaded loaded = load_file(path);
    lwp_code_symbolize(loaded.code, 0, at.one);
    if (lwp_code_module_info(loaded.code, 0)->debug_info != LWP_DEBUG_FULL)
        fail_msg("%s: no debug info found", what);
    check_loop(&loaded, what, at.one, "debug_one.c", 9, 10);
    check_loop(&loaded, what, at.two, "debug_two.c", 15, 16);
    if (knows == KNOWS_TYPES) {
        check_type(what, lwp_types_of_static(loaded.code, 0, at.particles + 48, &elements), "struct particle", "charge",
                   32);
        assert_int_equal(elements, 40);
        check_type(what, lwp_types_of_static(loaded.code, 0, at.cells, &elements), "struct cell", "owner", 8);
        check_access(&loaded, what, at.one, "struct particle");
        check_access(&loaded, what, at.two, "struct cell");
    }
    unload(&loaded);
}

/* In a folder of its own, from relative paths as a makefile has them. */
static void build_in(const char *folder, const char *compiler, const char *flags)
{
    if (!programs_run("mkdir -p %s && cp %s/tests/programs/debug_* %s && cd %s && %s %s -c debug_one.c && "
                      "%s %s -c debug_two.c && %s %s -o program debug_one.o debug_two.o 2>/dev/null",
                      folder, LWP_SOURCE, folder, folder, compiler, flags, compiler, flags, compiler, flags))
        fail_msg("%s %s does not build", compiler, flags);
}

static void test_variants(void **state)
{
    (void)state;
    static const struct {
        const char *compiler, *flags, *after;
        enum knows knows;
    } variants[] = {
        {"gcc", "-O1 -gdwarf-4", NULL, KNOWS_TYPES},
        {"gcc", "-O1 -gdwarf-5", NULL, KNOWS_TYPES},
        {"gcc", "-O1 -gdwarf-5 -gz=zlib", NULL, KNOWS_TYPES},
        {"gcc", "-O1 -gdwarf-4 -gz=zlib-gnu", NULL, KNOWS_TYPES},
        {"gcc", "-O1 -g1", NULL, KNOWS_LINES},
        {"gcc", "-O2 -g -flto", NULL, KNOWS_TYPES},
        {"gcc", "-O2 -g -fno-plt -ffunction-sections -Wl,--gc-sections", NULL, KNOWS_TYPES},
        {"gcc", "-O1 -gdwarf-4 -fdebug-types-section", NULL, KNOWS_TYPES},
        {"gcc", "-O1 -gdwarf-5 -fdebug-types-section", NULL, KNOWS_TYPES},
        {"gcc", "-O1 -gdwarf-4 -gsplit-dwarf", NULL, KNOWS_TYPES},
        {"gcc", "-O1 -gdwarf-5 -gsplit-dwarf", NULL, KNOWS_TYPES},
        {"gcc", "-O1 -gdwarf-4 -gstrict-dwarf -no-pie -fno-pie", NULL, KNOWS_TYPES},
        {"clang", "-O1 -gdwarf-4", NULL, KNOWS_TYPES},
        {"clang", "-O1 -gdwarf-5", NULL, KNOWS_TYPES},
        {"clang", "-O1 -gdwarf-5 -gz", NULL, KNOWS_TYPES},
        {"clang", "-O1 -gline-tables-only", NULL, KNOWS_LINES},
        {"clang", "-O1 -gdwarf-4 -gsplit-dwarf", NULL, KNOWS_TYPES},
        {"clang", "-O1 -gdwarf-5 -gsplit-dwarf", NULL, KNOWS_TYPES},
        {"clang", "-O1 -gdwarf-5 -gsplit-dwarf -fdebug-types-section", NULL, KNOWS_TYPES},
        {"gcc", "-O1 -gdwarf-4 -gsplit-dwarf -fdebug-types-section", NULL, KNOWS_TYPES},
        {"gcc", "-O1 -gdwarf-5 -gsplit-dwarf -fdebug-types-section", NULL, KNOWS_TYPES},
        {"clang", "-O1 -g -fdebug-types-section", NULL, KNOWS_TYPES},
        {"gcc", "-O1 -gdwarf-4 -gsplit-dwarf", "dwp -e program -o program.dwp && rm *.dwo", KNOWS_TYPES},
        {"clang", "-O1 -gdwarf-5 -gsplit-dwarf", "llvm-dwp -e program -o program.dwp && rm *.dwo", KNOWS_TYPES},
        {"clang", "-O1 -gdwarf-4 -gsplit-dwarf", "llvm-dwp -e program -o program.dwp && rm *.dwo", KNOWS_TYPES},
        {"clang", "-O1 -gdwarf-4 -gsplit-dwarf", "dwp -e program -o program.dwp && rm *.dwo", KNOWS_TYPES},
        {"gcc", "-O1 -gdwarf-4 -gsplit-dwarf -fdebug-types-section", "dwp -e program -o program.dwp && rm *.dwo",
         KNOWS_TYPES},
        {"gcc", "-O1 -g", "objcopy --compress-debug-sections=zlib-gabi program", KNOWS_TYPES},
        {"gcc", "-O1 -gdwarf-4", "objcopy --compress-debug-sections=zlib-gnu program", KNOWS_TYPES},
        {"gcc", "-O1 -gdwarf-5", "dwz program", KNOWS_TYPES},
        {"gcc", "-O1 -gdwarf-5", "cp program other && dwz -m common.dwz program other", KNOWS_TYPES},
        {"gcc", "-O1 -gdwarf-4", "cp program other && dwz -m common.dwz program other", KNOWS_TYPES},
    };
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i += LONG_AMOUNT(1, 5)) {
        char folder[200], path[256], what[300];
        snprintf(folder, sizeof folder, "%s/v%zu", programs_folder, i);
        snprintf(path, sizeof path, "%s/program", folder);
        snprintf(what, sizeof what, "%s %s; %s", variants[i].compiler, variants[i].flags,
                 variants[i].after ? variants[i].after : "");
        if (!programs_have(variants[i].compiler))
            continue;
        build_in(folder, variants[i].compiler, variants[i].flags);
        struct addresses at = addresses_of(path);
        if (variants[i].after) {
            char tool[16] = "";
            sscanf(variants[i].after, "%15s", tool);
            if (strcmp(tool, "cp") ? !programs_have(tool) : !programs_have("dwz"))
                continue;
            if (!programs_run("cd %s && timeout 20 sh -c '%s'", folder, variants[i].after))
                fail_msg("%s fails", what);
        }
        check_program(what, path, at, variants[i].knows);
    }
}

/* A program whose debug info was moved into program.debug; its .gnu_debuglink names that file. */
static struct addresses build_separate(const char *folder, const char *flags)
{
    char path[256];
    build_in(folder, "gcc", flags);
    snprintf(path, sizeof path, "%s/program", folder);
    struct addresses at = addresses_of(path);
    assert_true(programs_run("cd %s && objcopy --only-keep-debug program program.debug && strip program && "
                             "objcopy --add-gnu-debuglink=program.debug program",
                             folder));
    return at;
}

static void expect_none(const char *path)
{
    struct loaded loaded = load_file(path);
    lwp_code_symbolize(loaded.code, 0, 0x1000);
    assert_int_equal(lwp_code_module_info(loaded.code, 0)->debug_info, LWP_DEBUG_NONE);
    unload(&loaded);
}

static void test_separate_places(void **state)
{
    (void)state;
    static const char *const ids[] = {"-O1 -g -Wl,--build-id=sha1", "-O1 -g -Wl,--build-id=none"};
    if (!programs_have("objcopy"))
        skip();
    for (size_t i = 0; i < 2; i++) {
        char folder[200], path[256], root[256];
        snprintf(folder, sizeof folder, "%s/separate%zu", programs_folder, i);
        snprintf(path, sizeof path, "%s/program", folder);
        snprintf(root, sizeof root, "/proc/nonexistent::%s/root", folder);
        struct addresses at = build_separate(folder, ids[i]);
        check_program("beside", path, at, KNOWS_TYPES);
        assert_true(programs_run("cd %s && mkdir .debug && mv program.debug .debug", folder));
        check_program(".debug/", path, at, KNOWS_TYPES);
        assert_true(
            programs_run("cd %s && mkdir -p root%s && mv .debug/program.debug root%s/", folder, folder, folder));
        expect_none(path);
        setenv("LWP_DEBUG_PATH", root, 1);
        check_program("a root's copy of the path", path, at, KNOWS_TYPES);
        assert_true(programs_run("cd %s && mv root%s/program.debug root/", folder, folder));
        check_program("a root itself", path, at, KNOWS_TYPES);
        if (i == 0) {
            assert_true(programs_run("cd %s && id=$(readelf -n program | sed -n 's/.*Build ID: //p') && "
                                     "rest=${id#??} && mkdir -p root/.build-id/${id%%$rest} && "
                                     "mv root/program.debug root/.build-id/${id%%$rest}/$rest.debug",
                                     folder));
            check_program("by build-id", path, at, KNOWS_TYPES);
        } else { /* one byte of the contents other than what the CRC says */
            assert_true(programs_run("printf x >> %s/root/program.debug", folder));
            expect_none(path);
        }
        unsetenv("LWP_DEBUG_PATH");
        expect_none(path);
    }
}

/* What Debian's packages do: dwz first, then the debug info and the shared part move away. */
static void test_dwz_package(void **state)
{
    (void)state;
    char folder[200], path[256], root[256];
    if (!programs_have("dwz") || !programs_have("objcopy"))
        skip();
    snprintf(folder, sizeof folder, "%s/package", programs_folder);
    snprintf(path, sizeof path, "%s/program", folder);
    snprintf(root, sizeof root, "%s/root", folder);
    build_in(folder, "gcc", "-O1 -g -Wl,--build-id=sha1");
    struct addresses at = addresses_of(path);
    assert_true(programs_run("cd %s && cp program other && mkdir -p root/.dwz && "
                             "dwz -m root/.dwz/both.debug -M /nowhere/.dwz/both.debug program other && "
                             "objcopy --only-keep-debug program root/program.debug && strip program && "
                             "objcopy --add-gnu-debuglink=root/program.debug program",
                             folder));
    setenv("LWP_DEBUG_PATH", root, 1);
    check_program("dwz", path, at, KNOWS_TYPES);
    assert_true(programs_run("mv %s/.dwz %s/away", root, root));
    check_program("dwz without the shared part", path, at, KNOWS_LINES);
    struct loaded loaded = load_file(path);
    uint64_t elements;
    lwp_types_of_static(loaded.code, 0, at.cells, &elements);
    assert_string_equal(lwp_code_module_info(loaded.code, 0)->missing, "/nowhere/.dwz/both.debug");
    unload(&loaded);
    unsetenv("LWP_DEBUG_PATH");
}

/* The .dwo files are not there: lines come from the skeleton, and it is said what is missing. */
static void test_missing_dwo(void **state)
{
    (void)state;
    static const char *const flags[] = {"-O1 -gdwarf-4 -gsplit-dwarf", "-O1 -gdwarf-5 -gsplit-dwarf"};
    for (size_t i = 0; i < 2; i++) {
        char folder[200], path[256];
        snprintf(folder, sizeof folder, "%s/missing%zu", programs_folder, i);
        snprintf(path, sizeof path, "%s/program", folder);
        build_in(folder, "gcc", flags[i]);
        struct addresses at = addresses_of(path);
        assert_true(programs_run("rm %s/debug_two.dwo", folder));
        struct loaded loaded = load_file(path);
        uint64_t elements;
        check_type("other unit", lwp_types_of_static(loaded.code, 0, at.particles, &elements), "struct particle",
                   "kind", 36);
        assert_null(lwp_types_of_static(loaded.code, 0, at.cells, &elements));
        check_loop(&loaded, "skeleton", at.two, "debug_two.c", 15, 16);
        assert_int_equal(lwp_code_module_info(loaded.code, 0)->units_missing, 1);
        assert_string_equal(lwp_code_module_info(loaded.code, 0)->missing, "debug_two.dwo");
        unload(&loaded);
    }
}

/* A stripped program with the packed symbol table of Fedora: names of static functions, and nothing else. */
static void test_mini_symbols(void **state)
{
    (void)state;
    char folder[200], path[256];
    if (!programs_have("objcopy") || !programs_have("xz"))
        skip();
    snprintf(folder, sizeof folder, "%s/mini", programs_folder);
    snprintf(path, sizeof path, "%s/program", folder);
    build_in(folder, "gcc", "-O1 -g");
    struct addresses at = addresses_of(path);
    assert_true(programs_run("cd %s && objcopy --only-keep-debug program m && objcopy -S --remove-section .comment "
                             "--keep-symbol=one_weight --keep-symbol=two_keys m mini && xz -k mini && strip program && "
                             "objcopy --add-section .gnu_debugdata=mini.xz program && "
                             "head -c 100000000 /dev/zero | xz -0 -c > bomb.xz && "
                             "objcopy --update-section .gnu_debugdata=bomb.xz program bomb && "
                             "head -c 200 mini.xz > cut.xz && "
                             "objcopy --update-section .gnu_debugdata=cut.xz program cut",
                             folder));
    struct loaded loaded = load_file(path);
    assert_int_equal(lwp_code_module_info(loaded.code, 0)->debug_info, LWP_DEBUG_SYMBOLS);
    assert_string_equal(lwp_code_symbolize(loaded.code, 0, at.one + 3)->frames[0].function, "one_weight");
    assert_string_equal(lwp_code_symbolize(loaded.code, 0, at.two + 3)->frames[0].function, "two_keys");
    unload(&loaded);
    static const char *const bad[] = {"bomb", "cut"};
    for (size_t i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, bad[i]);
        loaded = load_file(path);
        assert_null(lwp_code_symbolize(loaded.code, 0, at.one + 3)->frames[0].function);
        assert_int_equal(lwp_code_symbolize(loaded.code, 0, at.one + 3)->function_low, at.one);
        unload(&loaded);
    }
}

/* A server as a folder: libdebuginfod takes file:// URLs. Without the variable nobody is asked. */
static void test_server(void **state)
{
    (void)state;
    char folder[200], path[256], url[256], cache[256];
    if (!programs_have("objcopy") || !programs_run("ldconfig -p | grep -q libdebuginfod.so"))
        skip();
    snprintf(folder, sizeof folder, "%s/server", programs_folder);
    snprintf(path, sizeof path, "%s/program", folder);
    snprintf(url, sizeof url, "file://%s/root/", folder);
    snprintf(cache, sizeof cache, "%s/cache", folder);
    struct addresses at = build_separate(folder, "-O1 -g -Wl,--build-id=sha1");
    assert_true(programs_run("cd %s && id=$(readelf -n program | sed -n 's/.*Build ID: //p') && "
                             "mkdir -p root/buildid/$id && mv program.debug root/buildid/$id/debuginfo",
                             folder));
    setenv("DEBUGINFOD_CACHE_PATH", cache, 1);
    unsetenv("DEBUGINFOD_URLS");
    expect_none(path);
    setenv("DEBUGINFOD_URLS", url, 1);
    struct loaded loaded = load_file(path); /* a module that did not run is not asked for */
    assert_int_equal(lwp_code_module_info(loaded.code, 0)->debug_info, LWP_DEBUG_NONE);
    unload(&loaded);
    check_program("a server", path, at, KNOWS_TYPES);
    unsetenv("DEBUGINFOD_URLS");
    expect_none(path);
}

/* The file beside the program is damaged, in many places and ways; the answers do not matter, that they come does. */
static void test_damaged_beside(void **state)
{
    (void)state;
    static const struct {
        const char *compiler, *flags, *after, *victim;
    } cases[] = {
        {"gcc", "-O1 -gdwarf-4 -gsplit-dwarf", "true", "debug_one.dwo"},
        {"clang", "-O1 -gdwarf-5 -gsplit-dwarf", "true", "debug_one.dwo"},
        {"gcc", "-O1 -gdwarf-4 -gsplit-dwarf", "dwp -e program -o program.dwp && rm *.dwo", "program.dwp"},
        {"clang", "-O1 -gdwarf-5 -gsplit-dwarf", "llvm-dwp -e program -o program.dwp && rm *.dwo", "program.dwp"},
        {"gcc", "-O1 -g", "cp program other && dwz -m common.dwz program other", "common.dwz"},
        {"gcc", "-O1 -g",
         "objcopy --only-keep-debug program d.debug && strip program && "
         "objcopy --add-gnu-debuglink=d.debug program",
         "d.debug"},
    };
    enum { ROUNDS = AMOUNT(120, 6) };
    uint64_t random_state = 11;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        char folder[200], path[256], victim[256];
        snprintf(folder, sizeof folder, "%s/damaged%zu", programs_folder, c);
        snprintf(path, sizeof path, "%s/program", folder);
        snprintf(victim, sizeof victim, "%s/%s", folder, cases[c].victim);
        if (!programs_have(cases[c].compiler))
            continue;
        build_in(folder, cases[c].compiler, cases[c].flags);
        struct addresses at = addresses_of(path);
        if (!programs_run("cd %s && timeout 20 sh -c '%s' 2>/dev/null", folder, cases[c].after))
            continue;
        FILE *file = fopen(victim, "r");
        assert_non_null(file);
        static uint8_t sound[1 << 20], hurt[1 << 20];
        size_t bytes = fread(sound, 1, sizeof sound, file);
        fclose(file);
        assert_true(bytes > 100 && bytes < sizeof sound);
        for (int round = 0; round < ROUNDS; round++) {
            size_t kept = round % 6 == 0 ? bytes * (size_t)round / ROUNDS : bytes;
            memcpy(hurt, sound, bytes);
            for (int flip = 0; flip < round % 12; flip++) {
                random_state = random_state * 6364136223846793005u + 1442695040888963407u;
                hurt[(random_state >> 24) % bytes] = (uint8_t)(random_state >> 16);
            }
            file = fopen(victim, "w");
            assert_non_null(file);
            assert_int_equal(fwrite(hurt, 1, kept, file), kept);
            fclose(file);
            struct loaded loaded = load_file(path);
            struct lwp_candidate candidates[8];
            uint64_t elements;
            for (uint64_t step = 0; step < 48; step += 3) {
                assert_true(lwp_code_symbolize(loaded.code, 0, at.one + step)->frame_count > 0);
                lwp_types_at_access(loaded.code, 0, at.one + step, candidates, 8);
                lwp_types_at_call(loaded.code, 0, at.two + step, candidates, 8);
                lwp_types_of_static(loaded.code, 0, at.particles + step, &elements);
            }
            lwp_types_of_static(loaded.code, 0, at.cells, &elements);
            unload(&loaded);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_variants),       cmocka_unit_test(test_separate_places),
        cmocka_unit_test(test_dwz_package),    cmocka_unit_test(test_missing_dwo),
        cmocka_unit_test(test_mini_symbols),   cmocka_unit_test(test_server),
        cmocka_unit_test(test_damaged_beside),
    };
    return cmocka_run_group_tests(tests, programs_set_up, programs_tear_down);
}
