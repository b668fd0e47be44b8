#include "analysis/program/binary/jit_code.h"

#include "analysis/program/binary/module.h"
#include "base/order.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILE_MOST = 64 << 20, FUNCTIONS_MOST = 1 << 20, LINES_MOST = 1 << 22, NAME_MOST = 1000, CODE_MOST = 1 << 28, VISITS_MOST = 4096 };

void lwp_jit_code_free(struct lwp_jit_code *jit)
{
    if (!jit)
        return;
    free(jit->functions);
    free(jit->lines);
    free(jit->text);
    free(jit);
}

/* ---- reading ---- */

static uint32_t jit_text(struct lwp_jit_code *jit, const char *text, size_t bytes)
{
    uint32_t at = (uint32_t)jit->text_count;
    bytes = bytes < NAME_MOST ? bytes : NAME_MOST;
    for (size_t i = 0; i < bytes; i++)
        LWP_APPEND(&jit->text, &jit->text_count, &jit->text_room, text[i]);
    LWP_APPEND(&jit->text, &jit->text_count, &jit->text_room, '\0');
    return at;
}

/* NULL: not one that can be. */
static struct lwp_jit_function *jit_put(struct lwp_jit_code *jit, uint64_t start, uint64_t bytes, uint64_t time, uint32_t name)
{
    if (!bytes || bytes > CODE_MOST || start + bytes < start || jit->function_count >= FUNCTIONS_MOST)
        return NULL;
    LWP_PUSH(jit->function, (struct lwp_jit_function){
                                .start = start, .end = start + bytes, .time = time, .name = name, .order = (uint32_t)jit->function_count});
    return &jit->functions[jit->function_count - 1];
}

/* "7f12 4a name": hexadecimal, with 0x or without. */
static void jit_read_map(struct lwp_jit_code *jit, const char *text, size_t bytes)
{
    for (const char *at = text, *end = text + bytes, *next; at < end; at = next) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        char line[64 + NAME_MOST];
        next = stop ? stop + 1 : end;
        size_t length = (size_t)((stop ? stop : end) - at);
        length = length < sizeof line - 1 ? length : sizeof line - 1;
        memcpy(line, at, length);
        line[length] = '\0';
        char *after_start, *after_size;
        uint64_t start = strtoull(line, &after_start, 16), size = strtoull(after_start, &after_size, 16);
        if (after_start == line || after_size == after_start || *after_size != ' ')
            continue;
        const char *name = after_size + strspn(after_size, " ");
        if (*name)
            jit_put(jit, start, size, 0, jit_text(jit, name, strlen(name)));
    }
}

struct dump_header {
    uint32_t magic, version, bytes, machine, padding, pid;
    uint64_t time, flags;
};

struct dump_record {
    uint32_t kind, bytes;
    uint64_t time;
};

enum { DUMP_MAGIC = 0x4a695444, DUMP_LOAD = 0, DUMP_MOVE = 1, DUMP_LINES = 2, DUMP_CLOCK_OF_PROCESSOR = 1 };

/* Of a record's bytes behind its head. */
static uint64_t dump_number(const uint8_t *bytes, size_t at)
{
    uint64_t number;
    memcpy(&number, bytes + at, sizeof number);
    return number;
}

/* The next function's. Returns how many lines there are, which are the last ones. */
static uint32_t dump_lines(struct lwp_jit_code *jit, const uint8_t *bytes, size_t size)
{
    enum { ENTRY = 16, COUNT_AT = 8, FIRST = 16 };
    uint64_t count = size >= FIRST ? dump_number(bytes, COUNT_AT) : 0, start = size >= FIRST ? dump_number(bytes, 0) : 0;
    uint32_t file = UINT32_MAX, read = 0;
    for (size_t at = FIRST; count && at + ENTRY < size && jit->line_count < LINES_MOST; count--) {
        uint64_t address = dump_number(bytes, at);
        uint32_t line;
        memcpy(&line, bytes + at + 8, sizeof line);
        const char *name = (const char *)bytes + at + ENTRY;
        size_t length = strnlen(name, size - at - ENTRY);
        if (length == size - at - ENTRY)
            break; /* cut */
        if (file == UINT32_MAX || strcmp(name, "\xff") != 0)
            file = jit_text(jit, name, length);
        LWP_PUSH(jit->line, (struct lwp_jit_line){.offset = address - start, .line = line, .file = file});
        read++;
        at += ENTRY + length + 1;
    }
    return read;
}

