/* Pointers followed through whole functions: every access in the loops of tests/truth/types must lead to the type that
 * the source says, whatever the compiler made of the loop; and what allocations are of. No program is run.
 * More compilers and flags are in tests/long/named_types.sh. */
#include "analysis/program/code.h"
#include "analysis/program/pointers/pointer_flow.h"
#include "analysis/program/types/types.h"
#include "programs.h"
#include "tests/unit/amount.h"

struct loaded {
    struct lwp_arena *arena;
    struct lwp_code *code;
    char path[256];
};

/* Builds each program once. */
static bool load(struct loaded *loaded, const char *compiler, const char *flags, const char *source)
{
    enum { BUILDS = 24 };
    static struct built {
        char what[1024], path[256];
    } all[BUILDS];
    char what[1024];
    size_t i = 0;
    snprintf(what, sizeof what, "%s %s %s", compiler, flags, source);
    while (i < BUILDS && *all[i].what && strcmp(all[i].what, what))
        i++;
    assert_true(i < BUILDS);
    if (!*all[i].what) {
        if (!programs_build(compiler, flags, source, all[i].path, sizeof all[i].path))
            return false;
        memcpy(all[i].what, what, sizeof what);
    }
    memcpy(loaded->path, all[i].path, sizeof loaded->path);
    loaded->arena = lwp_arena_new();
    loaded->code = lwp_code_new(loaded->arena);
    assert_int_equal(lwp_code_module(loaded->code, loaded->path, NULL, 0), 0);
    return true;
}

static void unload(struct loaded *loaded)
{
    lwp_code_free(loaded->code);
    lwp_arena_free(loaded->arena);
}

/* ---- arithmetic ---- */

static void test_values(void **state)
{
    (void)state;
    struct pointer_sources none = {.count = 0};
    struct pointer_value zero = {.kind = POINTER_NUMBER}, step = {.kind = POINTER_NUMBER, .offset = 40}, index = pointer_unknown;
    struct pointer_value pointer = pointer_address(0, 8), null = zero, moved = pointer_add(&pointer, &step);
    assert_int_equal(moved.offset, 48);
    assert_int_equal(moved.modulus, 0);
    /* Around a loop: at the same place of some element. */
    struct pointer_value around = pointer_join(&none, &pointer, &moved);
    assert_int_equal(around.kind, POINTER_ADDRESS);
    assert_int_equal(around.modulus, 40);
    struct pointer_value again = pointer_add(&around, &step);
    again = pointer_join(&none, &around, &again);
    assert_true(pointer_equal(&again, &around));
    /* base + index * 24 */
    struct pointer_value scaled = pointer_scaled(&index, 24), element = pointer_add(&pointer, &scaled);
    assert_int_equal(element.kind, POINTER_ADDRESS);
    assert_int_equal(element.modulus, 24);
    assert_int_equal(pointer_join(&none, &pointer, &null).kind, POINTER_ADDRESS); /* or no node at all */
    assert_int_equal(pointer_join(&none, &pointer, &index).kind, POINTER_NUMBER);
    assert_int_equal(pointer_add(&pointer, &pointer).kind, POINTER_NUMBER);
    assert_int_equal(pointer_scaled(&pointer, 2).kind, POINTER_NUMBER);
    struct pointer_value huge = {.kind = POINTER_NUMBER, .offset = INT64_MAX};
    assert_int_equal(pointer_add(&huge, &step).modulus, 1);
    assert_int_equal(pointer_scaled(&huge, 3).modulus, 1);
    assert_int_equal(pointer_scaled(&huge, INT64_MIN).modulus, 1);
    struct pointer_value low = {.kind = POINTER_NUMBER, .offset = INT64_MIN};
    assert_int_equal(pointer_join(&none, &huge, &low).modulus, 1);
}

/* Sums of multiples of one number: base + 8 * (x + 8 * x) is a multiple of 72, and 16 * x - x one of 15; of two numbers nothing is
 * known but the common divisor. */
