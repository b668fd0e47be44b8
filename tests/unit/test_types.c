/* Types, fields and variables read from DWARF against what the sources in tests/programs say. */
#include "analysis/program/code.h"
#include "analysis/program/types/types.h"
#include "programs.h"
#include "tests/unit/amount.h"

struct loaded {
    struct lwp_arena *arena;
    struct lwp_code *code;
    char path[256];
};

/* Built once for all tests. */
static bool program_of(const char *compiler, const char *flags, const char *source, char *path, size_t room)
{
    static struct {
        char what[512], path[256];
    } built[32];
    static size_t count;
    char what[512];
    snprintf(what, sizeof what, "%s %s %s", compiler, flags, source);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(built[i].what, what))
            continue;
        snprintf(path, room, "%s", built[i].path);
        return true;
    }
    if (!programs_build(compiler, flags, source, path, room))
        return false;
    assert_true(count < sizeof built / sizeof *built);
    snprintf(built[count].what, sizeof built[count].what, "%s", what);
    snprintf(built[count++].path, sizeof built->path, "%s", path);
    return true;
}

static bool load(struct loaded *loaded, const char *compiler, const char *flags, const char *source)
{
    if (!program_of(compiler, flags, source, loaded->path, sizeof loaded->path))
        return false;
    loaded->arena = lwp_arena_new();
    loaded->code = lwp_code_new(loaded->arena);
    assert_int_equal(lwp_code_module(loaded->code, loaded->path, NULL, 0), 0);
    assert_int_equal(lwp_code_module_info(loaded->code, 0)->debug_info, LWP_DEBUG_FULL);
    return true;
}

static void unload(struct loaded *loaded)
{
    lwp_code_free(loaded->code);
    lwp_arena_free(loaded->arena);
}

/* Every build the tests of C types run on. */
static const struct build {
    const char *compiler, *flags;
} builds[] = {
    {"gcc", "-g -O0"},
    {"gcc", "-g -O2"},
    {"gcc", "-g -O3 -march=native"},
    {"gcc", "-gdwarf-4 -O2"},
    {"gcc", "-gdwarf-4 -fdebug-types-section -O2"},
    {"gcc", "-g -O2 -flto"},
    {"gcc", "-g -gsplit-dwarf -O2"},
    {"gcc", "-gdwarf-5 -gz -O2"},
    {"clang", "-g -O0"},
    {"clang", "-g -O2"},
    {"clang", "-gdwarf-4 -O2"},
};
enum { BUILDS = sizeof builds / sizeof *builds, EACH = AMOUNT(1, 3) }; /* with sanitizers each third of them */

static const struct lwp_type *type_of_symbol(struct loaded *loaded, const char *name, uint64_t offset,
                                             uint64_t *elements)
{
    uint64_t address = programs_symbol(loaded->path, name);
    assert_true(address);
    return lwp_types_of_static(loaded->code, 0, address + offset, elements);
}

struct expected_field {
    uint64_t offset, bytes, alignment;
    const char *name, *declaration;
};

static void check_fields(const struct lwp_type *type, const struct expected_field *expected, uint32_t count)
{
    assert_int_equal(type->field_count, count);
    for (uint32_t i = 0; i < count; i++) {
        const struct lwp_field *field = &type->fields[i];
        assert_int_equal(field->offset, expected[i].offset);
        assert_int_equal(field->bytes, expected[i].bytes);
        assert_int_equal(field->alignment, expected[i].alignment);
        assert_string_equal(field->name, expected[i].name);
        assert_string_equal(field->declaration, expected[i].declaration);
    }
}

