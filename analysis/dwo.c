/* Opens .dwo files when a unit is needed: libdw looks beside the program and in the compilation folder. It would wait
 * at a FIFO for ever, so what is there and no regular file is not let through. */
#include "analysis/dwo.h"

#include <dwarf.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DWO_PATH_MAX = 4096 };

static const char *dwo_text(Dwarf_Die *die, unsigned name)
{
    Dwarf_Attribute attribute;
    return dwarf_attr(die, name, &attribute) ? dwarf_formstring(&attribute) : NULL;
}

/* The folder of the file with the skeletons, as libdw sees it. */
static void dwo_folder(const struct code_module *module, char *folder, size_t room)
{
    char link[64];
    int fd = module->debug_elf == module->elf ? module->fd : module->debug_fd;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, folder, room - 1);
    folder[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(folder, '/');
    if (slash)
        *slash = '\0';
}

static bool dwo_is_odd(const char *folder, const char *more, const char *name)
{
    char path[DWO_PATH_MAX];
    struct stat status;
    int length;
    if (*name == '/')
        length = snprintf(path, sizeof path, "%s", name);
    else if (*more == '/')
        length = snprintf(path, sizeof path, "%s/%s", more, name);
    else
        length = snprintf(path, sizeof path, "%s/%s/%s", folder, more, name);
    return length < 0 || (size_t)length >= sizeof path || (stat(path, &status) == 0 && !S_ISREG(status.st_mode));
}

bool code_dwo_open(struct code_module *module, Dwarf_Die *skeleton, Dwarf_Die *unit)
{
    char folder[DWO_PATH_MAX];
    const char *name = dwo_text(skeleton, DW_AT_dwo_name), *compiled_in = dwo_text(skeleton, DW_AT_comp_dir);
    if (!name)
        name = dwo_text(skeleton, DW_AT_GNU_dwo_name);
    dwo_folder(module, folder, sizeof folder);
    if (name && !dwo_is_odd(folder, "", name) && !dwo_is_odd(folder, compiled_in ? compiled_in : "", name) &&
        dwarf_cu_info(skeleton->cu, NULL, NULL, NULL, unit, NULL, NULL, NULL) == 0 && unit->addr)
        return true;
    if (!module->info.units_missing++)
        module->info.missing = code_intern(module->code, name ? name : "");
    return false;
}