static void test_multiples(void **state)
{
    (void)state;
    struct pointer_sources none = {.count = 0};
    struct pointer_value index = pointer_unknown, other = pointer_unknown;
    pointer_name(&index, pointer_factor(POINTER_OF_CODE, 0x1000, 0));
    pointer_name(&other, pointer_factor(POINTER_OF_CODE, 0x1004, 0));
    struct pointer_value eight = pointer_scaled(&index, 8), nine = pointer_add(&index, &eight), bytes = pointer_scaled(&nine, 8);
    assert_int_equal(nine.modulus, 9);
    assert_int_equal(bytes.modulus, 72);
    struct pointer_value base = pointer_address(0, 8), element = pointer_add(&base, &bytes), more = pointer_add(&element, &bytes);
    assert_int_equal(element.kind, POINTER_ADDRESS);
    assert_int_equal(element.offset, 8);
    assert_int_equal(element.modulus, 72);
    assert_int_equal(more.modulus, 144);
    struct pointer_value sixteen = pointer_scaled(&index, 16), minus = pointer_scaled(&index, -1), fifteen = pointer_add(&sixteen, &minus);
    assert_int_equal(fifteen.modulus, 15);
    assert_int_equal(pointer_add(&index, &minus).modulus, 0);
    struct pointer_value mixed = pointer_scaled(&other, 12), sum = pointer_add(&eight, &mixed);
    assert_int_equal(sum.modulus, 4);
    assert_int_equal(sum.factor, 0);
    struct pointer_value joined = pointer_join(&none, &nine, &eight); /* one or the other */
    assert_int_equal(joined.modulus, 1);
    assert_int_equal(joined.factor, 0);
    struct pointer_state registers = {.of = {nine, index, other, eight}};
    pointer_forget(&registers, index.factor, &registers.of[1]);
    assert_int_equal(registers.of[0].factor, 0);
    assert_int_equal(registers.of[0].modulus, 9);
    assert_int_equal(registers.of[1].factor, index.factor);
    assert_int_equal(registers.of[2].factor, other.factor);
    assert_int_equal(registers.of[3].factor, 0);
}

/* ---- accesses ---- */

struct walk {
    const char *function, *type, *other; /* symbol; what its loops' accesses are of */
};

/* Accesses in loops of the function through registers: how many, how many known, and none of another type. */
static void walk_count(struct loaded *loaded, const struct walk *walk, const char *build, int *all, int *known)
{
    uint64_t low = programs_symbol(loaded->path, walk->function);
    if (!low)
        return; /* inlined after all */
    const struct lwp_symbolized *location = lwp_code_symbolize(loaded->code, 0, low);
    char command[1024];
    snprintf(
        command, sizeof command,
        "objdump -d --no-show-raw-insn --start-address=0x%llx --stop-address=0x%llx %s | sed -n 's/^ *\\([0-9a-f]*\\):"
        "\t.*/\\1/p'",
        (unsigned long long)low, (unsigned long long)location->function_high, loaded->path);
    FILE *objdump = popen(command, "r");
    unsigned long long at;
    while (objdump && fscanf(objdump, "%llx", &at) == 1) {
        struct lwp_memory_operand operand = lwp_code_operand(loaded->code, 0, at);
        struct lwp_candidate candidate;
        if (lwp_code_symbolize(loaded->code, 0, at)->loop == LWP_NONE || !operand.exists || operand.base < 0 ||
            operand.base == 4 || operand.base == 5)
            continue;
        ++*all;
        if (!lwp_types_at_access(loaded->code, 0, at, &candidate, 1) || !candidate.exact)
            continue;
        ++*known;
        if (strcmp(candidate.type->name, walk->type) && strcmp(candidate.type->name, "struct graph") &&
            (!walk->other || strcmp(candidate.type->name, walk->other)))
            fail_msg("%s: %s+0x%llx is of %s through %s", build, walk->function, at - low, candidate.type->name,
                     candidate.variable);
    }
    if (objdump)
        pclose(objdump);
}

static void walk_all(const char *compiler, const char *flags, const char *source, const struct walk *walks,
                     size_t count, double least)
{
    struct loaded loaded;
    char path[256], build[256];
    int all = 0, known = 0;
    snprintf(path, sizeof path, "../truth/types/%s", source);
    snprintf(build, sizeof build, "%s %s %s", compiler, flags, source);
    if (!load(&loaded, compiler, flags, path))
        return;
    for (size_t w = 0; w < count; w++)
        walk_count(&loaded, &walks[w], build, &all, &known);
    if (!all || known < least * all)
        fail_msg("%s: %d of %d accesses known", build, known, all);
    unload(&loaded);
}

