/* Modules, symbols, lines and inlined frames, against binutils' addr2line and nm as the second opinion; and what is
 * left when files are stripped, replaced, cut short or damaged. */
#include "analysis/program/binary/module.h"
#include "analysis/program/code.h"
#include "analysis/program/types/types.h"
#include "programs.h"
#include "tests/unit/amount.h"

#include <fcntl.h>

struct loaded {
    struct lwp_arena *arena;
    struct lwp_code *code;
};

static struct loaded load_file(const char *path, const uint8_t *build_id, size_t bytes)
{
    struct loaded loaded = {.arena = lwp_arena_new()};
    loaded.code = lwp_code_new(loaded.arena);
    assert_int_equal(lwp_code_module(loaded.code, path, build_id, bytes), 0);
    return loaded;
}

static void unload(struct loaded *loaded)
{
    lwp_code_free(loaded->code);
    lwp_arena_free(loaded->arena);
}

static enum lwp_debug_info debug_info(struct loaded *loaded)
{
    return lwp_code_module_info(loaded->code, 0)->debug_info;
}

static const char *base_name(const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL;
    return slash ? slash + 1 : path ? path : "?";
}

/* One frame of addr2line: the function in one line, file:line in the next. */
static void check_frame(const char *path, uint64_t address, const struct lwp_frame *frame, const char *function,
                        char *where)
{
    where[strcspn(where, "\n(")] = '\0';
    char *colon = strrchr(where, ':');
    assert_non_null(colon);
    *colon = '\0';
    uint32_t line = (uint32_t)strtoul(colon + 1, NULL, 10);
    if (strcmp(frame->function ? frame->function : "??", function) || frame->line != line ||
        (line && strcmp(base_name(frame->file), base_name(where))))
        fail_msg("%s %#llx: %s %s:%u, but addr2line says %s %s:%u", path, (unsigned long long)address, frame->function,
                 frame->file, frame->line, function, where, line);
}

/* Frames of every third byte of the functions against addr2line. */
static size_t compare_addr2line(const char *path, const char *const *functions, size_t count)
{
    struct loaded loaded = load_file(path, NULL, 0);
    char command[1024], list[300], line[4096], where[4096];
    size_t frames = 0;
    snprintf(list, sizeof list, "%s.addresses", path);
    FILE *file = fopen(list, "w");
    assert_non_null(file);
    for (size_t i = 0; i < count; i++) {
        uint64_t low = programs_symbol(path, functions[i]);
        assert_true(low);
        const struct lwp_symbolized *location = lwp_code_symbolize(loaded.code, 0, low);
        assert_int_equal(location->function_low, low);
        for (uint64_t at = low; at < location->function_high; at += 3)
            fprintf(file, "%llx\n", (unsigned long long)at);
    }
    fclose(file);
    snprintf(command, sizeof command, "addr2line -e %s -a -i -f -C < %s", path, list);
    FILE *other = popen(command, "r");
    const struct lwp_symbolized *location = NULL;
    uint32_t frame = 0;
    while (other && fgets(line, sizeof line, other)) {
        line[strcspn(line, "\n")] = '\0';
        if (!strncmp(line, "0x", 2)) {
            assert_true(!location || frame == location->frame_count);
            location = lwp_code_symbolize(loaded.code, 0, strtoull(line, NULL, 16));
            frame = 0;
            continue;
        }
        assert_non_null(fgets(where, sizeof where, other));
        assert_non_null(location);
        assert_true(frame < location->frame_count);
        assert_int_equal(location->frames[frame].inlined, frame + 1 < location->frame_count);
        check_frame(path, location->address, &location->frames[frame++], line, where);
        frames++;
    }
    if (other)
        pclose(other);
    unload(&loaded);
    return frames;
}