static void test_struct(void **state)
{
    (void)state;
    static const struct expected_field fields[] = {
        {0, 4, 4, "key", "int key"},
        {8, 8, 8, "left", "struct node *left"},
        {16, 8, 8, "right", "struct node *right"},
        {24, 32, 8, "w", "double w[4]"},
        {56, 12, 4, "position", "struct vec3 position"},
        {72, 8, 8, "compare", "int (*compare)(const void *, const void *)"},
        {80, 4, 4, "number, real", "union { int number; float real; }"},
        {84, 2, 2, "low", "short low"},
        {86, 2, 2, "high", "short high"},
        {88, 7, 8, "a, b, wide", "unsigned int a : 3; unsigned int b : 9; uint64_t wide : 40"}, /* they share bytes */
        {96, 8, 8, "name", "const char *const name"},
        {104, 24, 4, "grid", "int grid[2][3]"},
    };
    for (size_t b = 0; b < BUILDS; b += EACH) {
        struct loaded loaded;
        uint64_t elements;
        if (!load(&loaded, builds[b].compiler, builds[b].flags, "types.c"))
            continue;
        const struct lwp_type *type = type_of_symbol(&loaded, "pool", 300, &elements);
        assert_non_null(type);
        assert_string_equal(type->name, "struct node");
        assert_string_equal(type->tag, "node");
        assert_int_equal(type->kind, LWP_TYPE_STRUCT);
        assert_int_equal(type->bytes, 128);
        assert_int_equal(elements, 100);
        assert_false(type->is_typedef);
        assert_false(type->is_class);
        assert_non_null(strstr(type->file, "types.c"));
        assert_int_equal(type->line, 10);
        assert_int_equal(type->language, LWP_LANGUAGE_C);
        assert_int_equal(type->owner, LWP_TYPE_OF_PROJECT);
        assert_int_equal(type->alignment, 8);
        assert_false(type->aligned);
        static struct expected_field own[12];
        memcpy(own, fields, sizeof own);
        if (!strcmp(builds[b].compiler, "gcc") || strstr(builds[b].flags, "flto"))
            own[7].declaration = "short int low", own[8].declaration = "short int high";
        check_fields(type, own, 12);
        assert_int_equal(type->parts[4].count, 3);
        assert_string_equal(type->parts[4].items[1].name, "position.y");
        assert_int_equal(type->parts[4].items[1].offset, 60);
        assert_int_equal(type->parts[0].count, 0);
        unload(&loaded);
    }
}

/* What a structure has room for, and what is declared in it. */
/* How long an array is follows from both of its bounds; the lower one is the language's where it is not said. */
static void test_lower_bounds(void **state)
{
    (void)state;
    static const struct expected_field fields[] = {
        {0, 40, 1, "name", "character name[40]"},
        {40, 5, 1, "days", "character days[5]"},
    };
    struct loaded loaded;
    uint64_t elements;
    if (!load(&loaded, "gcc", "-nostdlib -static -Wl,-e,start", "lower_bounds.S"))
        skip();
    const struct lwp_type *type = type_of_symbol(&loaded, "cells", 0, &elements);
    assert_non_null(type);
    check_fields(type, fields, sizeof fields / sizeof *fields);
    unload(&loaded);
}

static void test_lengths(void **state)
{
    (void)state;
    struct expected_field fields[] = {
        {0, 200, 1, "text", "char text[200]"},
        {200, 1024, 4, "table", "int table[256]"},
        {1224, 80000, 2, "many", "short many[40000]"},
        {81224, 8, 8, "last", "long last"},
    };
    for (size_t b = 0; b < BUILDS; b += EACH) {
        struct loaded loaded;
        uint64_t elements;
        if (!load(&loaded, builds[b].compiler, builds[b].flags, "types.c"))
            continue;
        const struct lwp_type *type = type_of_symbol(&loaded, "buffers", 0, &elements);
        assert_non_null(type);
        assert_int_equal(type->bytes, 81232);
        assert_int_equal(elements, 200);
        bool gcc = !strcmp(builds[b].compiler, "gcc") || strstr(builds[b].flags, "flto");
        fields[2].declaration = gcc ? "short int many[40000]" : "short many[40000]";
        fields[3].declaration = gcc ? "long int last" : "long last";
        check_fields(type, fields, 4);
        unload(&loaded);
    }
}

static void test_held(void **state)
{
    (void)state;
    for (size_t b = 0; b < BUILDS; b += EACH) {
        struct loaded loaded;
        uint64_t elements;
        if (!load(&loaded, builds[b].compiler, builds[b].flags, "types.c"))
            continue;
        const struct lwp_type *counter = type_of_symbol(&loaded, "counters", 0, &elements),
                              *letter = type_of_symbol(&loaded, "letters", 0, &elements);
        enum { COUNT = 8, TEXT = 12 };
        assert_true(lwp_types_hold(letter, COUNT, counter));
        assert_true(lwp_types_contain(letter, COUNT, counter));
        assert_true(lwp_types_hold(letter, TEXT, counter));
        assert_false(lwp_types_contain(letter, TEXT, counter));
        assert_false(lwp_types_contain(letter, 0, counter));
        assert_false(lwp_types_contain(counter, 0, letter));
        unload(&loaded);
    }
}

