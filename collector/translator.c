/* Valgrind, emulators and binary instrumentation: what lwp's library would see in them is the translator, whose signals and memory
 * it would take, and the program would not end. */
#include "collector/translator.h"

#include <stddef.h>
#include <string.h>

bool lwp_is_translator(const char *path)
{
    static const char *const names[] = {"valgrind", "valgrind.bin", "qemu-x86_64", "qemu-x86_64-static", "qemu-i386", "drrun", "drmemory",
                                        "pin", "pinbin", "rr", "box64", "FEXInterpreter"};
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *tail = "-amd64-linux";
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    size_t length = strlen(name);
    return strstr(path, "/valgrind/") && length > strlen(tail) && strcmp(name + length - strlen(tail), tail) == 0;
}