static void test_frames(void **state)
{
    (void)state;
    if (!programs_have("addr2line"))
        skip();
    static const char *const compilers[] = {"gcc", "clang"};
    static const char *const flags[] = {"-g -O0", "-g -O2", "-g -O3 -march=native", "-gdwarf-4 -O2",
                                        "-gdwarf-4 -O2 -no-pie -fno-pie"};
    static const char *const loops[] = {"triad", "nest", "interpret", "both", "no_loop", "main"};
    static const char *const cxx[] = {"_Z5totalRKSt6vectorI6pair_tSaIS0_EE",
                                      "_Z4walkRSt6vectorIPN3geo8ParticleESaIS2_EE", "main"};
    char path[256];
    for (size_t c = 0; c < 2; c++)
        for (size_t f = 0; f < sizeof flags / sizeof *flags; f++)
            /* binutils misreads the range lists of clang's DWARF 5 (llvm-symbolizer agrees with us) */
            if ((c == 0 || strstr(flags[f], "dwarf-4")) &&
                programs_build(compilers[c], flags[f], "loops.c", path, sizeof path))
                assert_true(compare_addr2line(path, loops, 6) > 100);
    if (programs_build("g++", "-g -O2", "types.cc", path, sizeof path))
        assert_true(compare_addr2line(path, cxx, 3) > 100);
}

static void test_symbols_only(void **state)
{
    (void)state;
    char path[256], stripped[300];
    if (!programs_build("gcc", "-O2", "types.c", path, sizeof path))
        skip();
    struct loaded loaded = load_file(path, NULL, 0);
    assert_int_equal(debug_info(&loaded), LWP_DEBUG_SYMBOLS);
    uint64_t low = programs_symbol(path, "sum_keys");
    const struct lwp_symbolized *location = lwp_code_symbolize(loaded.code, 0, low + 5);
    assert_string_equal(location->frames[0].function, "sum_keys");
    assert_int_equal(location->frame_count, 1);
    assert_null(location->frames[0].file);
    assert_int_equal(location->function_low, low);
    uint64_t high = location->function_high;
    unload(&loaded);
    snprintf(stripped, sizeof stripped, "%s.stripped", path);
    assert_true(programs_run("strip -o %s %s", stripped, path));
    loaded = load_file(stripped, NULL, 0);
    assert_int_equal(debug_info(&loaded), LWP_DEBUG_NONE);
    location = lwp_code_symbolize(loaded.code, 0, low + 5);
    assert_null(location->frames[0].function);
    assert_int_equal(location->function_low, low); /* .eh_frame stays */
    assert_int_equal(location->function_high, high);
    unload(&loaded);
}

static void test_separate_debug_file(void **state)
{
    (void)state;
    char path[256];
    static const char *const ids[] = {"sha1", "none"};
    for (size_t i = 0; i < 2; i++) {
        char flags[64];
        snprintf(flags, sizeof flags, "-g -O2 -Wl,--build-id=%s", ids[i]);
        if (!programs_have("objcopy") || !programs_build("gcc", flags, "types.c", path, sizeof path))
            skip();
        uint64_t low = programs_symbol(path, "sum_keys");
        assert_true(programs_run("cd %s && objcopy --only-keep-debug %s %s.debug && strip %s && "
                                 "objcopy --add-gnu-debuglink=%s.debug %s",
                                 programs_folder, path, path, path, path, path));
        struct loaded loaded = load_file(path, NULL, 0);
        assert_int_equal(debug_info(&loaded), LWP_DEBUG_FULL);
        const struct lwp_symbolized *location = lwp_code_symbolize(loaded.code, 0, low + 4);
        assert_string_equal(location->frames[0].function, "sum_keys");
        assert_true(location->frames[0].line > 0);
        assert_true(loaded.code->loop_count > 0);
        unload(&loaded);
        /* Another build's debug file must not be taken. */
        assert_true(programs_run("cp /bin/true %s.debug", path));
        loaded = load_file(path, NULL, 0);
        assert_int_equal(debug_info(&loaded), LWP_DEBUG_NONE);
        unload(&loaded);
    }
}

static size_t read_build_id(const char *path, uint8_t *id, size_t room)
{
    char command[512];
    size_t count = 0;
    unsigned byte;
    snprintf(command, sizeof command, "readelf -n %s | sed -n 's/.*Build ID: //p'", path);
    FILE *readelf = popen(command, "r");
    while (readelf && count < room && fscanf(readelf, "%2x", &byte) == 1)
        id[count++] = (uint8_t)byte;
    if (readelf)
        pclose(readelf);
    return count;
}