/* A type of two units that has no name but its alias's. */
static void test_held_across_units(void **state)
{
    (void)state;
    static const char *const flags[] = {"-g -O2", "-gdwarf-4 -O2"};
    for (size_t b = 0; b < sizeof flags / sizeof *flags; b++) {
        struct loaded loaded;
        uint64_t elements;
        char both[512];
        snprintf(both, sizeof both, "%s %s/tests/programs/debug_one.c", flags[b], LWP_SOURCE);
        if (!load(&loaded, "gcc", both, "debug_two.c"))
            continue;
        const struct lwp_type *shelf = type_of_symbol(&loaded, "two_shelf", 0, &elements),
                              *list = type_of_symbol(&loaded, "one_list", 0, &elements),
                              *other = type_of_symbol(&loaded, "one_other", 0, &elements);
        assert_true(shelf && list && other);
        assert_true(lwp_types_contain(shelf, 8, list));
        assert_true(lwp_types_hold(shelf, 8, list));
        assert_false(lwp_types_contain(shelf, 0, list));
        assert_false(lwp_types_contain(shelf, 8, other));
        unload(&loaded);
    }
}

static void test_statics(void **state)
{
    (void)state;
    for (size_t b = 0; b < BUILDS; b += EACH) {
        struct loaded loaded;
        uint64_t elements;
        if (!load(&loaded, builds[b].compiler, builds[b].flags, "types.c"))
            continue;
        const struct lwp_type *type = type_of_symbol(&loaded, "pairs", 17, &elements);
        assert_string_equal(type->name, "pair_t");
        assert_string_equal(type->tag, "pair_t");
        assert_true(type->is_typedef);
        assert_int_equal(elements, 21);
        assert_int_equal(type->bytes, 16);
        type = type_of_symbol(&loaded, "plain", 8, &elements);
        assert_string_equal(type->name, "double");
        assert_int_equal(type->kind, LWP_TYPE_SCALAR);
        assert_int_equal(elements, 50);
        type = type_of_symbol(&loaded, "table", 0, &elements);
        assert_string_equal(type->name, "struct node *");
        assert_int_equal(elements, 1);
        assert_null(type_of_symbol(&loaded, "main", 0, &elements));
        struct lwp_symbol symbol;
        assert_true(lwp_code_data_symbol(loaded.code, 0, programs_symbol(loaded.path, "pool") + 999, &symbol));
        assert_string_equal(symbol.name, "pool");
        assert_int_equal(symbol.bytes, 12800);
        unload(&loaded);
    }
}

static bool candidate_of(const struct lwp_candidate *candidates, size_t count, const char *type, const char *variable,
                         bool exact)
{
    for (size_t i = 0; i < count; i++)
        if (!strcmp(candidates[i].type->name, type) && (!variable || !strcmp(candidates[i].variable, variable)) &&
            candidates[i].exact == exact)
            return true;
    return false;
}

/* Accesses of `bytes` through a register other than rsp and rbp in the function: how many there are, and how many have
 * the type among their candidates, exactly or possibly. */
static void count_accesses(struct loaded *loaded, const char *function, uint16_t bytes, const char *type,
                           const char *variable, int *all, int *exact, int *possible)
{
    uint64_t low = programs_symbol(loaded->path, function);
    const struct lwp_symbolized *location = lwp_code_symbolize(loaded->code, 0, low);
    *all = *exact = *possible = 0;
    for (uint64_t at = low; at < location->function_high; at++) {
        struct lwp_memory_operand operand = lwp_code_operand(loaded->code, 0, at);
        struct lwp_candidate candidates[32];
        if (lwp_code_symbolize(loaded->code, 0, at)->loop == LWP_NONE || !operand.exists || operand.bytes != bytes ||
            operand.base < 0 || operand.base == 4 || operand.base == 5)
            continue;
        size_t count = lwp_types_at_access(loaded->code, 0, at, candidates, 32);
        (*all)++;
        *exact += candidate_of(candidates, count, type, variable, true);
        *possible += candidate_of(candidates, count, type, NULL, false);
    }
}

