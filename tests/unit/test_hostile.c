/* Debug info made to hurt: every case must end soon, in little memory, with nothing or with something sensible. The
 * programs are written as assembly, with a type of our own behind a pointer that is in rdi at an access in a loop. */
#include "analysis/program/code.h"
#include "analysis/program/types/types.h"
#include "programs.h"
#include "tests/unit/amount.h"

#include <elf.h>
#include <sys/resource.h>
#include <time.h>

enum { SECONDS = 10, MEGABYTES = 500 };

/* .debug_abbrev: 1 unit, 2 function, 3 parameter, 4 pointer, 5 struct, 6 member, 7 typedef, 8 array, 9 range of 8
 * bytes, 10 base type, 11 block with a code range, 12 block, 13 const, 14 variable, 15 by DW_FORM_indirect, 16 inlined
 * call, 17 struct with DW_AT_sibling, 18 an empty struct, 19 byte members without an offset. */
static const char abbreviations[] = ".section .debug_abbrev,\"\",@progbits\n"
                                    ".byte 1,0x11,1, 0x13,0x0b, 0x11,1, 0x12,7, 0x10,0x17, 0,0\n"
                                    ".byte 2,0x2e,1, 3,8, 0x11,1, 0x12,7, 0x40,0x18, 0,0\n"
                                    ".byte 3,5,0, 3,8, 2,0x18, 0x49,0x13, 0,0\n"
                                    ".byte 4,0x0f,0, 0x49,0x13, 0,0\n"
                                    ".byte 5,0x13,1, 3,8, 0x0b,7, 0,0\n"
                                    ".byte 6,0x0d,0, 3,8, 0x38,7, 0x49,0x13, 0,0\n"
                                    ".byte 7,0x16,0, 3,8, 0x49,0x13, 0,0\n"
                                    ".byte 8,1,1, 0x49,0x13, 0,0\n"
                                    ".byte 9,0x21,0, 0x37,7, 0,0\n"
                                    ".byte 10,0x24,0, 3,8, 0x0b,0x0b, 0x3e,0x0b, 0,0\n"
                                    ".byte 11,0x0b,1, 0x11,1, 0x12,7, 0,0\n"
                                    ".byte 12,0x0b,1, 0,0\n"
                                    ".byte 13,0x26,0, 0x49,0x13, 0,0\n"
                                    ".byte 14,0x34,0, 3,8, 2,0x18, 0x49,0x13, 0,0\n"
                                    ".byte 15,0x24,0, 3,0x16, 0x0b,0x16, 0x3e,0x0b, 0,0\n"
                                    ".byte 16,0x1d,1, 0x31,0x13, 0x11,1, 0x12,7, 0x59,0x16, 0,0\n"
                                    ".byte 17,0x13,1, 1,0x13, 3,8, 0x0b,7, 0,0\n"
                                    ".byte 18,0x13,0, 3,8, 0x0b,7, 0,0\n"
                                    ".byte 19,0x0d,0, 3,8, 0x49,0x13, 0,0\n"
                                    ".byte 0\n";

/* The code, the unit and the function up to the type "type_p" that its parameter points to. */
static const char opening[] = ".text\n.globl _start\n.type _start,@function\n_start: mov $100, %ecx\n"
                              "access: mov 8(%rdi), %rax\n add $64, %rdi\n dec %ecx\n jnz access\n ret\n"
                              "end: .size _start, . - _start\n.data\nthing: .quad 1, 2\n .size thing, 16\n"
                              ".type thing,@object\n"
                              ".section .debug_info,\"\",@progbits\n"
                              "info: .long info_end - . - 4\n .value 4\n .long 0\n .byte 8\n"
                              ".byte 1, 12\n .quad _start, end - _start\n .long 0\n"
                              ".macro ref to\n .long \\to - info\n .endm\n"
                              ".byte 2\n .asciz \"work\"\n .quad _start, end - _start\n .byte 1, 0x9c\n"
                              ".byte 3\n .asciz \"p\"\n .byte 1, 0x55\n ref pointer\n";
static const char closing[] = ".byte 0\n"
                              "int: .byte 10\n .asciz \"int\"\n .byte 4, 5\n"
                              "pointer: .byte 4\n ref type_p\n";
static const char ending[] = ".byte 0\ninfo_end:\n";