static void test_c(void **state)
{
    (void)state;
    static const struct walk walks[] = {
        {"walk_list", "struct node", NULL},
        {"kinetic", "struct body", NULL},
        {"move", "struct body", NULL},
        {"smooth", "struct body", NULL},
        {"count_kinds", "struct packet", NULL},
        {"add_values", "struct value", NULL},
        {"heat_up", "cell_t", NULL},
        {"relax", "struct edge", "struct vec3"},
        {"look_up", "struct slot", NULL},
        {"add_keys", "struct node", "struct node *"},
        {"add_rows", "struct row", "struct row *"},
    };
    static const char *const gcc[] = {"-g -O2", "-gdwarf-4 -O1"};
    static const char *const clang[] = {"-gdwarf-5 -O3"};
    if (!programs_have("objdump"))
        skip();
    for (size_t i = 0; i < sizeof gcc / sizeof *gcc; i += LONG_AMOUNT(1, 2))
        walk_all("gcc", gcc[i], "records.c", walks, sizeof walks / sizeof *walks, 0.95);
    for (size_t i = 0; i < sizeof clang / sizeof *clang; i++)
        walk_all("clang", clang[i], "records.c", walks, sizeof walks / sizeof *walks, 0.9);
}

static void test_cxx(void **state)
{
    (void)state;
    static const struct walk walks[] = {
        {"_ZN5Field7diffuseEv", "Field::Cell", "std::vector<Field::Cell, std::allocator<Field::Cell> >"},
        {"_Z8heaviestRKSt6vectorIN3geo8ParticleESaIS1_EE", "geo::Particle", NULL},
        {"_Z11use_entriesRSt6vectorI5EntryIidESaIS1_EE", "Entry<int, double>", NULL},
        {"_Z13scale_entriesP5EntryIidEid", "Entry<int, double>", NULL},
        {"_Z6followRKSt10unique_ptrI4LinkSt14default_deleteIS0_EE", "Link",
         "std::unique_ptr<Link, std::default_delete<Link> >"},
        {"_Z11total_scoreRKSt10unique_ptrIA_6RecordSt14default_deleteIS1_EE", "Record", NULL},
    };
    if (!programs_have("objdump"))
        skip();
    walk_all("g++", "-g -O2", "classes.cc", walks, sizeof walks / sizeof *walks, 0.9);
    walk_all("clang++", "-gdwarf-4 -O2", "classes.cc", walks, sizeof walks / sizeof *walks, 0.9);
}

/* A parameter is in the register that hands it over until that holds something else, whatever DWARF says of a function that the compiler
 * did not follow variables in. */
static void test_handed_over(void **state)
{
    static const char *const flags[] = {"-g -O2", "-g -O2 -fno-var-tracking"};
    (void)state;
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        struct loaded loaded;
        if (!load(&loaded, "gcc", flags[i], "../truth/types/handed.c"))
            skip();
        uint64_t at = programs_symbol(loaded.path, "sum_places"), high = lwp_code_symbolize(loaded.code, 0, at)->function_high;
        int owner = 0, place = 0;
        for (; at < high; at++) {
            struct lwp_memory_operand operand = lwp_code_operand(loaded.code, 0, at);
            struct lwp_candidate candidate;
            if (!operand.exists || operand.base != 7 /* rdi */ || operand.index >= 0)
                continue;
            bool known = lwp_types_at_access(loaded.code, 0, at, &candidate, 1) && candidate.exact;
            bool loop = lwp_code_symbolize(loaded.code, 0, at)->loop != LWP_NONE;
            if (known && (loop || strcmp(candidate.type->name, "struct owner")))
                fail_msg("%s: sum_places at 0x%llx is of %s", flags[i], (unsigned long long)at, candidate.type->name);
            owner += known;
            place += loop;
        }
        assert_true(owner && place);
        unload(&loaded);
    }
}

/* A member that is nowhere takes its place among the others. */
static void test_pieces(void **state)
{
    static const struct {
        const char *function, *first, *second;
    } all[] = {{"whole_bytes", "struct event", "struct event *"}, {"bits", "struct event", NULL}};
    struct loaded loaded;
    struct lwp_candidate candidate;
    (void)state;
    if (!load(&loaded, "gcc", "-nostdlib -static -Wl,-e,whole_bytes", "pieces.S"))
        skip();
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        uint64_t at = programs_symbol(loaded.path, all[i].function);
        assert_true(lwp_types_at_access(loaded.code, 0, at, &candidate, 1) && candidate.exact);
        assert_string_equal(candidate.type->name, all[i].first);
        bool known = lwp_types_at_access(loaded.code, 0, at + 3, &candidate, 1) && candidate.exact;
        assert_int_equal(known, all[i].second != NULL);
        if (known)
            assert_string_equal(candidate.type->name, all[i].second);
    }
    unload(&loaded);
}