static void test_access(void **state)
{
    (void)state;
    for (size_t b = 0; b < BUILDS; b += EACH) {
        struct loaded loaded;
        int all, exact, possible;
        if (strstr(builds[b].flags, "flto") || /* which makes copies with other names */
            !load(&loaded, builds[b].compiler, builds[b].flags, "types.c"))
            continue;
        bool plain = strstr(builds[b].flags, "-O0");
        count_accesses(&loaded, "sum_keys", 4, "struct node", "list", &all, &exact, &possible);
        if (!all || !(exact + possible) || (plain && !exact))
            fail_msg("%s %s: %d accesses, %d exact, %d possible", builds[b].compiler, builds[b].flags, all, exact,
                     possible);
        count_accesses(&loaded, "sum_graph", 8, "struct node", plain ? "graph->nodes" : NULL, &all, &exact, &possible);
        if (!all || !(exact + possible) || (plain && !exact))
            fail_msg("%s %s: %d accesses, %d exact, %d possible", builds[b].compiler, builds[b].flags, all, exact,
                     possible);
        unload(&loaded);
    }
}

/* Return addresses of the calls to an allocator in a function, as objdump shows them. */
static uint64_t call_of(const char *path, const char *function, const char *callee)
{
    char command[1024];
    unsigned long long address = 0;
    snprintf(command, sizeof command,
             "objdump -d --no-show-raw-insn --disassemble=%s %s | grep -A1 'call.*<%s@plt>' | sed -n '2s/:.*//p'",
             function, path, callee);
    FILE *objdump = popen(command, "r");
    if (objdump && fscanf(objdump, "%llx", &address) != 1)
        address = 0;
    if (objdump)
        pclose(objdump);
    return address;
}

static void test_call(void **state)
{
    (void)state;
    if (!programs_have("objdump"))
        skip();
    for (size_t b = 0; b < BUILDS; b += EACH) {
        struct loaded loaded;
        struct lwp_candidate candidates[16];
        if (strstr(builds[b].flags, "flto") || !load(&loaded, builds[b].compiler, builds[b].flags, "types.c"))
            continue;
        uint64_t after = call_of(loaded.path, "make_nodes", "malloc");
        assert_true(after);
        size_t count = lwp_types_at_call(loaded.code, 0, after - 1, candidates, 16);
        assert_true(candidate_of(candidates, count, "struct node", "made", true));
        after = call_of(loaded.path, "fill_table", "calloc");
        if (after) { /* not when it became a jump */
            count = lwp_types_at_call(loaded.code, 0, after - 1, candidates, 16);
            assert_true(candidate_of(candidates, count, "struct node", "table", true));
        }
        unload(&loaded);
    }
}

/* Does the function align its stack itself? Then its variables lie at no fixed distance from the caller's frame. */
static bool aligns_stack(const char *path, const char *function)
{
    return programs_run("objdump -d --no-show-raw-insn --disassemble=%s %s | grep -q 'and .*,%%rsp'", function, path);
}

static void test_stack(void **state)
{
    (void)state;
    int known = 0;
    if (!programs_have("objdump"))
        skip();
    for (size_t b = 0; b < BUILDS; b += EACH) {
        struct loaded loaded;
        if (!load(&loaded, builds[b].compiler, builds[b].flags, "types.c"))
            continue;
        uint64_t low = programs_symbol(loaded.path, "on_stack"), found = 0;
        const struct lwp_symbolized *location = lwp_code_symbolize(loaded.code, 0, low);
        int64_t first = 0, last = 0;
        for (int64_t offset = -400; offset < 0 && location; offset += 8) {
            const char *variable;
            int64_t start;
            uint64_t bytes, elements;
            /* In the middle of the function, where the frame is set up. */
            const struct lwp_type *type = lwp_types_of_stack(loaded.code, 0, (low + location->function_high) / 2, offset,
                                                             &variable, &start, &bytes, &elements);
            if (!variable || strcmp(variable, "local"))
                continue;
            assert_string_equal(type->name, "pair_t");
            assert_int_equal(bytes, 256);
            assert_int_equal(elements, 16);
            assert_true(offset >= start && offset < start + 256);
            first = found++ ? first : offset;
            last = offset;
        }
        if (aligns_stack(loaded.path, "on_stack")) {
            assert_int_equal(found, 0); /* unknown, never wrong */
        } else {
            assert_int_equal(found, 32);
            assert_int_equal(last - first, 248);
            known++;
        }
        unload(&loaded);
    }
    assert_true(known);
}