static void dump_load(struct lwp_jit_code *jit, const uint8_t *bytes, size_t size, uint64_t time, uint32_t lines, struct lwp_map *index)
{
    enum { ADDRESS_AT = 16, SIZE_AT = 24, INDEX_AT = 32, NAME_AT = 40 };
    if (size <= NAME_AT)
        return;
    const char *name = (const char *)bytes + NAME_AT;
    size_t length = strnlen(name, size - NAME_AT);
    struct lwp_jit_function *function =
        jit_put(jit, dump_number(bytes, ADDRESS_AT), dump_number(bytes, SIZE_AT), time, jit_text(jit, name, length));
    if (!function)
        return;
    function->line = (uint32_t)(jit->line_count - lines);
    function->lines = lines;
    *lwp_map_at(index, dump_number(bytes, INDEX_AT)) = (uint32_t)jit->function_count - 1;
}

static void dump_move(struct lwp_jit_code *jit, const uint8_t *bytes, size_t size, uint64_t time, struct lwp_map *index)
{
    enum { ADDRESS_AT = 24, SIZE_AT = 32, INDEX_AT = 40, ALL = 48 };
    uint32_t at = size >= ALL ? lwp_map_get(index, dump_number(bytes, INDEX_AT)) : LWP_MAP_NONE;
    if (at == LWP_MAP_NONE)
        return;
    struct lwp_jit_function before = jit->functions[at];
    struct lwp_jit_function *moved = jit_put(jit, dump_number(bytes, ADDRESS_AT), dump_number(bytes, SIZE_AT), time, before.name);
    if (!moved)
        return;
    moved->line = before.line;
    moved->lines = before.lines;
    *lwp_map_at(index, dump_number(bytes, INDEX_AT)) = (uint32_t)jit->function_count - 1;
}

static void jit_read_dump(struct lwp_jit_code *jit, const uint8_t *bytes, size_t size)
{
    struct dump_header head;
    struct dump_record record;
    struct lwp_map index = {0};
    uint32_t lines = 0;
    if (size < sizeof head)
        return;
    memcpy(&head, bytes, sizeof head);
    if (head.magic != DUMP_MAGIC || head.bytes < sizeof head)
        return;
    for (size_t at = head.bytes; at + sizeof record <= size; at += record.bytes) {
        memcpy(&record, bytes + at, sizeof record);
        if (record.bytes < sizeof record || record.bytes > size - at)
            break;
        const uint8_t *body = bytes + at + sizeof record;
        size_t room = record.bytes - sizeof record;
        uint64_t time = head.flags & DUMP_CLOCK_OF_PROCESSOR ? 0 : record.time;
        if (record.kind == DUMP_LINES)
            lines = dump_lines(jit, body, room);
        else if (record.kind == DUMP_MOVE)
            dump_move(jit, body, room, time, &index);
        else if (record.kind == DUMP_LOAD)
            dump_load(jit, body, room, time, lines, &index);
        if (record.kind != DUMP_LINES)
            lines = 0;
    }
    lwp_map_fini(&index);
}