static const char lines[] = ".section .debug_line,\"\",@progbits\nline: .long line_end - . - 4\n .value 4\n"
                            ".long line_body - . - 4\n .byte 1, 1, 1, -5, 14, 13, 0,1,1,1,1,0,0,0,1,0,0,1\n .byte 0\n"
                            ".asciz \"a.c\"\n .byte 0,0,0, 0\nline_body: .byte 0,9,2\n .quad _start\n"
                            ".byte 0x14, 0x4c, 2, 14, 0,1,1\nline_end:\n";

struct answer {
    const struct lwp_type *type; /* of the access */
    size_t candidates;
    uint32_t first_line;
    const char *function;
};

/* CPU time: other programs on the machine do not count. */
static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static long megabytes_peak(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss / 1024;
}

/* Asks for everything at the access and at the data. Texts stay valid until the next question. */
static struct answer ask(const char *what, const char *path, uint64_t access, uint64_t data)
{
    static struct lwp_arena *arena;
    static struct lwp_code *code;
    if (arena) {
        lwp_code_free(code);
        lwp_arena_free(arena);
    }
    struct answer answer = {0};
    struct lwp_candidate candidates[8];
    struct lwp_sibling siblings[8];
    bool kept = false;
    struct lwp_symbol symbol;
    const char *variable;
    int64_t start;
    uint64_t bytes, elements;
    double began = seconds_now();
    long before = megabytes_peak();
    arena = lwp_arena_new();
    code = lwp_code_new(arena);
    lwp_code_module(code, path, NULL, 0);
    const struct lwp_symbolized *location = lwp_code_symbolize(code, 0, access);
    answer.function = location->frames[location->frame_count - 1].function;
    if (location->loop != LWP_NONE)
        answer.first_line = lwp_code_loop(code, location->loop)->first_line;
    answer.candidates = lwp_types_at_access(code, 0, access, candidates, 8);
    if (answer.candidates)
        answer.type = candidates[0].type;
    lwp_types_at_call(code, 0, access, candidates, 8);
    lwp_types_of_static(code, 0, data, &elements);
    lwp_types_of_stack(code, 0, access, -8, &variable, &start, &bytes, &elements);
    lwp_code_data_symbol(code, 0, data, &symbol);
    lwp_code_siblings(code, 0, access, siblings, 8);
    lwp_loop_found(code, 0, access, NULL, siblings, 8, &kept);
    double took = seconds_now() - began;
    long grown = megabytes_peak() - before;
    if (took > SECONDS || grown > MEGABYTES)
        fail_msg("%s: %.1f s, %ld MB", what, took, grown);
    if (getenv("LWP_TEST_TIMES"))
        fprintf(stderr, "%-40s %6.3f s %4ld MB\n", what, took, grown);
    return answer;
}

/* The same of so many accesses, one behind the other. */
static void ask_all(const char *what, const char *path, uint64_t access, size_t count, size_t bytes)
{
    struct lwp_arena *arena = lwp_arena_new();
    struct lwp_code *code = lwp_code_new(arena);
    struct lwp_candidate candidates[8];
    struct lwp_sibling siblings[8];
    bool kept = false;
    const char *variable;
    int64_t start;
    uint64_t size, elements;
    double began = seconds_now();
    lwp_code_module(code, path, NULL, 0);
    for (size_t i = 0; i < count && seconds_now() - began < SECONDS; i++) {
        lwp_code_symbolize(code, 0, access + i * bytes);
        lwp_types_at_access(code, 0, access + i * bytes, candidates, 8);
        lwp_types_at_call(code, 0, access + i * bytes, candidates, 8);
        lwp_types_of_stack(code, 0, access + i * bytes, -8, &variable, &start, &size, &elements);
        lwp_code_siblings(code, 0, access + i * bytes, siblings, 8);
        lwp_loop_found(code, 0, access + i * bytes, NULL, siblings, 8, &kept);
    }
    double took = seconds_now() - began;
    if (getenv("LWP_TEST_TIMES"))
        fprintf(stderr, "%-50s %6.3f s\n", what, took);
    if (took >= SECONDS)
        fail_msg("%zu %s: more than %d s", count, what, SECONDS);
    lwp_code_free(code);
    lwp_arena_free(arena);
}