static void test_cxx(void **state)
{
    (void)state;
    static const struct build cxx[] = {{"g++", "-g -O2"}, {"g++", "-g -O0"}, {"clang++", "-g -O2"}};
    for (size_t b = 0; b < sizeof cxx / sizeof *cxx; b++) {
        struct loaded loaded;
        uint64_t elements;
        struct lwp_candidate candidates[64];
        if (!load(&loaded, cxx[b].compiler, cxx[b].flags, "types.cc"))
            continue;
        const struct lwp_type *type = type_of_symbol(&loaded, "world", 0, &elements);
        assert_string_equal(type->name, "geo::Particle");
        assert_string_equal(type->tag, "Particle");
        assert_true(type->is_class && type->is_derived && type->is_typedef);
        assert_int_equal(elements, 10);
        assert_int_equal(type->field_count, 5); /* vptr, id, x, y, the union; not the static member */
        assert_string_equal(type->fields[1].name, "id");
        assert_int_equal(type->fields[1].offset, 8);
        assert_string_equal(type->fields[2].declaration, "double x");
        assert_int_equal(type->fields[2].offset, 16);
        assert_int_equal(type->fields[4].offset, 32);
        assert_true(type->fields[1].inherited && !type->fields[1].of_library && !type->fields[2].inherited);
        type = type_of_symbol(&loaded, "hooked", 0, &elements);
        assert_true(type && type->field_count == 2 && type->fields[0].of_library && !type->fields[1].of_library);
        type = type_of_symbol(&loaded, "plain", 0, &elements);
        assert_true(type && type->is_class && !type->is_derived); /* a method only */
        static const struct {
            const char *function, *type;
        } walks[] = {{"_Z5totalRKSt6vectorI6pair_tSaIS0_EE", "pair_t"}, {"main", "pair_t"}, {"main", "geo::Particle"}};
        for (size_t w = 0; w < 3; w++) {
            uint64_t low = programs_symbol(loaded.path, walks[w].function), at = low;
            const struct lwp_symbolized *location = lwp_code_symbolize(loaded.code, 0, low);
            bool found = false;
            for (; at < location->function_high && !found; at++) {
                size_t count = lwp_types_at_access(loaded.code, 0, at, candidates, 64);
                found = candidate_of(candidates, count, walks[w].type, NULL, false) ||
                        candidate_of(candidates, count, walks[w].type, NULL, true);
            }
            if (!found)
                fail_msg("%s %s: no %s in %s", cxx[b].compiler, cxx[b].flags, walks[w].type, walks[w].function);
        }
        unload(&loaded);
    }
}

/* What a container of the C++ library keeps in its nodes is opened, as far as the program declares it. */
static void test_nodes(void **state)
{
    static const struct build cxx[] = {{"g++", "-g -O1"},
                                       {"clang++", "-g -O1"},
                                       {"g++", "-gdwarf-4 -fdebug-types-section -O1"},
                                       {"g++", "-g -O1 -fdebug-prefix-map=/usr=/home/me/gcc"}}; /* it is the library's wherever it is */
    static const struct {
        const char *symbol, *container, *fields[8];
        uint64_t payload_at; /* 0: none */
    } nodes[] = {
        {"list_node", "std::list", {"_M_next", "_M_prev", "price", "text", "qty", "created"}, 16},
        {"tree_node", "std::map", {"_M_left", "_M_right", "first", "second.price", "second.text", "second.qty", "second.created"}, 40},
        {"set_node", "std::set", {"_M_left", "_M_right", "_M_storage"}, 0},
        {"_Z9text_nodeB5cxx11", "std::map", {"_M_left", "_M_right", "first", "second"}, 0},
        {"hash_node", "std::unordered_map", {"_M_nxt", "first", "second.price", "second.text", "second.qty", "second.created"}, 16}};
    (void)state;
    for (size_t b = 0; b < sizeof cxx / sizeof *cxx; b++) {
        struct loaded loaded;
        if (!load(&loaded, cxx[b].compiler, cxx[b].flags, "nodes.cc"))
            continue;
        for (size_t i = 0; i < sizeof nodes / sizeof *nodes; i++) {
            uint64_t elements;
            const struct lwp_type *type = type_of_symbol(&loaded, nodes[i].symbol, 0, &elements);
            size_t at = 0, count = 0;
            assert_non_null(type);
            assert_string_equal(lwp_types_container(type), nodes[i].container);
            assert_int_not_equal(type->owner, LWP_TYPE_OF_PROJECT);
            while (nodes[i].fields[count])
                count++;
            assert_true(type->field_count >= count);
            for (at = type->field_count - count; at < type->field_count; at++)
                assert_string_equal(type->fields[at].name, nodes[i].fields[at + count - type->field_count]);
            assert_int_equal(type->payload != NULL, nodes[i].payload_at != 0);
            if (!type->payload)
                continue;
            assert_string_equal(type->payload->name, "Entry");
            assert_int_equal(type->payload_at, nodes[i].payload_at);
            assert_string_equal(type->fields[type->field_count - 2].declaration, "int qty");
            assert_int_equal(type->fields[type->field_count - 2].offset, nodes[i].payload_at + 84);
            assert_true(lwp_types_contain(type, nodes[i].payload_at, type->payload));
            assert_false(lwp_types_contain(type, nodes[i].payload_at - 8, type->payload));
        }
        assert_null(lwp_types_container(type_of_symbol(&loaded, "list_node", 0, &(uint64_t){0})->payload));
        unload(&loaded);
    }
}

