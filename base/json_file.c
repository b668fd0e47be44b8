#include "base/json_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* In bytes of memory: an empty object is a hash table, an empty array has room for eight. */
enum { COST_OBJECT = 320, COST_ARRAY = 160, COST_VALUE = 64, COST_KEY = 112, COST_BYTE = 2 };

__attribute__((format(printf, 2, 3))) static json_t *json_no(json_error_t *problem, const char *format, ...)
{
    va_list arguments;
    if (!problem)
        return NULL;
    *problem = (json_error_t){.line = -1, .column = -1};
    va_start(arguments, format);
    vsnprintf(problem->text, sizeof problem->text, format, arguments);
    va_end(arguments);
    return NULL;
}

static json_t *json_too_long(json_error_t *problem)
{
    return json_no(problem, "more than %d MiB", LWP_JSON_TEXT_MAX >> 20);
}

/* Characters inside of strings count too: an upper bound. */
static uint64_t json_cost(const char *text, size_t size)
{
    static const uint16_t costs[256] = {['{'] = COST_OBJECT, ['['] = COST_ARRAY, [','] = COST_VALUE, [':'] = COST_KEY};
    uint64_t cost = 0;
    for (size_t i = 0; i < size; i++)
        cost += COST_BYTE + costs[(unsigned char)text[i]];
    return cost;
}

json_t *lwp_json_parse(const char *text, size_t size, size_t flags, json_error_t *problem)
{
    if (size > LWP_JSON_TEXT_MAX)
        return json_too_long(problem);
    if (json_cost(text, size) > LWP_JSON_MEMORY_MAX)
        return json_no(problem, "more values than %d MiB of memory hold", LWP_JSON_MEMORY_MAX >> 20);
    return json_loadb(text, size, flags, problem);
}

json_t *lwp_json_stream(FILE *from, size_t flags, json_error_t *problem)
{
    char *text = NULL;
    size_t size = 0, room = 0;
    for (;;) {
        if (size == room) {
            size_t more = room == 0 ? 1 << 16 : 2 * room < LWP_JSON_TEXT_MAX ? 2 * room : LWP_JSON_TEXT_MAX + 1;
            char *bigger = room == more ? NULL : realloc(text, more);
            if (!bigger)
                break; /* at the bound: lwp_json_parse says so */
            room = more;
            text = bigger;
        }
        size_t got = fread(text + size, 1, room - size, from);
        if (!got)
            break;
        size += got;
    }
    json_t *root = ferror(from) ? json_no(problem, "%s", strerror(errno))
                   : !text      ? json_no(problem, "out of memory")
                                : lwp_json_parse(text, size, flags, problem);
    free(text);
    return root;
}

/* fopen would wait for the writer of a pipe; here a pipe without one is empty. */
json_t *lwp_json_read(const char *path, size_t flags, json_error_t *problem)
{
    struct stat info;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd >= 0 && fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_size > LWP_JSON_TEXT_MAX) {
        close(fd);
        return json_too_long(problem);
    }
    FILE *file = fd < 0 || fcntl(fd, F_SETFL, 0) ? NULL : fdopen(fd, "r");
    json_t *root = file ? lwp_json_stream(file, flags, problem) : json_no(problem, "%s", strerror(errno));
    if (file)
        fclose(file);
    else if (fd >= 0)
        close(fd);
    return root;
}

uint64_t lwp_json_natural(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    double number = json_is_number(value) ? json_number_value(value) : 0;
    return number > 0 && number < 1e15 ? (uint64_t)number : 0;
}