static const char *made(const char *what, const char *text)
{
    static char path[300];
    static int number;
    char source[300];
    snprintf(source, sizeof source, "%s/hostile%d.s", programs_folder, number);
    snprintf(path, sizeof path, "%s/hostile%d", programs_folder, number++);
    FILE *file = fopen(source, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    if (!programs_run("cc -nostdlib -static -Wl,--build-id=none -o %s %s 2>%s.log", path, source, path)) {
        programs_run("head -5 %s.log", path);
        fail_msg("%s: does not assemble", what);
    }
    return path;
}

static struct answer ask_types(const char *what, const char *inside, const char *types)
{
    size_t room = 20000 + strlen(inside) + strlen(types);
    char *text = malloc(room);
    snprintf(text, room, "%s%s%s%s%s%s%s", opening, inside, closing, types, ending, abbreviations, lines);
    const char *path = made(what, text);
    free(text);
    return ask(what, path, programs_symbol(path, "access"), programs_symbol(path, "thing"));
}

/* The scaffold itself is sound: otherwise nothing below would be tested. */
static void test_sound(void **state)
{
    (void)state;
    struct answer answer = ask_types("sound", "",
                                     "type_p: .byte 5\n .asciz \"node\"\n .quad 64\n .byte 6\n .asciz \"key\"\n"
                                     ".quad 8\n ref int\n .byte 0\n");
    assert_non_null(answer.type);
    assert_string_equal(answer.type->name, "struct node");
    assert_int_equal(answer.type->field_count, 1);
    assert_int_equal(answer.type->fields[0].offset, 8);
    assert_string_equal(answer.function, "work");
    assert_true(answer.first_line > 0);
}

static void test_types(void **state)
{
    (void)state;
    static const struct {
        const char *what, *inside, *types;
        const char *name; /* what may come out; NULL: no named struct */
    } cases[] = {
        {"typedef of itself", "", "type_p: .byte 7\n .asciz \"t\"\n ref type_p\n", NULL},
        {"typedefs of each other", "",
         "type_p: .byte 7\n .asciz \"t\"\n ref other\nother: .byte 7\n .asciz \"u\"\n ref type_p\n", NULL},
        {"const of itself", "", "type_p: .byte 13\n ref type_p\n", NULL},
        {"pointer to itself", "", "type_p: .byte 4\n ref type_p\n", NULL},
        {"array of itself", "", "type_p: .byte 8\n ref type_p\n .byte 9\n .quad 4\n .byte 0\n", NULL},
        {"struct that holds itself", "",
         "type_p: .byte 5\n .asciz \"node\"\n .quad 64\n .byte 6\n .asciz \"me\"\n .quad 8\n ref type_p\n .byte 0\n",
         "struct node"},
        {"anonymous structs in each other", "",
         "type_p: .byte 5\n .asciz \"node\"\n .quad 64\n .byte 6\n .byte 0\n .quad 0\n ref other\n .byte 0\n"
         "other: .byte 5\n .byte 0\n .quad 64\n .byte 6\n .byte 0\n .quad 0\n ref other\n .byte 6\n .byte 0\n .quad 0\n"
         " ref type_p\n .byte 0\n",
         "struct node"},
        {"anonymous struct that holds itself twice", "",
         "type_p: .byte 5\n .byte 0\n .quad 64\n .rept 2\n .byte 6\n .byte 0\n .quad 0\n ref type_p\n .endr\n .byte "
         "0\n",
         NULL},
        {"2^60 elements", "",
         "type_p: .byte 5\n .asciz \"node\"\n .quad 1 << 62\n .byte 6\n .asciz \"a\"\n .quad 0\n ref array\n .byte 0\n"
         "array: .byte 8\n ref int\n .byte 9\n .quad 1 << 60\n .byte 0\n",
         NULL},
        {"dimensions that overflow", "",
         "type_p: .byte 8\n ref int\n .rept 40\n .byte 9\n .quad 1 << 31\n .endr\n .byte 0\n", NULL},
        {"a field beyond the struct", "",
         "type_p: .byte 5\n .asciz \"node\"\n .quad 16\n .byte 6\n .asciz \"far\"\n .quad -8\n ref int\n .byte 0\n",
         NULL},
        {"300,000 members", "",
         "type_p: .byte 5\n .asciz \"node\"\n .quad 2400000\n .set at, 0\n .rept 300000\n .byte 6\n .asciz \"m\"\n"
         ".quad at\n ref int\n .set at, at + 8\n .endr\n .byte 0\n",
         NULL},
        {"100,000 nested structs", "",
         "type_p: .rept 100000\n .byte 5\n .asciz \"n\"\n .quad 64\n .endr\n .rept 100000\n .byte 0\n .endr\n",
         "struct n"},
        {"100,000 nested blocks", ".rept 100000\n .byte 12\n .endr\n .rept 100000\n .byte 0\n .endr\n",
         "type_p: .byte 18\n .asciz \"node\"\n .quad 64\n", "struct node"},
        {"20,000 nested blocks with ranges",
         ".rept 20000\n .byte 11\n .quad _start, end - _start\n .endr\n .rept 20000\n .byte 0\n .endr\n",
         "type_p: .byte 18\n .asciz \"node\"\n .quad 64\n", "struct node"},
        {"30,000 blocks side by side", ".rept 30000\n .byte 11\n .quad _start, end - _start\n .byte 0\n .endr\n",
         "type_p: .byte 18\n .asciz \"node\"\n .quad 64\n", "struct node"},
        {"inlined calls of themselves",
         "again: .rept 300\n .byte 16\n ref again\n .quad _start, end - _start\n .byte 0x0b, 7\n .endr\n .rept 300\n"
         " .byte 0\n .endr\n",
         "type_p: .byte 18\n .asciz \"node\"\n .quad 64\n", "struct node"},
        {"a chain of 100,000 typedefs", "",
         "type_p: .rept 100000\n .byte 7\n .asciz \"t\"\n .long . + 4 - info\n .endr\n .byte 18\n .asciz \"node\"\n"
         ".quad 64\n",
         NULL},
        {"a chain of 100,000 pointers", "",
         "type_p: .rept 100000\n .byte 4\n .long . + 4 - info\n .endr\n .byte 18\n .asciz \"node\"\n .quad 64\n", NULL},
        {"a net of 40 structs with 40 pointers each", "",
         ".altmacro\n.macro one n\n s\\n: .byte 5\n .asciz \"s\\n\"\n .quad 320\n .set i, 0\n .rept 40\n .byte 6\n"
         ".asciz \"f\"\n .quad i * 8\n .long p0 + i * 5 - info\n .set i, i + 1\n .endr\n .byte 0\n .endm\n"
         ".macro point n\n .byte 4\n ref s\\n\n .endm\n type_p:\n .set k, 0\n .rept 40\n one %k\n .set k, k + 1\n "
         ".endr\n"
         "p0: .set k, 0\n .rept 40\n point %k\n .set k, k + 1\n .endr\n.noaltmacro\n",
         "struct s0"},
        {"20,000 parameters", ".rept 20000\n .byte 3\n .asciz \"q\"\n .byte 1, 0x54\n ref pointer\n .endr\n",
         "type_p: .byte 18\n .asciz \"node\"\n .quad 64\n", "struct node"},
        {"sibling that points back", "",
         "first: .byte 17\n ref first\n .asciz \"a\"\n .quad 8\n .byte 0\n type_p: .byte 17\n ref first\n"
         ".asciz \"node\"\n .quad 64\n .byte 6\n .asciz \"key\"\n .quad 0\n ref int\n .byte 0\n",
         "struct node"},
        {"indirect form of indirect forms", "",
         "odd: .byte 15\n .rept 5000\n .byte 0x16\n .endr\n .byte 8\n .asciz \"x\"\n .byte 0x0b, 4, 5\n type_p: .byte "
         "18\n"
         ".asciz \"node\"\n .quad 64\n",
         "struct node"},
        {"reference out of the section", "", "type_p: .byte 4\n .long 0x7ffffff0\n", NULL},
        {"reference into the middle of something", "", "type_p: .byte 4\n .long int + 2 - info\n", NULL},
        {"a location of 50,000 operations",
         ".byte 14\n .asciz \"v\"\n .byte 1, 0x55\n ref pointer\n", /* sound, the type's own is not */
         "type_p: .byte 5\n .asciz \"node\"\n .quad 64\n .byte 0\n", "struct node"},
        {"a name of 1,000,000 letters", "",
         "type_p: .byte 5\n .rept 1000000\n .byte 65\n .endr\n .byte 0\n .quad 64\n .byte 6\n .asciz \"k\"\n .quad 8\n"
         " ref int\n .byte 0\n",
         "struct A"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i += LONG_AMOUNT(1, 2)) {
        struct answer answer = ask_types(cases[i].what, cases[i].inside, cases[i].types);
        const char *name = answer.type ? answer.type->name : NULL;
        if (name && !strncmp(name, "struct ", 7) && name[7] != '{' &&
            (!cases[i].name || strncmp(name, cases[i].name, strlen(cases[i].name))))
            fail_msg("%s: %.100s", cases[i].what, name);
    }
}

/* What is slow once must not be slow for each of many accesses. (Sanitizers slow down everything: two of them.) */
static void test_many_accesses(void **state)
{
    enum { ACCESSES = AMOUNT(3000, 100), FEWER = AMOUNT(400, 20), ACCESS_BYTES = 4 };
    static const char one[] = "mov 8(%rdi), %rax\n";
    static const struct {
        const char *what, *inside, *types;
        size_t count;
    } cases[] = {
        {"accesses and 20,000 nested blocks with ranges", ".rept 20000\n .byte 11\n .quad _start, end - _start\n .endr\n .rept 20000\n .byte 0\n .endr\n",
         "type_p: .byte 18\n .asciz \"node\"\n .quad 64\n", ACCESSES},
        {"accesses and 30,000 blocks side by side", ".rept 30000\n .byte 11\n .quad _start, end - _start\n .byte 0\n .endr\n",
         "type_p: .byte 18\n .asciz \"node\"\n .quad 64\n", ACCESSES},
        {"accesses and inlined calls of themselves",
         "again: .rept 300\n .byte 16\n ref again\n .quad _start, end - _start\n .byte 0x0b, 7\n .endr\n .rept 300\n .byte 0\n .endr\n",
         "type_p: .byte 18\n .asciz \"node\"\n .quad 64\n", ACCESSES},
        {"accesses and 20,000 parameters", ".rept 20000\n .byte 3\n .asciz \"q\"\n .byte 1, 0x54\n ref pointer\n .endr\n",
         "type_p: .byte 18\n .asciz \"node\"\n .quad 64\n", FEWER},
        {"accesses and 300,000 members", "",
         "type_p: .byte 5\n .asciz \"node\"\n .quad 2400000\n .set at, 0\n .rept 300000\n .byte 6\n .asciz \"m\"\n"
         ".quad at\n ref int\n .set at, at + 8\n .endr\n .byte 0\n", FEWER},
        {"accesses and a chain of 100,000 typedefs", "",
         "type_p: .rept 100000\n .byte 7\n .asciz \"t\"\n .long . + 4 - info\n .endr\n .byte 18\n .asciz \"node\"\n .quad 64\n", ACCESSES},
    };
    (void)state;
    const char *at = strstr(opening, one);
    assert_non_null(at);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i += LONG_AMOUNT(1, 3)) {
        char text[20000];
        snprintf(text, sizeof text, "%.*s.rept %d\n%s.endr\n%s%s%s%s%s%s%s", (int)(at - opening), opening, (int)cases[i].count, one, at + strlen(one),
                 cases[i].inside, closing, cases[i].types, ending, abbreviations, lines);
        const char *path = made(cases[i].what, text);
        ask_all(cases[i].what, path, programs_symbol(path, "access"), cases[i].count, ACCESS_BYTES);
    }
}

/* Whole sections that lie. */
static void test_sections(void **state)
{
    (void)state;
    static const char node[] = "type_p: .byte 18\n .asciz \"node\"\n .quad 64\n";
    static const struct {
        const char *what, *abbreviations, *lines, *more;
    } cases[] = {
        {"no abbreviations", ".section .debug_abbrev,\"\",@progbits\n .byte 0\n", lines, ""},
        {"abbreviations without an end",
         ".section .debug_abbrev,\"\",@progbits\n .rept 100000\n .byte 1, 0x11, 1, 3, 8\n"
         ".endr\n",
         lines, ""},
        {"100,000 abbreviations of one number",
         ".section .debug_abbrev,\"\",@progbits\n .rept 100000\n .byte 1,0x11,1,3,8,0,0\n .endr\n .byte 0\n", lines,
         ""},
        {"an abbreviation of 200,000 attributes",
         ".section .debug_abbrev,\"\",@progbits\n .byte 1,0x11,1\n .rept 200000\n .byte 3,0x20\n .endr\n .byte 0,0,0\n",
         lines, ""},
        {"abbreviation numbers near 2^64",
         ".section .debug_abbrev,\"\",@progbits\n .rept 1000\n .byte "
         "255,255,255,255,255,255,255,255,255,1,0x11,1,3,8,0,0\n"
         ".endr\n .byte 0\n",
         lines, ""},
        {"opcode_base 0", abbreviations,
         ".section .debug_line,\"\",@progbits\n .long 60\n .value 4\n .long 20\n .byte 1,1,1,-5,14,0\n .rept 60\n "
         ".byte 1\n"
         ".endr\n",
         ""},
        {"opcode_base 255", abbreviations,
         ".section .debug_line,\"\",@progbits\n .long 600\n .value 4\n .long 500\n .byte 1,1,1,-5,14,255\n .rept 600\n"
         " .byte 1\n .endr\n",
         ""},
        {"line_range 0", abbreviations,
         ".section .debug_line,\"\",@progbits\n .long 60\n .value 4\n .long 20\n .byte 1,1,1,-5,0,13\n .rept 60\n "
         ".byte 1\n"
         ".endr\n",
         ""},
        {"a line table of 2^31 bytes", abbreviations,
         ".section .debug_line,\"\",@progbits\n .long 0x7fffffff\n .value 5\n .byte 8,0\n .long 0x7ffffff0\n .rept 60\n"
         " .byte 255\n .endr\n",
         ""},
        {"2^60 files", abbreviations,
         ".section .debug_line,\"\",@progbits\n l: .long e - . - 4\n .value 5\n .byte 8,0\n .long b - . - 4\n"
         ".byte 1,1,1,-5,14,13, 0,1,1,1,1,0,0,0,1,0,0,1\n .byte 1,1,8\n .byte 255,255,255,255,255,255,255,255,15\n"
         ".asciz \"d\"\n .byte 1,1,8\n .byte 255,255,255,255,255,255,255,255,15\n .asciz \"f\"\n b: .byte 0,1,1\n e:\n",
         ""},
        {"a million rows", abbreviations,
         ".section .debug_line,\"\",@progbits\n l: .long e - . - 4\n .value 4\n .long b - . - 4\n"
         ".byte 1,1,1,-5,14,13, 0,1,1,1,1,0,0,0,1,0,0,1\n .byte 0\n .asciz \"a.c\"\n .byte 0,0,0, 0\n"
         "b: .byte 0,9,2\n .quad _start\n .rept 1000000\n .byte 1\n .endr\n .byte 2,30, 0,1,1\n e:\n",
         ""},
        {".eh_frame of nothing", abbreviations, lines,
         ".section .eh_frame,\"a\",@progbits\n .rept 100000\n .long 0\n .endr\n"},
        {".eh_frame whose CIE is a description of itself", abbreviations, lines,
         ".section .eh_frame,\"a\",@progbits\n .rept 1000\n .long 20, 4, 0, 0, 0, 0\n .endr\n"},
        {".eh_frame with a length beyond its end", abbreviations, lines,
         ".section .eh_frame,\"a\",@progbits\n .long 0xfffffff0, 0, 1\n .rept 100\n .byte 255\n .endr\n"},
        {".eh_frame of 64-bit lengths", abbreviations, lines,
         ".section .eh_frame,\"a\",@progbits\n .rept 100\n .long 0xffffffff\n .quad -1\n .endr\n"},
        {"a frame that remembers 200,000 states", abbreviations, lines,
         ".section .eh_frame,\"a\",@progbits\n c: .long ce - . - 4\n .long 0\n .byte 1\n .asciz \"zR\"\n .byte "
         "1,0x78,16,1,"
         "0x1b\n .byte 0x0c,7,8\n .balign 8\n ce: .long fe - . - 4\n .long . - c\n .long _start - .\n .long end - "
         "_start\n"
         ".byte 0\n .rept 200000\n .byte 0x0a\n .endr\n fe: .long 0\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t room = 20000 + strlen(cases[i].more);
        char *text = malloc(room);
        snprintf(text, room, "%s%s%s%s%s%s%s", opening, closing, node, ending, cases[i].abbreviations, cases[i].lines,
                 cases[i].more);
        const char *path = made(cases[i].what, text);
        free(text);
        struct answer answer =
            ask(cases[i].what, path, programs_symbol(path, "access"), programs_symbol(path, "thing"));
        assert_true(answer.function == NULL || !strcmp(answer.function, "work") || !strcmp(answer.function, "_start") ||
                    !strcmp(answer.function, "access"));
    }
}

static uint8_t *read_whole(const char *path, size_t *bytes)
{
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    *bytes = (size_t)ftell(file);
    rewind(file);
    uint8_t *data = malloc(*bytes + 1);
    assert_int_equal(fread(data, 1, *bytes, file), *bytes);
    fclose(file);
    return data;
}

static void write_whole(const char *path, const uint8_t *data, size_t bytes)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, bytes, file), bytes);
    fclose(file);
}