static void test_fortran(void **state)
{
    (void)state;
    static const struct walk walks[] = {
        {"__bodies_MOD_kinetic", "type(body)", NULL},  {"__bodies_MOD_drift", "type(body)", NULL},
        {"__bodies_MOD_remember", "type(body)", NULL}, {"__bodies_MOD_prices", "type(item)", NULL},
        {"__bodies_MOD_follow", "type(item)", NULL},   {"__bodies_MOD_cells", "type(body)", NULL},
        {"__bodies_MOD_warm", "real(kind=8)", NULL},
    };
    char flags[512];
    if (!programs_have("objdump"))
        skip();
    snprintf(flags, sizeof flags, "-g -O2 -J %s %s/tests/truth/types/derived.f90", programs_folder, LWP_SOURCE);
    walk_all("gfortran", flags, "derived_main.f90", walks, sizeof walks / sizeof *walks, 0.9);
}

static void test_regions(void **state)
{
    (void)state;
    static const struct walk walk = {"__regions_MOD_flow._omp_fn.0", "real(kind=8)", NULL};
    char flags[512];
    if (!programs_have("objdump"))
        skip();
    snprintf(flags, sizeof flags, "-g -O3 -mavx2 -fopenmp -J %s", programs_folder);
    walk_all("gfortran", flags, "regions.f90", &walk, 1, 0.9);
}

/* ---- names ---- */

static const struct lwp_field *field_of(const struct lwp_type *type, const char *name)
{
    for (uint32_t i = 0; i < type->field_count; i++)
        if (!strcmp(type->fields[i].name, name))
            return &type->fields[i];
    fail_msg("%s has no field %s", type->name, name);
    return NULL;
}

static void test_fortran_names(void **state)
{
    struct loaded loaded;
    char flags[512];
    uint64_t elements;
    (void)state;
    snprintf(flags, sizeof flags, "-g -O2 -J %s %s/tests/truth/types/derived.f90", programs_folder, LWP_SOURCE);
    if (!load(&loaded, "gfortran", flags, "../truth/types/derived_main.f90"))
        skip();
    struct lwp_symbol symbol;
    uint64_t shelf = programs_symbol(loaded.path, "__bodies_MOD_shelf");
    const struct lwp_type *type = lwp_types_of_static(loaded.code, 0, shelf, &elements);
    assert_non_null(type);
    assert_string_equal(type->name, "type(item)");
    assert_string_equal(type->tag, "item");
    assert_int_equal(type->language, LWP_LANGUAGE_FORTRAN);
    assert_int_equal(elements, 100000);
    assert_string_equal(field_of(type, "value")->declaration, "integer(kind=4) :: value");
    assert_string_equal(field_of(type, "next")->declaration, "type(item), pointer :: next");
    assert_true(lwp_code_data_symbol(loaded.code, 0, shelf, &symbol));
    assert_string_equal(symbol.name, "bodies::shelf");
    /* An allocatable array is its descriptor; what is in it, the accesses tell. */
    uint64_t low = programs_symbol(loaded.path, "__bodies_MOD_drift"), at = low;
    struct lwp_candidate candidate = {.exact = false};
    for (; at < low + 512; at++)
        if (lwp_types_at_access(loaded.code, 0, at, &candidate, 1) && candidate.exact &&
            !strcmp(candidate.type->name, "type(body)"))
            break;
    assert_string_equal(candidate.variable, "swarm");
    type = candidate.type;
    assert_string_equal(field_of(type, "history")->declaration, "real(kind=4) :: history(3)");
    assert_string_equal(field_of(type, "velocity")->declaration, "type(vector) :: velocity");
    assert_int_equal(field_of(type, "history")->bytes, 12);
    unload(&loaded);
}