static void test_replaced(void **state)
{
    (void)state;
    char path[256];
    uint8_t id[64];
    if (!programs_have("readelf") || !programs_build("gcc", "-g -O2 -Wl,--build-id=sha1", "loops.c", path, sizeof path))
        skip();
    size_t bytes = read_build_id(path, id, sizeof id);
    assert_int_equal(bytes, 20);
    uint64_t low = programs_symbol(path, "nest");
    struct loaded loaded = load_file(path, id, bytes);
    assert_int_equal(debug_info(&loaded), LWP_DEBUG_FULL);
    assert_int_equal(strlen(lwp_code_module_info(loaded.code, 0)->build_id), 40);
    assert_int_equal(lwp_code_module(loaded.code, path, id, bytes), 0);
    id[3] ^= 1;
    uint32_t other = lwp_code_module(loaded.code, path, id, bytes);
    assert_int_equal(other, 1);
    assert_int_equal(lwp_code_module_info(loaded.code, other)->debug_info, LWP_DEBUG_REPLACED);
    const struct lwp_symbolized *location = lwp_code_symbolize(loaded.code, other, low);
    assert_null(location->frames[0].function);
    assert_int_equal(location->loop, LWP_NONE);
    assert_false(lwp_code_operand(loaded.code, other, low).exists);
    assert_int_equal(lwp_code_module_count(loaded.code), 2);
    unload(&loaded);
}

static void test_odd_files(void **state)
{
    (void)state;
    char fifo[300];
    snprintf(fifo, sizeof fifo, "%s/fifo", programs_folder);
    assert_int_equal(mkfifo(fifo, 0600), 0);
    const struct {
        const char *path;
        enum lwp_module_file file;
    } odd[] = {
        {"/nonexistent/file", LWP_FILE_GONE},
        {"/usr/bin/program (deleted)", LWP_FILE_GONE},
        {"/dev/zero", LWP_FILE_NONE},
        {"/", LWP_FILE_NONE},
        {"[vdso]", LWP_FILE_NONE},
        {"linux-vdso.so.1", LWP_FILE_NONE},
        {"/memfd:jit (deleted)", LWP_FILE_NONE},
        {"/proc/self/fd/0", LWP_FILE_NONE},
        {"", LWP_FILE_NONE},
        {fifo, LWP_FILE_NONE},
        {"/etc/passwd", LWP_FILE_ODD},
    };
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        struct loaded loaded = load_file(odd[i].path, NULL, 0);
        assert_int_equal(lwp_code_module_info(loaded.code, 0)->file, odd[i].file);
        assert_int_equal(debug_info(&loaded), LWP_DEBUG_NONE);
        const struct lwp_symbolized *location = lwp_code_symbolize(loaded.code, 0, 0x1234);
        assert_int_equal(location->frame_count, 1);
        assert_null(location->frames[0].function);
        assert_ptr_equal(location, lwp_code_symbolize(loaded.code, 0, 0x1234));
        assert_int_equal(lwp_code_symbolize(loaded.code, LWP_NONE, 7)->module, LWP_NONE);
        unload(&loaded);
    }
}

/* nm's names of static data, and addresses between them. */
static void test_data_symbols(void **state)
{
    (void)state;
    char path[256];
    if (!programs_build("gcc", "-O2", "types.c", path, sizeof path))
        skip();
    struct loaded loaded = load_file(path, NULL, 0);
    static const struct {
        const char *symbol, *name;
        uint64_t bytes;
    } expected[] = {{"pool", "pool", 12800}, {"pairs", "pairs", 336}, {"plain", "plain", 400}, {"table", "table", 8}};
    for (size_t i = 0; i < 4; i++) {
        uint64_t start = programs_symbol(path, expected[i].symbol);
        struct lwp_symbol symbol;
        assert_true(lwp_code_data_symbol(loaded.code, 0, start + expected[i].bytes - 1, &symbol));
        assert_string_equal(symbol.name, expected[i].name);
        assert_int_equal(symbol.start, start);
        assert_int_equal(symbol.bytes, expected[i].bytes);
    }
    struct lwp_symbol symbol;
    assert_false(lwp_code_data_symbol(loaded.code, 0, programs_symbol(path, "main"), &symbol));
    assert_false(lwp_code_data_symbol(loaded.code, 0, 0x7fffffffffff, &symbol));
    assert_true(lwp_code_data_is_constant(loaded.code, 0, programs_symbol(path, "_IO_stdin_used")));
    static const char *const others[] = {"pool", "main"};
    for (size_t i = 0; i < 2; i++)
        assert_false(lwp_code_data_is_constant(loaded.code, 0, programs_symbol(path, others[i])));
    assert_false(lwp_code_data_is_constant(loaded.code, 0, 0x7fffffffffff));
    char command[512];
    unsigned long long names = 0; /* of the loader's symbols */
    snprintf(command, sizeof command, "readelf -SW %s | sed -n 's/.* \\.dynstr *STRTAB *\\([0-9a-f]*\\).*/\\1/p'", path);
    FILE *readelf = popen(command, "r");
    if (readelf && fscanf(readelf, "%llx", &names) == 1)
        assert_false(lwp_code_data_is_constant(loaded.code, 0, names));
    if (readelf)
        pclose(readelf);
    unload(&loaded);
}