struct victim {
    char path[300];
    uint8_t *data;
    size_t bytes;
    uint64_t access, thing;
};

static struct victim sound_victim(const char *more)
{
    struct victim victim;
    char *text = malloc(40000 + strlen(more));
    snprintf(text, 40000 + strlen(more), "%s%s%s%s%s%s%s", opening, closing,
             "type_p: .byte 18\n .asciz \"node\"\n .quad 64\n", ending, abbreviations, lines, more);
    const char *path = made("victim", text);
    free(text);
    snprintf(victim.path, sizeof victim.path, "%s", path);
    victim.access = programs_symbol(path, "access");
    victim.thing = programs_symbol(path, "thing");
    victim.data = read_whole(path, &victim.bytes);
    return victim;
}

static void ask_victim(const char *what, const struct victim *victim, const uint8_t *data, size_t bytes)
{
    char path[320];
    snprintf(path, sizeof path, "%s.hurt", victim->path);
    write_whole(path, data, bytes);
    ask(what, path, victim->access, victim->thing);
}

/* Each section in turn: beyond the file, over another one, huge, of another kind, said to be compressed. */
static void test_section_headers(void **state)
{
    (void)state;
    struct victim victim = sound_victim("");
    Elf64_Ehdr header;
    memcpy(&header, victim.data, sizeof header);
    uint8_t *copy = malloc(victim.bytes);
    for (unsigned i = 0; i < header.e_shnum; i++) {
        static const uint64_t sizes[] = {0, 1, 1u << 31, UINT64_MAX, UINT64_MAX - 4096, (uint64_t)1 << 60};
        Elf64_Shdr section, changed;
        size_t at = header.e_shoff + i * sizeof section;
        memcpy(&section, victim.data + at, sizeof section);
        for (unsigned change = 0; change < 40; change++) {
            changed = section;
            if (change < 6)
                changed.sh_size = sizes[change];
            else if (change < 12)
                changed.sh_offset = sizes[change - 6];
            else if (change < 18)
                changed.sh_addr = sizes[change - 12];
            else if (change < 30)
                changed.sh_type = change - 18;
            else if (change < 34)
                changed.sh_entsize = change - 30;
            else if (change < 38)
                changed.sh_link = (change - 33) * 7;
            else if (change == 38)
                changed.sh_flags |= SHF_COMPRESSED;
            else
                changed.sh_offset = 0, changed.sh_size = victim.bytes;
            memcpy(copy, victim.data, victim.bytes);
            memcpy(copy + at, &changed, sizeof changed);
            ask_victim("a changed section header", &victim, copy, victim.bytes);
        }
    }
    free(copy);
    free(victim.data);
}