/* Arrays whose elements lie elsewhere have a descriptor's bytes; a type keeps all of its fields. */
static void test_fortran_components(void **state)
{
    static const struct {
        const char *name, *declaration;
        uint64_t offset, bytes;
    } fields[] = {
        {"parts", "type(part), allocatable :: parts(:)", 0, 64},
        {"heat", "real(kind=4), pointer :: heat(:, :)", 64, 88},
        {"kind", "integer(kind=4) :: kind", 152, 4},
        {"label", "character(len=:), pointer :: label", 168, 8},
        {"anything", "class(*), allocatable :: anything", 176, 24},
        {"owner", "class(part), pointer :: owner", 200, 16},
    };
    struct loaded loaded;
    char flags[512];
    uint64_t elements;
    (void)state;
    snprintf(flags, sizeof flags, "-g -O2 -J %s", programs_folder);
    if (!load(&loaded, "gfortran", flags, "../truth/types/components.f90"))
        skip();
    const struct lwp_type *type =
        lwp_types_of_static(loaded.code, 0, programs_symbol(loaded.path, "__components_MOD_records"), &elements);
    assert_non_null(type);
    assert_string_equal(type->name, "type(record)");
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        const struct lwp_field *field = field_of(type, fields[i].name);
        assert_string_equal(field->declaration, fields[i].declaration);
        assert_int_equal(field->offset, fields[i].offset);
        assert_int_equal(field->bytes, fields[i].bytes);
    }
    assert_int_equal(field_of(type, "heat")->alignment, 8);
    unload(&loaded);
}

static void test_rust_names(void **state)
{
    struct loaded loaded;
    char command[512];
    unsigned long long low = 0, high;
    struct lwp_candidate candidate;
    const struct lwp_type *shape = NULL;
    (void)state;
    if (!load(&loaded, "rustc", "-O -g", "../truth/types/slices.rs"))
        skip();
    snprintf(command, sizeof command, "nm %s | grep 'slices5areas' | cut -d' ' -f1", loaded.path);
    FILE *nm = popen(command, "r");
    if (nm && fscanf(nm, "%llx", &low) != 1)
        low = 0;
    if (nm)
        pclose(nm);
    assert_true(low);
    high = lwp_code_symbolize(loaded.code, 0, low)->function_high;
    for (uint64_t at = low; at < high && !shape; at++)
        if (lwp_types_at_access(loaded.code, 0, at, &candidate, 1) && candidate.exact &&
            candidate.type->kind == LWP_TYPE_STRUCT)
            shape = candidate.type;
    assert_non_null(shape);
    assert_string_equal(shape->name, "slices::Shape");
    assert_int_equal(shape->language, LWP_LANGUAGE_RUST);
    assert_int_equal(field_of(shape, "discriminant")->offset, 0);
    /* What the variants keep in the same bytes is one field. */
    bool found = false;
    for (uint32_t i = 0; i < shape->field_count; i++)
        found |= strstr(shape->fields[i].name, "Circle.radius") && strstr(shape->fields[i].name, "Rectangle.");
    assert_true(found);
    unload(&loaded);
}

/* The compiler names no file where Rust's types are declared. What is counted, in whatever cell or lock, is the program's. */
static void test_rust_owners(void **state)
{
    static const struct {
        const char *function, *type, *holder, *payload;
    } shared[] = {{"share", "alloc::rc::Rc", "std::rc::Rc", "::Node"},
                  {"share_cell", "alloc::rc::Rc", "std::rc::Rc", "::Cell"},
                  {"share_locked", "alloc::sync::Arc", "std::sync::Arc", "::Cell"},
                  {"share_texts", "alloc::rc::Rc", NULL, NULL}};
    struct loaded loaded;
    struct lwp_candidate candidate;
    (void)state;
    if (!load(&loaded, "rustc", "-O -g", "../truth/types/counted.rs"))
        skip();
    for (size_t i = 0; i < sizeof shared / sizeof *shared; i++) {
        const struct lwp_type *counted = NULL;
        const uint64_t low = programs_symbol(loaded.path, shared[i].function);
        assert_true(low);
        const uint64_t high = lwp_code_symbolize(loaded.code, 0, low)->function_high;
        for (uint64_t at = low; at < high && !counted; at++)
            if (lwp_types_at_access(loaded.code, 0, at, &candidate, 1) && strstr(candidate.type->name, shared[i].type) &&
                lwp_types_counts(candidate.type->name))
                counted = candidate.type;
        assert_non_null(counted);
        assert_int_equal(counted->owner, LWP_TYPE_OF_SYSTEM);
        assert_int_equal(counted->payload != NULL, shared[i].payload != NULL);
        if (!shared[i].payload) {
            assert_null(lwp_types_container(counted));
            continue;
        }
        assert_string_equal(lwp_types_container(counted), shared[i].holder);
        assert_non_null(strstr(counted->payload->name, shared[i].payload));
        assert_int_not_equal(counted->payload->owner, LWP_TYPE_OF_SYSTEM);
        assert_true(lwp_types_contain(counted, counted->payload_at, counted->payload));
        assert_string_equal(counted->fields[0].name, "strong");
        for (uint32_t f = 0; f < counted->field_count; f++) {
            const struct lwp_field *field = &counted->fields[f];
            const bool inside = field->offset >= counted->payload_at && field->offset < counted->payload_at + counted->payload->bytes;
            assert_int_equal(field->of_library, !inside);
        }
    }
    unload(&loaded);
}

