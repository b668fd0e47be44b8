/* Opens .dwo files when a unit is needed: libdw looks beside the program and in the compilation folder. It would wait
 * at a FIFO for ever, so what is there and no regular file is not let through. */
#include "analysis/dwo.h"

#include "analysis/debug_files.h"

#include <dwarf.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { DWO_PATH_MAX = 4096 };

static const char *dwo_text(Dwarf_Die *die, unsigned name)
{
    Dwarf_Attribute attribute;
    return dwarf_attr(die, name, &attribute) ? dwarf_formstring(&attribute) : NULL;
}

static bool dwo_is_odd(const char *folder, const char *more, const char *name)
{
    char path[DWO_PATH_MAX];
    struct stat status;
    enum lwp_module_file reason;
    int length, fd;
    if (*name == '/')
        length = snprintf(path, sizeof path, "%s", name);
    else if (*more == '/')
        length = snprintf(path, sizeof path, "%s/%s", more, name);
    else
        length = snprintf(path, sizeof path, "%s/%s/%s", folder, more, name);
    if (length < 0 || (size_t)length >= sizeof path)
        return true;
    if (stat(path, &status))
        return false;
    Elf *elf = code_elf_file_open(path, &fd, &reason);
    bool odd = !elf || !code_elf_unpacks_well(elf);
    code_elf_file_close(elf, fd);
    return odd;
}

static bool dwo_take(Dwarf_Die *skeleton, const char *folder, const char *name, Dwarf_Die *unit)
{
    const char *compiled_in = dwo_text(skeleton, DW_AT_comp_dir);
    return !dwo_is_odd(folder, "", name) && !dwo_is_odd(folder, compiled_in ? compiled_in : "", name) &&
           dwarf_cu_info(skeleton->cu, NULL, NULL, NULL, unit, NULL, NULL, NULL) == 0 && unit->addr;
}

bool code_dwo_open(struct code_module *module, struct code_package *package, Dwarf_Die *skeleton, Dwarf_Die *unit)
{
    char folder[DWO_PATH_MAX];
    const char *name = dwo_text(skeleton, DW_AT_dwo_name);
    uint64_t id = 0;
    bool found = false;
    if (!name)
        name = dwo_text(skeleton, DW_AT_GNU_dwo_name);
    if (name && package) {
        bool unpacked = dwarf_cu_info(skeleton->cu, NULL, NULL, NULL, NULL, &id, NULL, NULL) == 0 &&
                        code_package_unpack(package, id, name);
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
