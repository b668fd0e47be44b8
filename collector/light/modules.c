/* dlopen is not interposed: it looks at its caller's RUNPATH. New images are noticed when code of theirs is sampled
 * (_dl_find_object takes no lock), and once more at the end. */
#define _GNU_SOURCE
#include "collector/light/modules.h"

#include "collector/light/process.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <string.h>
#include <unistd.h>

enum { MODULES_MAX = 4096 };

struct module {
    uint64_t start, end;
    const struct link_map *map;
    const char *name;
};

static struct module modules[MODULES_MAX];
static volatile uint32_t modules_count;

static void module_build_id(struct lwps_module *record, const ElfW(Phdr) * headers, unsigned count, uint64_t bias)
{
    for (unsigned i = 0; i < count; i++) {
        if (headers[i].p_type != PT_NOTE)
            continue;
        const char *at = (const char *)(headers[i].p_vaddr + bias), *end = at + headers[i].p_memsz;
        while (at + sizeof(ElfW(Nhdr)) <= end) {
            const ElfW(Nhdr) *note = (const void *)at;
            const char *name = at + sizeof *note, *data = name + ((note->n_namesz + 3) & ~3u);
            if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 && memcmp(name, "GNU", 4) == 0 &&
                note->n_descsz <= sizeof record->build_id) {
                memcpy(record->build_id, data, note->n_descsz);
                record->build_id_bytes = (uint8_t)note->n_descsz;
                return;
            }
            at = data + ((note->n_descsz + 3) & ~3u);
        }
    }
}

/* With the process lock held. */
static void module_write(const struct module *module, uint32_t id, const ElfW(Phdr) * headers, unsigned count,
                         uint64_t bias)
{
    char path[4096];
    const char *name = module->name;
    if (!name || !*name) { /* the program itself */
        ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
        path[length > 0 ? length : 0] = '\0';
        name = path;
    }
    struct lwps_module record = {.id = id, .time = lwp_clock(CLOCK_MONOTONIC), .start = module->start,
                                 .end = module->end, .bias = bias, .path = name};
    module_build_id(&record, headers, count, bias);
    lwps_put_module(&lwp_process.file, &record);
}

static bool module_known(uint64_t start, const struct link_map *map)
{
    for (uint32_t i = 0; i < modules_count; i++)
        if (modules[i].start == start && modules[i].map == map)
            return true;
    return false;
}

/* Ends recorded images that the new one has taken the place of. With the lock held. */
static void module_displace(uint64_t start, uint64_t end)
{
    for (uint32_t i = 0; i < modules_count; i++)
        if (modules[i].end && modules[i].start < end && start < modules[i].end) {
            lwps_put_module_end(&lwp_process.file,
                                &(struct lwps_module_end){.id = i + 1, .time = lwp_clock(CLOCK_MONOTONIC)});
            modules[i].start = modules[i].end = 0;
        }
}

static void module_add(uint64_t start, uint64_t end, const struct link_map *map, const char *name,
                       const ElfW(Phdr) * headers, unsigned count, uint64_t bias)
{
    if (modules_count >= MODULES_MAX)
        return;
    module_displace(start, end);
    uint32_t i = modules_count;
    modules[i] = (struct module){start, end, map, name};
    module_write(&modules[i], i + 1, headers, count, bias);
    modules_count = i + 1;
}

void lwp_modules_see(uint64_t ip)
{
    struct dl_find_object object;
    if (_dl_find_object((void *)ip, &object))
        return;
    uint64_t start = (uint64_t)object.dlfo_map_start, end = (uint64_t)object.dlfo_map_end;
    if (module_known(start, object.dlfo_link_map) || !lwp_process_try_lock())
        return;
    const ElfW(Ehdr) *elf = object.dlfo_map_start;
    if (!module_known(start, object.dlfo_link_map) && memcmp(elf->e_ident, ELFMAG, SELFMAG) == 0)
        module_add(start, end, object.dlfo_link_map, object.dlfo_link_map->l_name,
                   (const void *)(start + elf->e_phoff), elf->e_phnum, object.dlfo_link_map->l_addr);
    lwp_process_unlock();
}

static int module_visit(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size;
    (void)data;
    uint64_t low = UINT64_MAX, code = 0;
    for (unsigned i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_LOAD) {
            uint64_t at = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
            if (at < low)
                low = at;
            if (info->dlpi_phdr[i].p_flags & PF_X)
                code = at;
        }
    if (code)
        lwp_modules_see(code);
    return 0;
}

void lwp_modules_update(void)
{
    dl_iterate_phdr(module_visit, NULL);
}

void lwp_modules_again(void)
{
    modules_count = 0;
    lwp_modules_update();
}