/* ---- allocations ---- */

/* The first address after a call whose text matches, in a function. */
static uint64_t call_of(const char *path, const char *function, const char *callee, int number)
{
    char command[1024];
    unsigned long long address = 0;
    snprintf(command, sizeof command,
             "objdump -d --no-show-raw-insn --disassemble=%s %s | grep -A1 'call.*<%s' | grep -v '^--' | sed -n "
             "'%ds/:.*//p'",
             function, path, callee, 2 * number);
    FILE *objdump = popen(command, "r");
    if (objdump && fscanf(objdump, "%llx", &address) != 1)
        address = 0;
    if (objdump)
        pclose(objdump);
    return address;
}

/* The name of what the loop of a function goes over. */
static const char *walked_name(const struct loaded *loaded, const char *function)
{
    uint64_t low = programs_symbol(loaded->path, function);
    assert_true(low);
    uint64_t high = lwp_code_symbolize(loaded->code, 0, low)->function_high;
    struct lwp_candidate candidate;
    for (uint64_t at = low; at < high; at++)
        if (lwp_code_symbolize(loaded->code, 0, at)->loop != LWP_NONE && lwp_types_at_access(loaded->code, 0, at, &candidate, 1) &&
            candidate.exact && !strcmp(candidate.type->name, "struct point"))
            return candidate.variable;
    fail_msg("%s goes over no points", function);
    return NULL;
}

static void test_several_callers(void **state)
{
    struct loaded loaded;
    (void)state;
    if (!load(&loaded, "gcc", "-O2 -g", "several_callers.c"))
        skip();
    const char *several = walked_name(&loaded, "of_several.constprop.0"), *one = walked_name(&loaded, "of_one.constprop.0");
    assert_string_equal(several, "of");
    assert_string_equal(one, "first");
    unload(&loaded);
}

/* What lies behind one base says nothing of what lies behind another of its type. */
static void test_bases(void **state)
{
    struct loaded loaded;
    struct lwp_candidate candidate;
    uint32_t of_shapes = LWP_NONE;
    (void)state;
    if (!load(&loaded, "gcc", "-O2 -g", "bases.c"))
        skip();
    uint64_t low = programs_symbol(loaded.path, "both"), high = lwp_code_symbolize(loaded.code, 0, low)->function_high;
    for (uint64_t at = low; at < high; at++) {
        uint32_t loop = lwp_code_symbolize(loaded.code, 0, at)->loop;
        if (loop == LWP_NONE || !lwp_types_at_access(loaded.code, 0, at, &candidate, 1) || !candidate.exact ||
            strcmp(candidate.type->name, "struct shape"))
            continue;
        assert_true(of_shapes == LWP_NONE || of_shapes == loop);
        of_shapes = loop;
    }
    assert_true(of_shapes != LWP_NONE);
    unload(&loaded);
}