/* Names of copies that compilers make, and of other languages. */
static void test_names(void **state)
{
    (void)state;
    static const struct {
        const char *symbol, *name;
    } names[] = {
        {"plain", "plain"},
        {"work.constprop.0", "work"},
        {"work.part.3.cold", "work"},
        {"buffer.1234", "buffer"},
        {"main.main", "main.main"},
        {"_ZN3geo8Particle4moveEv", "geo::Particle::move()"},
        {"_ZN3geo8Particle4moveEv.cold", "geo::Particle::move()"},
        {"_ZN4core3ptr13drop_in_place17h0123456789abcdefE", "core::ptr::drop_in_place"},
        {"work._omp_fn.0", "work"},
        {"_ZN3geo8Particle4moveEv._omp_fn.12.constprop.0.isra.0", "geo::Particle::move()"},
        {"main.omp_outlined.3", "main"},
        {"_RNvMNtCsgEmfK2I1SDS_4core5sliceSh4sort", "<[u8]>::sort"},
        {"_RINvMNtCsgEmfK2I1SDS_4core3stre18trim_start_matchesReECsgY6Mt91CT9J_14rustc_demangle", "<str>::trim_start_matches::<&str>"},
        {"_RNCNvCs1234_7mycrate4mains0_0B3_", "mycrate::main::{closure#2}"},
        {"_RNvXs_Cs1_1aNtB4_3FooNtCs2_3std7Display3fmt", "<a::Foo as std::Display>::fmt"},
        {"_RNvCs1_1aZ", "_RNvCs1_1aZ"}, /* none of the scheme */
        {"_ZN45_$LT$alloc..string..String$u20$as$u20$Foo$GT$3bar17h0123456789abcdefE",
         "<alloc::string::String as Foo>::bar"},
        {"_Znot_a_name", "_Znot_a_name"},
    };
    char path[300], program[300];
    snprintf(path, sizeof path, "%s/names.s", programs_folder);
    snprintf(program, sizeof program, "%s/names", programs_folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, ".data\n");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        fprintf(file, ".type \"%s\", @object\n.size \"%s\", 8\n\"%s\": .quad %zu\n", names[i].symbol, names[i].symbol,
                names[i].symbol, i);
    fprintf(file, ".globl unsized\nunsized: .quad 1, 2\n.text\n.globl _start\n_start: ret\n");
    /* A place in debug information, as -flto leaves them, is no address. */
    fprintf(file, ".section .debug_odd,\"\",@progbits\n.zero 0x8000 + %zu\n.globl odd\nodd: .quad 1\n",
            sizeof names / sizeof *names * 8 + 8);
    fclose(file);
    if (!programs_run("cc -nostdlib -static -Wl,-Tdata=0x8000 -o %s %s 2>/dev/null", program, path))
        skip();
    struct loaded loaded = load_file(program, NULL, 0);
    uint64_t start = programs_symbol(program, "plain");
    assert_int_equal(programs_symbol(program, "odd"), start + sizeof names / sizeof *names * 8 + 8);
    struct lwp_symbol symbol;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        assert_true(lwp_code_data_symbol(loaded.code, 0, start + i * 8, &symbol));
        assert_string_equal(symbol.name, names[i].name);
    }
    assert_true(lwp_code_data_symbol(loaded.code, 0, start + sizeof names / sizeof *names * 8 + 15, &symbol));
    assert_string_equal(symbol.name, "unsized");
    unload(&loaded);
}