static void test_many_sections(void **state)
{
    (void)state;
    static const uint64_t counts[] = {65534, 65535, 70000, 1000000, UINT64_MAX};
    struct victim victim = sound_victim("");
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
        size_t real = counts[c] > 300000 ? 300000 : (size_t)counts[c], bytes = victim.bytes + real * sizeof(Elf64_Shdr);
        uint8_t *data = calloc(bytes, 1);
        memcpy(data, victim.data, victim.bytes);
        Elf64_Ehdr header;
        Elf64_Shdr section;
        memcpy(&header, data, sizeof header);
        memcpy(data + victim.bytes, data + header.e_shoff, header.e_shnum * sizeof section);
        for (size_t i = header.e_shnum; i < real; i++) /* copies of the first real one */
            memcpy(data + victim.bytes + i * sizeof section, data + header.e_shoff + sizeof section, sizeof section);
        memcpy(&section, data + victim.bytes, sizeof section);
        header.e_shoff = victim.bytes;
        header.e_shnum = counts[c] < SHN_LORESERVE ? (uint16_t)counts[c] : 0;
        section.sh_size = header.e_shnum ? 0 : counts[c];
        memcpy(data, &header, sizeof header);
        memcpy(data + victim.bytes, &section, sizeof section);
        ask_victim("many sections", &victim, data, bytes);
        free(data);
    }
    free(victim.data);
}

