/* Opens .dwo files when a unit is needed: libdw looks beside the program and in the compilation folder. It would wait
 * at a FIFO for ever, so what is there and no regular file is not let through.
 *
 * libdw before 0.191 does not know packages of .dwo files, and takes a .dwo file from those two places only. So a unit
 * that is needed is cut out of the package into a .dwo file in a temporary folder, which libdw is made to take for the
 * program's: the descriptor of the program's file, mapped by then, is swapped for one of a file there. The .dwo file is
 * removed as soon as libdw has mapped it. The same is done for .dwo files with several sections of one name (gcc
 * -fdebug-types-section), of which libdw reads only one.
 * Limits: units whose .dwo name is absolute or leads upwards, and type units that another .dwo file contributed, are
 * left out. */
#include "analysis/program/debug/dwo.h"

#include "analysis/program/binary/debug_files.h"
#include "analysis/program/debug/dwo_units.h"

#include <dwarf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DWO_PATH_MAX = 4096 };

struct code_package {
    Elf *elf; /* NULL: no package, only a folder */
    int fd;
    char folder[64], anchor[80], program_folder[DWO_PATH_MAX];
    struct code_dwo_units *units;
};

/* Nothing that leads out of the folder. */
static bool package_name_fits(const char *name)
{
    size_t length = strlen(name);
    return *name && *name != '/' && name[length - 1] != '/' && length < DWO_PATH_MAX - 100 && strcmp(name, "..") &&
           strncmp(name, "../", 3) && !strstr(name, "/../") && !strstr(name, "//");
}

static void package_remove(struct code_package *package, const char *name)
{
    char path[DWO_PATH_MAX];
    if (!package_name_fits(name))
        return;
    snprintf(path, sizeof path, "%s/%s", package->folder, name);
    unlink(path);
    for (char *slash; (slash = strrchr(path, '/')) > path + strlen(package->folder);) {
        *slash = '\0';
        if (rmdir(path))
            return;
    }
}

static bool package_write(struct code_package *package, const char *name, const uint8_t *data, size_t bytes)
{
    char path[DWO_PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", package->folder, name);
    for (char *slash = path + strlen(package->folder) + 1; (slash = strchr(slash, '/')); *slash++ = '/') {
        *slash = '\0';
        mkdir(path, 0700);
    }
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    bool written = fd >= 0 && write(fd, data, bytes) == (ssize_t)bytes;
    if (fd >= 0)
        close(fd);
    if (!written)
        package_remove(package, name);
    return written;
}

/* Puts the unit with the id into the folder as the .dwo file `name`; false: not there, or not a name for this. */
static bool package_unpack(struct code_package *package, uint64_t id, const char *name)
{
    uint8_t *data;
    size_t bytes;
    if (!package->units || !package_name_fits(name) || !code_dwo_file_unit(package->units, id, &data, &bytes))
        return false;
    bool written = package_write(package, name, data, bytes);
    free(data);
    return written;
}

/* NULL: not to be read safely. */
static Elf *dwo_file_open(const char *path, int *fd)
{
    enum lwp_module_file reason;
    Elf *elf = code_elf_file_open(path, fd, &reason);
    if (!elf || code_elf_unpacks_well(elf))
        return elf;
    code_elf_file_close(elf, *fd);
    return NULL;
}

/* Puts the .dwo file there, as libdw can read it. */
static bool package_gather(struct code_package *package, const char *source, const char *name)
{
    int fd;
    Elf *elf = package_name_fits(name) ? dwo_file_open(source, &fd) : NULL;
    if (!elf)
        return false;
    uint8_t *data = NULL;
    size_t bytes;
    bool gathered = code_dwo_file_join(elf, &data, &bytes) && package_write(package, name, data, bytes);
    free(data);
    code_elf_file_close(elf, fd);
    return gathered;
}

/* Makes the temporary folder the one where libdw takes the program to be. */
static struct code_package *package_install(const struct code_package *package, const struct code_module *module)
{
    struct code_package *copy = lwp_zeroed(1, sizeof *copy);
    *copy = *package;
    code_debug_folder(module, copy->program_folder, sizeof copy->program_folder);
    snprintf(copy->folder, sizeof copy->folder, "/tmp/lwp-dwo-XXXXXX");
    if (!mkdtemp(copy->folder))
        copy->folder[0] = '\0';
    snprintf(copy->anchor, sizeof copy->anchor, "%s/.program", copy->folder);
    int fd = module->debug_elf == module->elf ? module->fd : module->debug_fd;
    int anchor = *copy->folder ? open(copy->anchor, O_RDONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600) : -1;
    bool swapped = anchor >= 0 && dup3(anchor, fd, O_CLOEXEC) == fd;
    if (anchor >= 0)
        close(anchor);
    if (swapped)
        return copy;
    code_package_close(copy);
    return NULL;
}

struct code_package *code_package_open(struct code_module *module)
{
    char path[DWO_PATH_MAX];
    struct code_package package = {.fd = -1};
    if (!code_debug_package_path(module, path, sizeof path) || !(package.elf = dwo_file_open(path, &package.fd)))
        return NULL;
    if ((package.units = code_dwo_units_read(package.elf)))
        return package_install(&package, module);
    code_elf_file_close(package.elf, package.fd);
    return NULL;
}

struct code_package *code_package_empty(struct code_module *module)
{
    return package_install(&(struct code_package){.fd = -1}, module);
}

void code_package_ready(struct code_package *package)
{
    unlink(package->anchor);
}

void code_package_close(struct code_package *package)
{
    if (!package)
        return;
    if (*package->folder) {
        unlink(package->anchor);
        rmdir(package->folder);
    }
    code_elf_file_close(package->elf, package->fd);
    code_dwo_units_free(package->units);
    free(package);
}

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
    int fd;
    if (!dwo_path(path, sizeof path, folder, more, name))
        return true;
    if (stat(path, &status))
        return false;
    Elf *elf = dwo_file_open(path, &fd);
    if (elf)
        code_elf_file_close(elf, fd);
    return !elf;
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
    int fd;
    Elf *elf = dwo_find(skeleton, folder, path, sizeof path) ? dwo_file_open(path, &fd) : NULL;
    if (!elf)
        return false;
    bool scattered = code_dwo_file_scattered(elf);
    code_elf_file_close(elf, fd);
    return scattered;
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
                        package_unpack(package, id, name);
        if (!unpacked && dwo_find(skeleton, package->program_folder, path, sizeof path))
            unpacked = package_gather(package, path, name);
        found = dwo_take(skeleton, package->folder, name, unit);
        if (unpacked)
            package_remove(package, name);
    } else if (name) {
        code_debug_folder(module, folder, sizeof folder);
        found = dwo_take(skeleton, folder, name, unit);
    }
    if (!found && !module->info.units_missing++)
        module->info.missing = code_intern(module->code, name ? name : "");
    return found;
}