/* Where a compiler keeps no frame pointer, rbp is a register like others, and leads anywhere. */
static void test_by_stack(void **state)
{
    (void)state;
    static const char text[] = ".text\n.globl _start\n.type _start, @function\n.type framed, @function\n"
                               "_start: push %rbp\n mov %rdi, %rbp\n"
                               ".set pointer, . - _start\n addq $1, 8(%rbp)\n"
                               ".set slot, . - _start\n mov 16(%rsp), %rax\n"
                               ".set indexed, . - _start\n mov 16(%rsp,%rax,8), %rax\n pop %rbp\n ret\n.size _start, . - _start\n"
                               "framed: push %rbp\n mov %rsp, %rbp\n"
                               ".set frame, . - _start\n addq $1, -8(%rbp)\n pop %rbp\n ret\n.size framed, . - framed\n";
    static const struct {
        const char *name;
        bool by_stack;
    } table[] = {{"pointer", false}, {"slot", true}, {"indexed", false}, {"frame", true}};
    char path[300], program[300];
    snprintf(path, sizeof path, "%s/by_stack.s", programs_folder);
    snprintf(program, sizeof program, "%s/by_stack", programs_folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    if (!programs_run("cc -nostdlib -static -o %s %s", program, path))
        skip();
    struct loaded loaded = load_file(program, NULL, 0);
    const uint64_t start = programs_symbol(program, "_start");
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        assert_int_equal(lwp_code_by_stack(loaded.code, 0, start + programs_symbol(program, table[i].name)), table[i].by_stack);
    unload(&loaded);
}

static void test_operands(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool exists, load, store, vector;
        uint16_t bytes;
        int32_t displacement;
        int8_t base, index;
        uint8_t scale;
    } table[] = {
        {"mov 8(%rdi), %rax", true, true, false, false, 8, 8, 7, -1, 0},
        {"mov %ecx, -4(%r13,%r9,4)", true, false, true, false, 4, -4, 13, 9, 4},
        {"addl $1, (%rsp)", true, true, true, false, 4, 0, 4, -1, 0},
        {"vmovups 64(%rax), %ymm3", true, true, false, true, 32, 64, 0, -1, 0},
        {"movsd %xmm1, (%rdx)", true, false, true, true, 8, 0, 2, -1, 0},
        {"movzbl 0x12345(%rip), %eax", true, true, false, false, 1, 0x12345, -2, -1, 0},
        {"mov 0x100(,%rsi,8), %rax", true, true, false, false, 8, 0x100, -1, 6, 8},
        {"lea 8(%rax,%rbx,2), %rcx", false, false, false, false, 0, 0, -1, -1, 0},
        {"nopw 0(%rax,%rax,1)", false, false, false, false, 0, 0, -1, -1, 0},
        {"prefetcht0 64(%rax)", false, false, false, false, 0, 0, -1, -1, 0},
        {"add 16(%rdi), %rax", true, true, false, false, 8, 16, 7, -1, 0},
        {"addsd 16(%rdi), %xmm0", true, true, false, true, 8, 16, 7, -1, 0},
        {"add %rax, %rbx", false, false, false, false, 0, 0, -1, -1, 0},
        {"cmpq $0, 16(%rbp)", true, true, false, false, 8, 16, 5, -1, 0},
        {"ret", true, true, false, false, 8, 0, 4, -1, 0},
    };
    char path[300], program[300], name[32];
    snprintf(path, sizeof path, "%s/operands.s", programs_folder);
    snprintf(program, sizeof program, "%s/operands", programs_folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, ".text\n.globl _start\n_start:\n");
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        fprintf(file, "op%zu: %s\n", i, table[i].text);
    fclose(file);
    if (!programs_run("cc -nostdlib -static -o %s %s", program, path))
        skip();
    struct loaded loaded = load_file(program, NULL, 0);
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        snprintf(name, sizeof name, "op%zu", i);
        struct lwp_memory_operand operand = lwp_code_operand(loaded.code, 0, programs_symbol(program, name));
        if (operand.exists != table[i].exists)
            fail_msg("%s: memory operand %d", table[i].text, operand.exists);
        if (!operand.exists)
            continue;
        assert_int_equal(operand.load, table[i].load);
        assert_int_equal(operand.store, table[i].store);
        assert_int_equal(operand.vector, table[i].vector);
        assert_int_equal(operand.bytes, table[i].bytes);
        assert_int_equal(operand.displacement, table[i].displacement);
        assert_int_equal(operand.base, table[i].base);
        assert_int_equal(operand.index, table[i].index);
        assert_int_equal(operand.scale, table[i].scale);
        assert_int_equal(operand.adds, strcmp(table[i].text, "add 16(%rdi), %rax") == 0);
    }
    unload(&loaded);
}