/* Copied, not mapped: somebody may shorten it. */
static void jit_read_file(struct lwp_jit_code *jit, const char *folder, const char *name, bool dump)
{
    struct stat st;
    char *path = lwp_format("%s/%s", folder, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    free(path);
    if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0) {
        size_t size = (size_t)(st.st_size < FILE_MOST ? st.st_size : FILE_MOST), got = 0;
        uint8_t *bytes = lwp_zeroed(size, 1);
        for (ssize_t more; got < size && (more = read(fd, bytes + got, size - got)) > 0;)
            got += (size_t)more;
        if (dump)
            jit_read_dump(jit, bytes, got);
        else
            jit_read_map(jit, (const char *)bytes, got);
        free(bytes);
    }
    if (fd >= 0)
        close(fd);
}

static int jit_by_start(const void *a, const void *b)
{
    const struct lwp_jit_function *x = a, *y = b;
    return LWP_COMPARE(x->start, y->start) ?: LWP_COMPARE(x->order, y->order);
}

struct lwp_jit_code *lwp_jit_code_read(const char *folder)
{
    struct lwp_jit_code *jit = lwp_zeroed(1, sizeof *jit);
    uint64_t place = 0, reach = 0;
    jit_read_file(jit, folder, "perf.map", false);
    jit_read_file(jit, folder, "jit.dump", true);
    if (!jit->function_count) {
        lwp_jit_code_free(jit);
        return NULL;
    }
    qsort(jit->functions, jit->function_count, sizeof *jit->functions, jit_by_start);
    for (size_t i = 0; i < jit->function_count; i++) {
        struct lwp_jit_function *function = &jit->functions[i];
        jit->moves |= function->time && function->start < reach;
        reach = reach > function->end ? reach : function->end;
        function->reach = reach;
        function->place = place;
        place += function->end - function->start;
    }
    return jit;
}

/* ---- looking up ---- */

bool lwp_jit_code_at(const struct lwp_jit_code *jit, uint64_t ip, uint64_t time, uint64_t *address)
{
    const struct lwp_jit_function *best = NULL;
    size_t at = LWP_COUNT_UP_TO(jit->functions, jit->function_count, start, ip);
    for (unsigned visits = 0; at > 0 && jit->functions[at - 1].reach > ip && visits < VISITS_MOST; at--, visits++) {
        const struct lwp_jit_function *function = &jit->functions[at - 1];
        bool there = ip < function->end && (!time || function->time <= time);
        if (there && (!best || function->order > best->order))
            best = function;
    }
    if (best)
        *address = best->place + (ip - best->start);
    return best;
}

static const struct lwp_jit_function *jit_at_place(const struct lwp_jit_code *jit, uint64_t address)
{
    size_t at = LWP_COUNT_UP_TO(jit->functions, jit->function_count, place, address);
    const struct lwp_jit_function *function = at ? &jit->functions[at - 1] : NULL;
    return function && address - function->place < function->end - function->start ? function : NULL;
}

const char *code_jit_function(const struct lwp_jit_code *jit, uint64_t address, struct code_range *range)
{
    const struct lwp_jit_function *function = jit_at_place(jit, address);
    if (!function)
        return NULL;
    *range = (struct code_range){function->place, function->place + (function->end - function->start)};
    return jit->text + function->name;
}

/* Lines are in the order of addresses, or the last one before wins. */
bool code_jit_line(const struct lwp_jit_code *jit, uint64_t address, const char **file, uint32_t *line)
{
    const struct lwp_jit_function *function = jit_at_place(jit, address);
    const struct lwp_jit_line *best = NULL;
    for (uint32_t i = 0; function && i < function->lines; i++) {
        const struct lwp_jit_line *one = &jit->lines[function->line + i];
        if (one->offset <= address - function->place && (!best || one->offset >= best->offset))
            best = one;
    }
    if (!best)
        return false;
    *file = jit->text + best->file;
    *line = best->line;
    return true;
}

uint32_t lwp_code_jit_module(struct lwp_code *code, const char *name, struct lwp_jit_code *jit)
{
    uint32_t index = lwp_code_module(code, name, NULL, 0);
    struct code_module *module = code_module_at(code, index);
    if (module->jit) {
        lwp_jit_code_free(jit);
        return LWP_NONE;
    }
    module->jit = jit;
    return index;
}