static void test_blocks(void **state)
{
    (void)state;
    struct loaded loaded;
    struct lwp_candidate candidate;
    if (!programs_have("objdump"))
        skip();
    if (load(&loaded, "gcc", "-g -O2 -fno-inline", "../truth/types/records.c")) {
        uint64_t after = call_of(loaded.path, "make", "calloc", 1);
        assert_true(after); /* void *make() hands the block to its caller */
        assert_int_equal(lwp_types_of_block(loaded.code, 0, after - 1, true, &candidate), LWP_BLOCK_RETURNED);
        after = call_of(loaded.path, "main", "make>", 1);
        assert_true(after);
        assert_int_equal(lwp_types_of_block(loaded.code, 0, after - 1, true, &candidate), LWP_BLOCK_KNOWN);
        assert_string_equal(candidate.type->name, "struct node *");
        after = call_of(loaded.path, "make_list", "malloc", 1);
        assert_true(after);
        assert_int_equal(lwp_types_of_block(loaded.code, 0, after - 1, true, &candidate), LWP_BLOCK_KNOWN);
        assert_string_equal(candidate.type->name, "struct node");
        assert_false(candidate.header);
        assert_int_equal(lwp_types_of_block(loaded.code, 0, after - 1, false, &candidate), LWP_BLOCK_UNKNOWN);
        after = call_of(loaded.path, "make_counted", "malloc", 1);
        assert_true(after);
        assert_int_equal(lwp_types_of_block(loaded.code, 0, after - 1, true, &candidate), LWP_BLOCK_KNOWN);
        assert_true(candidate.header);
        after = call_of(loaded.path, "make_from_one", "malloc", 1);
        assert_true(after);
        assert_int_equal(lwp_types_of_block(loaded.code, 0, after - 1, true, &candidate), LWP_BLOCK_KNOWN);
        assert_string_equal(candidate.type->name, "double");
        assert_false(candidate.header);
        after = call_of(loaded.path, "make_pool", "malloc", 1);
        assert_true(after);
        assert_int_equal(lwp_types_of_block(loaded.code, 0, after - 1, true, &candidate), LWP_BLOCK_KNOWN);
        assert_string_equal(candidate.type->name, "struct node");
        assert_string_equal(candidate.kept, "pool->start");
        after = call_of(loaded.path, "make_noted", "malloc", 1);
        assert_true(after);
        assert_int_equal(lwp_types_of_block(loaded.code, 0, after - 1, true, &candidate), LWP_BLOCK_KNOWN);
        assert_true(candidate.returned);
        assert_null(candidate.kept);
        after = call_of(loaded.path, "make_given", "malloc", 1);
        assert_true(after);
        assert_int_equal(lwp_types_of_block(loaded.code, 0, after - 1, true, &candidate), LWP_BLOCK_KNOWN);
        assert_string_equal(candidate.type->name, "double");
        assert_null(candidate.kept);
        assert_null(candidate.variable);
        after = call_of(loaded.path, "make_list", "malloc", 1);
        assert_true(after);
        assert_int_equal(lwp_types_of_block(loaded.code, 0, after - 1, true, &candidate), LWP_BLOCK_KNOWN);
        assert_string_equal(candidate.variable, "nodes");
        unload(&loaded);
    }
    if (load(&loaded, "g++", "-g -O2", "../truth/types/classes.cc")) {
        bool particle = false, link = false;
        for (int i = 1; i < 40; i++) {
            uint64_t after = call_of(loaded.path, "main", "_Znwm@plt", i);
            if (after && lwp_types_of_block(loaded.code, 0, after - 1, true, &candidate) == LWP_BLOCK_KNOWN) {
                particle |= !strcmp(candidate.type->name, "geo::Particle");
                link |= !strcmp(candidate.type->name, "Link");
            }
        }
        assert_true(particle);
        assert_true(link);
        unload(&loaded);
    }
    static const char *const made[][2] = {
        {"make_square", "Square"}, {"make_ring", "Ring<double>"}, {"make_disc", "Disc"}, {"keep_disc", "Disc"}};
    static const struct {
        const char *compiler, *flags;
        size_t count; /* without the places of variables it is not known what `to` leads to */
    } builds[] = {{"g++", "-g -O2", 4}, {"g++", "-g -O2 -fno-inline", 4}, {"g++", "-g -O2 -fno-var-tracking", 3}, {"clang++", "-g -O2", 4}};
    for (size_t b = 0; b < sizeof builds / sizeof *builds; b++) {
        if (!load(&loaded, builds[b].compiler, builds[b].flags, "../truth/types/made.cc"))
            continue;
        for (size_t i = 0; i < builds[b].count; i++) {
            uint64_t after = call_of(loaded.path, made[i][0], "_Znwm@plt", 1);
            assert_true(after);
            assert_int_equal(lwp_types_of_block(loaded.code, 0, after - 1, true, &candidate), LWP_BLOCK_KNOWN);
            assert_string_equal(candidate.type->name, made[i][1]);
        }
        unload(&loaded);
    }
}

