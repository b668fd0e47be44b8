/* Programs that tests compile: with the compilers that are there, in a folder of its own. */
#ifndef LWP_TESTS_PROGRAMS_H
#define LWP_TESTS_PROGRAMS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char programs_folder[] = "/tmp/lwp-test-XXXXXX";

static inline int programs_set_up(void **state)
{
    (void)state;
    return mkdtemp(programs_folder) ? 0 : -1;
}

static inline int programs_tear_down(void **state)
{
    char command[256];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", programs_folder);
    return system(command);
}

__attribute__((format(printf, 1, 2))) static inline bool programs_run(const char *format, ...)
{
    char command[4096];
    va_list args;
    va_start(args, format);
    vsnprintf(command, sizeof command, format, args);
    va_end(args);
    return system(command) == 0;
}

static inline bool programs_have(const char *tool)
{
    return programs_run("command -v %s >/dev/null 2>&1", tool);
}

/* The program built from tests/programs/`source`; false: no such compiler. A failing build fails the test. */
static inline bool programs_build(const char *compiler, const char *flags, const char *source, char *path, size_t room)
{
    static int number;
    if (!programs_have(compiler))
        return false;
    snprintf(path, room, "%s/p%d", programs_folder, number++);
    if (!programs_run("%s %s -o %s %s/tests/programs/%s", compiler, flags, path, LWP_SOURCE, source))
        fail_msg("%s %s %s does not build", compiler, flags, source);
    return true;
}

/* What nm says of a file: asked once, as long as the file stays as it is. */
static inline const char *programs_symbols(const char *path)
{
    static char *text;
    static struct stat of;
    char command[1024], line[512];
    struct stat now;
    size_t size;
    if (stat(path, &now))
        return "";
    if (text && now.st_ino == of.st_ino && now.st_size == of.st_size && now.st_mtim.tv_sec == of.st_mtim.tv_sec && now.st_mtim.tv_nsec == of.st_mtim.tv_nsec)
        return text;
    of = now;
    free(text);
    snprintf(command, sizeof command, "nm %s", path);
    FILE *nm = popen(command, "r"), *to = open_memstream(&text, &size);
    while (nm && fgets(line, sizeof line, nm))
        fputs(line, to);
    fclose(to);
    if (nm)
        pclose(nm);
    return text;
}

/* The address of a symbol; 0: there is none. */
static inline uint64_t programs_symbol(const char *path, const char *name)
{
    unsigned long long address;
    char found[512];
    for (const char *line = programs_symbols(path); line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (sscanf(line, "%llx %*c %511[^\n]", &address, found) == 2 && strcmp(found, name) == 0)
            return address;
    }
    return 0;
}

#endif