static uint8_t *read_whole(const char *path, size_t *bytes)
{
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    *bytes = (size_t)ftell(file);
    rewind(file);
    uint8_t *data = malloc(*bytes);
    assert_int_equal(fread(data, 1, *bytes, file), *bytes);
    fclose(file);
    return data;
}

static void write_whole(const char *path, const uint8_t *data, size_t bytes)
{
    unlink(path);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, bytes, file), bytes);
    fclose(file);
}

/* Everything that can be asked, about a damaged file. The answers do not matter, that they come does. */
static void ask_everything(const char *path, const uint64_t *addresses, size_t count)
{
    struct loaded loaded = load_file(path, NULL, 0);
    for (size_t i = 0; i < count; i++) {
        struct lwp_candidate candidates[16];
        struct lwp_sibling siblings[8];
        struct lwp_symbol symbol;
        const char *variable;
        int64_t start;
        uint64_t bytes, elements;
        const struct lwp_symbolized *location = lwp_code_symbolize(loaded.code, 0, addresses[i]);
        assert_true(location->frame_count > 0);
        lwp_code_operand(loaded.code, 0, addresses[i]);
        lwp_code_siblings(loaded.code, 0, addresses[i], siblings, 8);
        lwp_code_data_symbol(loaded.code, 0, addresses[i], &symbol);
        lwp_types_at_access(loaded.code, 0, addresses[i], candidates, 16);
        lwp_types_at_call(loaded.code, 0, addresses[i], candidates, 16);
        lwp_types_of_static(loaded.code, 0, addresses[i], &elements);
        lwp_types_of_stack(loaded.code, 0, addresses[i], -64, &variable, &start, &bytes, &elements);
    }
    unload(&loaded);
}

static size_t some_addresses(const char *path, uint64_t *addresses, size_t room)
{
    static const char *const symbols[] = {"sum_keys", "sum_graph", "make_nodes", "on_stack", "main", "pool", "pairs"};
    size_t count = 0;
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        uint64_t start = programs_symbol(path, symbols[i]);
        for (uint64_t at = 0; at < 40 && count < room && start; at += 7)
            addresses[count++] = start + at;
    }
    return count;
}

static void test_damaged(void **state)
{
    (void)state;
    static const char *const flags[] = {"-g -O2", "-gdwarf-4 -O1"};
    static const char *const compilers[] = {"gcc", "clang"};
    char path[256], damaged[300];
    uint64_t addresses[64], random_state = 7;
    for (size_t f = 0; f < 2; f++) {
        size_t bytes;
        if (!programs_build(compilers[f], flags[f], "types.c", path, sizeof path))
            continue;
        snprintf(damaged, sizeof damaged, "%s.damaged", path);
        size_t count = some_addresses(path, addresses, 64);
        uint8_t *data = read_whole(path, &bytes);
        for (size_t cut = 0; cut < bytes; cut += cut < 256 ? 16 : bytes / 97) {
            write_whole(damaged, data, cut);
            ask_everything(damaged, addresses, count);
        }
        uint8_t *copy = malloc(bytes);
        for (int round = 0; round < AMOUNT(400, 20); round++) {
            memcpy(copy, data, bytes);
            for (int flip = 0; flip < 1 + round % 40; flip++) {
                random_state = random_state * 6364136223846793005u + 1442695040888963407u;
                uint64_t pick = random_state >> 24;
                copy[pick % bytes] = (uint8_t)(random_state >> 16);
            }
            write_whole(damaged, copy, bytes);
            ask_everything(damaged, addresses, count);
        }
        free(copy);
        free(data);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_frames),   cmocka_unit_test(test_symbols_only), cmocka_unit_test(test_separate_debug_file),
        cmocka_unit_test(test_replaced), cmocka_unit_test(test_odd_files),    cmocka_unit_test(test_data_symbols),
        cmocka_unit_test(test_names),    cmocka_unit_test(test_operands),     cmocka_unit_test(test_by_stack),
        cmocka_unit_test(test_damaged),
    };
    return cmocka_run_group_tests(tests, programs_set_up, programs_tear_down);
}
