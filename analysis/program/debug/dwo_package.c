/* libdw before 0.191 knows .dwo files but not packages of them, and takes a .dwo file from two places only: the folder
 * of the program and the one it was compiled in. So a unit that is needed is cut out of the package into a .dwo file in
 * a temporary folder, which libdw is made to take for the program's: the descriptor of the program's file, mapped by
 * then, is swapped for one of a file there. The .dwo file is removed as soon as libdw has mapped it.
 * The same is done for .dwo files with several sections of one name (gcc -fdebug-types-section), of which libdw reads
 * only one. Not done: units whose .dwo name is absolute or leads upwards, and type units that another .dwo file
 * contributed. */
#include "analysis/program/debug/dwo_package.h"

#include "analysis/program/binary/debug_files.h"
#include "analysis/program/debug/dwo_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PACKAGE_PATH_MAX = 4096 };

struct code_package {
    Elf *elf; /* NULL: no package, only a folder */
    int fd;
    char folder[64], anchor[80], program_folder[PACKAGE_PATH_MAX];
    struct code_dwo_units units;
};

/* Nothing that leads out of the folder. */
static bool package_name_fits(const char *name)
{
    size_t length = strlen(name);
    return *name && *name != '/' && name[length - 1] != '/' && length < PACKAGE_PATH_MAX - 100 && strcmp(name, "..") &&
           strncmp(name, "../", 3) && !strstr(name, "/../") && !strstr(name, "//");
}

static bool package_write(struct code_package *package, const char *name, const uint8_t *data, size_t bytes)
{
    char path[PACKAGE_PATH_MAX];
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
        code_package_remove(package, name);
    return written;
}

bool code_package_unpack(struct code_package *package, uint64_t id, const char *name)
{
    uint32_t row = package->elf ? code_dwo_row(&package->units, id) : 0;
    if (!row || !package_name_fits(name))
        return false;
    uint8_t *data;
    size_t bytes;
    code_dwo_file_unit(&package->units, row, &data, &bytes);
    bool written = package_write(package, name, data, bytes);
    free(data);
    return written;
}

bool code_package_gather(struct code_package *package, const char *source, const char *name)
{
    int fd;
    enum lwp_module_file reason;
    Elf *elf = package_name_fits(name) ? code_elf_file_open(source, &fd, &reason) : NULL;
    if (!elf)
        return false;
    uint8_t *data = NULL;
    size_t bytes;
    bool gathered = code_elf_unpacks_well(elf) && code_dwo_file_join(elf, &data, &bytes) &&
                    package_write(package, name, data, bytes);
    free(data);
    code_elf_file_close(elf, fd);
    return gathered;
}

void code_package_remove(struct code_package *package, const char *name)
{
    char path[PACKAGE_PATH_MAX];
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

/* Makes the temporary folder the one where libdw takes the program to be. */
static struct code_package *package_install(const struct code_package *package, const struct code_module *module)
{
    struct code_package *copy = malloc(sizeof *copy);
    if (!copy)
        return NULL;
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
    char path[PACKAGE_PATH_MAX];
    enum lwp_module_file reason;
    struct code_package package = {.fd = -1};
    if (!code_debug_package_path(module, path, sizeof path))
        return NULL;
    package.elf = code_elf_file_open(path, &package.fd, &reason);
    if (!package.elf || !code_elf_unpacks_well(package.elf) || !code_dwo_units_read(package.elf, &package.units)) {
        code_elf_file_close(package.elf, package.fd);
        return NULL;
    }
    return package_install(&package, module);
}

struct code_package *code_package_empty(struct code_module *module)
{
    return package_install(&(struct code_package){.fd = -1}, module);
}

bool code_package_scattered(const char *dwo_path)
{
    int fd;
    enum lwp_module_file reason;
    Elf *elf = code_elf_file_open(dwo_path, &fd, &reason);
    bool scattered =
        elf && code_elf_unpacks_well(elf) &&
        (code_dwo_section(elf, ".debug_info.dwo", 1).data || code_dwo_section(elf, ".debug_types.dwo", 1).data);
    code_elf_file_close(elf, fd);
    return scattered;
}

const char *code_package_program_folder(const struct code_package *package)
{
    return package->program_folder;
}

void code_package_ready(struct code_package *package)
{
    unlink(package->anchor);
}

const char *code_package_folder(const struct code_package *package)
{
    return package->folder;
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
    code_dwo_units_free(&package->units);
    free(package);
}