/* Sections that blow up when they are unpacked: the sizes are believable to zlib, not to us. */
static void test_bombs(void **state)
{
    (void)state;
    static const char *const names[] = {".debug_info", ".debug_line", ".debug_str"};
    for (size_t i = 0; i < 3; i++) {
        char path[300], command[4000];
        snprintf(path, sizeof path, "%s/bomb%zu", programs_folder, i);
        snprintf(
            command, sizeof command,
            "cd %s && printf 'int main(void) { return 0; }' > bomb.c && cc -g -o %s bomb.c && "
            "head -c 64000000 /dev/zero > zeros && objcopy --remove-section=%s --add-section %s=zeros %s %s.big && "
            "objcopy --compress-debug-sections %s.big %s && rm zeros %s.big",
            programs_folder, path, names[i], names[i], path, path, path, path, path);
        if (!programs_run("%s 2>/dev/null", command))
            skip();
        ask("a section that unpacks to 64 MB", path, programs_symbol(path, "main"), 0x4000);
        struct lwp_arena *arena = lwp_arena_new();
        struct lwp_code *code = lwp_code_new(arena);
        lwp_code_module(code, path, NULL, 0);
        assert_int_equal(lwp_code_module_info(code, 0)->debug_info, LWP_DEBUG_SYMBOLS);
        lwp_code_free(code);
        lwp_arena_free(arena);
    }
}