static void test_nothing(void **state)
{
    (void)state;
    struct lwp_arena *arena = lwp_arena_new();
    struct lwp_code *code = lwp_code_new(arena);
    struct lwp_candidate candidate;
    const char *variable;
    int64_t start;
    uint64_t bytes, elements;
    uint32_t module = lwp_code_module(code, "/proc/nonexistent", NULL, 0);
    static const uint64_t addresses[] = {0, 1, 0x1000, UINT64_MAX};
    for (size_t i = 0; i < 4; i++)
        for (uint32_t m = module; m < module + 2; m++) {
            assert_int_equal(lwp_types_at_access(code, m, addresses[i], &candidate, 1), 0);
            assert_int_equal(lwp_types_at_call(code, m, addresses[i], &candidate, 1), 0);
            assert_null(lwp_types_of_static(code, m, addresses[i], &elements));
            assert_null(lwp_types_of_stack(code, m, addresses[i], -8, &variable, &start, &bytes, &elements));
        }
    assert_null(lwp_types_of_static(code, LWP_NONE, 0, &elements));
    lwp_code_free(code);
    lwp_arena_free(arena);
}

/* A template's name begins behind what it returns. */
static void test_library_names(void **state)
{
    static const char *const library[] = {"std::sort(int*, int*)",
                                          "void std::sort<int*>(int*, int*)",
                                          "double* std::__relocate_a_1<double, double>(double*, double*, double*, std::allocator<double>&)",
                                          "std::ostream& std::operator<< <char>(std::ostream&, char)",
                                          "bool __gnu_cxx::operator< <int>(int, int)",
                                          "operator new(unsigned long)",
                                          "<alloc::vec::Vec<T,A> as core::ops::index::Index<I>>::index",
                                          "core::ptr::drop_in_place<alloc::vec::Vec<u8>>"};
    static const char *const own[] = {"std::vector<int, std::allocator<int> > make<int>(int)",
                                      "(anonymous namespace)::work(std::vector<int>&)",
                                      "std::unique_ptr<Node> (anonymous namespace)::parse<Node>(char const*)",
                                      "Grid::operator()<std::less<int> >(int) const",
                                      "std::string Grid::operator std::string<char>() const",
                                      "main"};
    (void)state;
    for (size_t i = 0; i < sizeof library / sizeof *library; i++)
        if (!lwp_types_is_library(library[i]))
            fail_msg("%s is the library's", library[i]);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (lwp_types_is_library(own[i]))
            fail_msg("%s is not the library's", own[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_struct),
        cmocka_unit_test(test_lower_bounds),
        cmocka_unit_test(test_lengths),
        cmocka_unit_test(test_held),
        cmocka_unit_test(test_held_across_units),
        cmocka_unit_test(test_statics),
        cmocka_unit_test(test_access),
        cmocka_unit_test(test_call),
        cmocka_unit_test(test_stack),
        cmocka_unit_test(test_cxx),
        cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_library_names),
        cmocka_unit_test(test_nodes),
    };
    return cmocka_run_group_tests(tests, programs_set_up, programs_tear_down);
}
