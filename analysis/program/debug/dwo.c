/* Opens .dwo files when a unit is needed: libdw looks beside the program and in the compilation folder. It would wait
 * at a FIFO for ever, so what is there and no regular file is not let through. */
#include "analysis/program/debug/dwo.h"

#include "analysis/program/binary/debug_files.h"

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

static bool dwo_path(char *path, size_t room, const char *folder, const char *more, const char *name)
{
    int length;
    if (*name == '/')
        length = snprintf(path, room, "%s", name);
    else if (*more == '/')
        length = snprintf(path, room, "%s/%s", more, name);
    else
        length = snprintf(path, room, "%s/%s/%s", folder, more, name);
    return length > 0 && (size_t)length < room;
}

static bool dwo_is_odd(const char *folder, const char *more, const char *name)
{
    char path[DWO_PATH_MAX];
    struct stat status;
    enum lwp_module_file reason;
    int fd;
    if (!dwo_path(path, sizeof path, folder, more, name))
        return true;
    if (stat(path, &status))
        return false;
    Elf *elf = code_elf_file_open(path, &fd, &reason);
    bool odd = !elf || !code_elf_unpacks_well(elf);
    code_elf_file_close(elf, fd);
    return odd;
}

static const char *dwo_name(Dwarf_Die *skeleton)
{
    const char *name = dwo_text(skeleton, DW_AT_dwo_name);
    return name ? name : dwo_text(skeleton, DW_AT_GNU_dwo_name);
}

/* The skeleton's .dwo file where libdw would find it. */
static bool dwo_find(Dwarf_Die *skeleton, const char *folder, char *path, size_t room)
{
    const char *name = dwo_name(skeleton), *compiled_in = dwo_text(skeleton, DW_AT_comp_dir);
    if (!name)
        return false;
    return (dwo_path(path, room, folder, "", name) && access(path, R_OK) == 0) ||
           (compiled_in && dwo_path(path, room, folder, compiled_in, name) && access(path, R_OK) == 0);
}

bool code_dwo_scattered(Dwarf_Die *skeleton, const char *folder)
{
    char path[DWO_PATH_MAX];
    return dwo_find(skeleton, folder, path, sizeof path) && code_package_scattered(path);
}

static bool dwo_take(Dwarf_Die *skeleton, const char *folder, const char *name, Dwarf_Die *unit)
{
    const char *compiled_in = dwo_text(skeleton, DW_AT_comp_dir);
    return !dwo_is_odd(folder, "", name) && !dwo_is_odd(folder, compiled_in ? compiled_in : "", name) &&
           dwarf_cu_info(skeleton->cu, NULL, NULL, NULL, unit, NULL, NULL, NULL) == 0 && unit->addr;
}

bool code_dwo_open(struct code_module *module, struct code_package *package, Dwarf_Die *skeleton, Dwarf_Die *unit)
{
    char folder[DWO_PATH_MAX], path[DWO_PATH_MAX];
    const char *name = dwo_name(skeleton);
    uint64_t id = 0;
    bool found = false;
    if (name && package) {
        bool unpacked = dwarf_cu_info(skeleton->cu, NULL, NULL, NULL, NULL, &id, NULL, NULL) == 0 &&
                        code_package_unpack(package, id, name);
        if (!unpacked && dwo_find(skeleton, code_package_program_folder(package), path, sizeof path))
            unpacked = code_package_gather(package, path, name);
        found = dwo_take(skeleton, code_package_folder(package), name, unit);
        if (unpacked)
            code_package_remove(package, name);
    } else if (name) {
        code_debug_folder(module, folder, sizeof folder);
        found = dwo_take(skeleton, folder, name, unit);
    }
    if (!found && !module->info.units_missing++)
        module->info.missing = code_intern(module->code, name ? name : "");
    return found;
}