/* The file is cut while it is mapped, at every moment between two questions. */
static void test_cut_while_open(void **state)
{
    (void)state;
    struct victim victim = sound_victim(".data\n .fill 20000, 8, 3\n");
    for (int moment = 0; moment < 6; moment++) {
        struct lwp_candidate candidates[8];
        struct lwp_symbol symbol;
        write_whole(victim.path, victim.data, victim.bytes);
        struct lwp_arena *arena = lwp_arena_new();
        struct lwp_code *code = lwp_code_new(arena);
        for (int step = 0; step < 6; step++) {
            if (step == moment)
                assert_int_equal(truncate(victim.path, 100), 0);
            if (step == 0)
                lwp_code_module(code, victim.path, NULL, 0);
            else if (step == 1)
                lwp_code_data_symbol(code, 0, victim.thing, &symbol);
            else if (step == 2)
                lwp_code_symbolize(code, 0, victim.access);
            else if (step == 3)
                lwp_code_operand(code, 0, victim.access);
            else if (step == 4)
                lwp_types_at_access(code, 0, victim.access, candidates, 8);
            else
                lwp_types_of_static(code, 0, victim.thing, &(uint64_t){0});
        }
        lwp_code_free(code);
        lwp_arena_free(arena);
    }
    free(victim.data);
}

