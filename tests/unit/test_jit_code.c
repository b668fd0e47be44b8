/* What compilers in programs say of their code (analysis/program/binary/jit_code.h): maps, dumps with moves and lines, and what is damaged.
 */
#include "analysis/program/binary/jit_code.h"
#include "analysis/program/code.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[64];

static int begin(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/lwp-jit-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static void put(const char *name, const void *bytes, size_t size)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);
}

static void forget(const char *name)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    unlink(path);
}

static int end(void **state)
{
    (void)state;
    forget("perf.map");
    forget("jit.dump");
    return rmdir(folder);
}

/* The function and, with a line, "name@file:line". */
static const char *named(struct lwp_code *code, uint32_t module, const struct lwp_jit_code *jit, uint64_t ip, uint64_t time)
{
    static char text[300];
    uint64_t address;
    if (!lwp_jit_code_at(jit, ip, time, &address))
        return "-";
    const struct lwp_symbolized *place = lwp_code_symbolize(code, module, address);
    const struct lwp_frame *frame = &place->frames[0];
    assert_true(place->function_low <= address && address < place->function_high);
    if (!frame->file)
        return frame->function;
    snprintf(text, sizeof text, "%s@%s:%u", frame->function, frame->file, frame->line);
    return text;
}

static void maps(void **state)
{
    (void)state;
    static const char text[] = "1000 20 first\n"
                               "0x1020 0x10 with 0x and blanks\n"
                               "not a line\n\n"
                               "2000 0 nothing\n"
                               "1010 8 later, inside\n"
                               "ffffffffffffff00 200 round the end\n"
                               "3000 ffffffffff too large\n"
                               "4000 10\n"
                               "5000 10 \xff\xfe\x01\n"
                               "6000 10 last without an end";
    put("perf.map", text, sizeof text - 1);
    struct lwp_arena *arena = lwp_arena_new();
    struct lwp_code *code = lwp_code_new(arena);
    struct lwp_jit_code *jit = lwp_jit_code_read(folder);
    assert_non_null(jit);
    uint32_t module = lwp_code_jit_module(code, "[JIT]", jit);
    static const struct {
        uint64_t ip;
        const char *name;
    } rows[] = {{0xfff, "-"},
                {0x1000, "first"},
                {0x100f, "first"},
                {0x1010, "later, inside"},
                {0x1017, "later, inside"},
                {0x1018, "first"},
                {0x101f, "first"},
                {0x1020, "with 0x and blanks"},
                {0x102f, "with 0x and blanks"},
                {0x1030, "-"},
                {0x2000, "-"},
                {0x3000, "-"},
                {0x4000, "-"},
                {0xffffffffffffff80, "-"},
                {0x5001, "\xff\xfe\x01"},
                {0x600f, "last without an end"},
                {0x6010, "-"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_string_equal(named(code, module, jit, rows[i].ip, 5), rows[i].name);
    assert_false(jit->moves);
    assert_int_equal(lwp_code_jit_module(code, "[JIT]", lwp_jit_code_read(folder)), LWP_NONE);
    lwp_code_free(code);
    lwp_arena_free(arena);
    forget("perf.map");
}

/* ---- dumps ---- */

static uint8_t dump[4096];
static size_t dump_size;

static void put32(uint32_t number)
{
    memcpy(dump + dump_size, &number, sizeof number);
    dump_size += sizeof number;
}

static void put64(uint64_t number)
{
    memcpy(dump + dump_size, &number, sizeof number);
    dump_size += sizeof number;
}

static void put_text(const char *text)
{
    strcpy((char *)dump + dump_size, text);
    dump_size += strlen(text) + 1;
}

static void dump_begin(uint64_t flags)
{
    dump_size = 0;
    put32(0x4a695444), put32(1), put32(40), put32(62), put32(0), put32(1), put64(7), put64(flags);
}

static size_t record_begin(uint32_t kind, uint64_t time)
{
    size_t at = dump_size;
    put32(kind), put32(0), put64(time);
    return at;
}

static void record_end(size_t at)
{
    uint32_t size = (uint32_t)(dump_size - at);
    memcpy(dump + at + 4, &size, sizeof size);
}

static void load(uint64_t time, uint64_t address, uint64_t size, uint64_t index, const char *name)
{
    size_t at = record_begin(0, time);
    put32(1), put32(1), put64(address), put64(address), put64(size), put64(index);
    put_text(name);
    dump_size += size; /* the code */
    record_end(at);
}

static void dump_all(void)
{
    dump_begin(0);
    size_t at = record_begin(2, 10);
    put64(0x1000), put64(3);
    put64(0x1000), put32(5), put32(0), put_text("a.js");
    put64(0x1010), put32(6), put32(0), put_text("\xff");
    put64(0x1018), put32(70), put32(0), put_text("b.js");
    record_end(at);
    load(10, 0x1000, 0x20, 1, "one");
    load(20, 0x2000, 0x20, 2, "two");
    at = record_begin(1, 30); /* one moves on to two's place */
    put32(1), put32(1), put64(0x1000), put64(0x1000), put64(0x2000), put64(0x20), put64(1);
    record_end(at);
    load(40, 0x1008, 0x8, 3, "three");
    at = record_begin(99, 50); /* unknown */
    record_end(at);
}

static void dumps(void **state)
{
    (void)state;
    dump_all();
    put("jit.dump", dump, dump_size);
    struct lwp_arena *arena = lwp_arena_new();
    struct lwp_code *code = lwp_code_new(arena);
    struct lwp_jit_code *jit = lwp_jit_code_read(folder);
    assert_non_null(jit);
    uint32_t module = lwp_code_jit_module(code, "[JIT]", jit);
    assert_true(jit->moves);
    static const struct {
        uint64_t ip, time;
        const char *name;
    } rows[] = {{0x1000, 9, "-"},           {0x1000, 10, "one@a.js:5"},  {0x100f, 15, "one@a.js:5"},
                {0x1010, 15, "one@a.js:6"}, {0x101f, 15, "one@b.js:70"}, {0x2000, 19, "-"},
                {0x2000, 29, "two"},        {0x2000, 30, "one@a.js:5"},  {0x2011, 99, "one@a.js:6"},
                {0x1008, 39, "one@a.js:5"}, {0x1008, 40, "three"},       {0x1008, 0, "three"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_string_equal(named(code, module, jit, rows[i].ip, rows[i].time), rows[i].name);
    lwp_code_free(code);
    lwp_arena_free(arena);
}

/* Times of the processor's clock cannot be compared with those of samples. */
static void other_clock(void **state)
{
    (void)state;
    uint64_t address;
    dump_begin(1);
    load(1000000, 0x1000, 0x20, 1, "one");
    put("jit.dump", dump, dump_size);
    struct lwp_jit_code *jit = lwp_jit_code_read(folder);
    assert_true(lwp_jit_code_at(jit, 0x1000, 1, &address));
    lwp_jit_code_free(jit);
}

/* Cut at each byte, and with each byte changed: less is known, nothing breaks. */
static void damaged(void **state)
{
    (void)state;
    uint64_t address;
    dump_all();
    for (size_t size = 0; size <= dump_size; size++) {
        put("jit.dump", dump, size);
        struct lwp_jit_code *jit = lwp_jit_code_read(folder);
        if (jit && lwp_jit_code_at(jit, 0x1000, 0, &address))
            assert_true(address < 0x1000);
        lwp_jit_code_free(jit);
    }
    for (size_t at = 0; at < dump_size; at++) {
        uint8_t before = dump[at];
        dump[at] = at % 3 ? 0xff : 0x80;
        put("jit.dump", dump, dump_size);
        lwp_jit_code_free(lwp_jit_code_read(folder));
        dump[at] = before;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(maps), cmocka_unit_test(dumps), cmocka_unit_test(other_clock),
                                       cmocka_unit_test(damaged)};
    return cmocka_run_group_tests(tests, begin, end);
}