/* A block that a function hands back through an argument is called as the caller's pointer to it. */
static void test_handed_back(void **state)
{
    static const char *const called[][2] = {
        {"fill", "signal->window"}, {"fill_all", "signal->samples"}, {"fill_whole", "whole"}, {"fill_own", NULL}};
    struct loaded loaded;
    struct lwp_candidate candidate;
    (void)state;
    if (!programs_have("objdump") || !load(&loaded, "gcc", "-O2 -g", "handed_back.c"))
        skip();
    uint64_t after = call_of(loaded.path, "make_given", "malloc", 1);
    const uint64_t callee = after - 1;
    bool in_array;
    assert_true(after);
    assert_int_equal(lwp_types_of_block(loaded.code, 0, callee, true, &candidate), LWP_BLOCK_KNOWN);
    assert_string_equal(candidate.type->name, "double");
    assert_false(candidate.returned);
    assert_true(candidate.handed);
    for (size_t i = 0; i < sizeof called / sizeof *called; i++) {
        after = call_of(loaded.path, called[i][0], "make_given", 1);
        assert_true(after);
        const char *name = lwp_types_handed_name(loaded.code, 0, after - 1, callee, candidate.handed, &in_array);
        if (called[i][1]) {
            assert_string_equal(name, called[i][1]);
            assert_int_equal(in_array, !strcmp(called[i][0], "fill_all"));
        } else
            assert_null(name);
    }
    after = call_of(loaded.path, "main", "fill_window", 1); /* which is not on the stack: its caller's arguments are others */
    assert_true(after);
    assert_null(lwp_types_handed_name(loaded.code, 0, after - 1, callee, candidate.handed, &in_array));
    unload(&loaded);
}

/* The class of what a unit makes that only declares it; NULL: not known. */
static const struct lwp_type *declared_type(const struct loaded *loaded)
{
    struct lwp_candidate candidate = {.type = NULL};
    const uint64_t after = call_of(loaded->path, "make_branch", "_Znwm@plt", 1);
    assert_true(after);
    return lwp_types_of_block(loaded->code, 0, after - 1, true, &candidate) == LWP_BLOCK_KNOWN ? candidate.type : NULL;
}

/* The unit of the loop only declares the class. */
static void test_declared(void **state)
{
    (void)state;
    static const struct walk walks[] = {{"shift", "tree::Branch", NULL}};
    static const char *const compilers[] = {"g++", "clang++"};
    char flags[512];
    if (!programs_have("objdump"))
        skip();
    snprintf(flags, sizeof flags, "-g -O2 %s/tests/truth/types/keys_used.cc", LWP_SOURCE);
    for (size_t i = 0; i < sizeof compilers / sizeof *compilers; i++) {
        struct loaded loaded;
        walk_all(compilers[i], flags, "keys.cc", walks, 1, 1);
        if (!load(&loaded, compilers[i], flags, "../truth/types/keys.cc"))
            continue;
        const struct lwp_type *type = declared_type(&loaded);
        assert_non_null(type);
        assert_string_equal(type->name, "tree::Branch");
        assert_int_equal(type->bytes, 40);
        unload(&loaded);
    }
}

/* A .dwo file knows no other units. It is gone with its program, and other files come in its place: these know theirs. */
static void test_declared_split(void **state)
{
    (void)state;
    enum { OTHERS = 8 };
    static const char source[] = "../truth/types/keys.cc";
    char flags[512], split[600];
    struct loaded loaded, others[OTHERS];
    if (!programs_have("objdump"))
        skip();
    snprintf(flags, sizeof flags, "-g -O2 %s/tests/truth/types/keys_used.cc", LWP_SOURCE);
    snprintf(split, sizeof split, "-gsplit-dwarf %s", flags);
    if (!load(&loaded, "g++", split, source))
        skip();
    declared_type(&loaded);
    unload(&loaded);
    for (int i = 0; i < OTHERS; i++) {
        assert_true(load(&others[i], "g++", flags, source));
        const struct lwp_type *type = declared_type(&others[i]);
        assert_true(type && !strcmp(type->name, "tree::Branch"));
    }
    for (int i = 0; i < OTHERS; i++)
        unload(&others[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_multiples),
        cmocka_unit_test(test_c),
        cmocka_unit_test(test_cxx),
        cmocka_unit_test(test_fortran),
        cmocka_unit_test(test_rust_names),
        cmocka_unit_test(test_rust_owners),
        cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_declared),
        cmocka_unit_test(test_declared_split),
        cmocka_unit_test(test_fortran_names),
        cmocka_unit_test(test_fortran_components),
        cmocka_unit_test(test_handed_over),
        cmocka_unit_test(test_pieces),
        cmocka_unit_test(test_regions),
        cmocka_unit_test(test_several_callers),
        cmocka_unit_test(test_bases),
        cmocka_unit_test(test_handed_back),
    };
    return cmocka_run_group_tests(tests, programs_set_up, programs_tear_down);
}