/* A debug file's name may lead anywhere; at a FIFO one would wait for ever. */
static void test_fifo(void **state)
{
    (void)state;
    char text[20000], fifo[300];
    snprintf(fifo, sizeof fifo, "%s/fifo", programs_folder);
    assert_int_equal(mkfifo(fifo, 0600), 0);
    snprintf(text, sizeof text,
             "%s.byte 0\ninfo_end:\n.section .debug_abbrev,\"\",@progbits\n"
             ".byte 1,0x11,0, 0x11,1, 0x12,7, 0x10,0x17, 0xb0,0x42,8, 0xb1,0x42,7, 0,0, 0\n%s",
             ".text\n.globl _start\n_start: mov (%rdi), %rax\naccess: jmp _start\nend: .data\nthing: .quad 1\n"
             ".section .debug_info,\"\",@progbits\ninfo: .long info_end - . - 4\n .value 4\n .long 0\n .byte 8\n"
             ".byte 1\n .quad _start, end - _start\n .long 0\n .asciz \"fifo\"\n .quad 77\n",
             lines);
    const char *path = made("fifo", text);
    ask("a FIFO as .dwo file", path, programs_symbol(path, "access"), programs_symbol(path, "thing"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sound),           cmocka_unit_test(test_types),         cmocka_unit_test(test_sections),
        cmocka_unit_test(test_many_accesses),
        cmocka_unit_test(test_section_headers), cmocka_unit_test(test_many_sections), cmocka_unit_test(test_bombs),
        cmocka_unit_test(test_cut_while_open),  cmocka_unit_test(test_fifo),
    };
    return cmocka_run_group_tests(tests, programs_set_up, programs_tear_down);
}
