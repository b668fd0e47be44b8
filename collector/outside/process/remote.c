/* A sample is looked at some tens of milliseconds after it was taken, and the process went on meanwhile. What its memory held then is
 * only known of the stack, a part of which the kernel copies with the sample, and of mapped files that cannot be written to: of
 * these, pages are kept. */
#include "collector/outside/process/remote.h"

#include "base/arena.h"
#include "collector/outside/process/function_symbols.h"
#include "collector/outside/process/tasks.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum { PAGES_MAX = 1 << 14, MODULES_MAX = 1 << 14 };

/* ---- memory ---- */

int lwp_remote_open(const struct lwp_remote *remote, const char *path)
{
    char *seen = lwp_format("/proc/%d/root%s", (int)remote->pid, path);
    struct stat info;
    int fd = remote->past ? -1 : open(seen, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    free(seen);
    if (fd < 0) /* it may have ended, or its root not be ours to enter */
        fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd >= 0 && (fstat(fd, &info) || !S_ISREG(info.st_mode))) {
        close(fd);
        return -1;
    }
    return fd;
}

bool lwp_remote_now(struct lwp_remote *remote, uint64_t address, void *to, size_t bytes)
{
    struct iovec here = {to, bytes}, there = {(void *)address, bytes};
    if (remote->unreadable || remote->past)
        return false;
    ssize_t got = process_vm_readv(remote->pid, &here, 1, &there, 1, 0);
    remote->unreadable |= got < 0 && (errno == EPERM || errno == ENOSYS);
    return got == (ssize_t)bytes;
}

static bool page_from_file(const struct lwp_remote *remote, const struct lwp_mapping *mapping, uint64_t address, uint8_t *page)
{
    int fd = mapping->file ? lwp_remote_open(remote, mapping->path) : -1;
    if (fd < 0)
        return false;
    ssize_t got = pread(fd, page, LWP_REMOTE_PAGE, (off_t)(mapping->offset + (address - mapping->start)));
    close(fd);
    return got > 0;
}

static bool page_from_image(struct lwp_remote *remote, uint64_t address, uint8_t *page)
{
    const struct lwp_remote_module *module = lwp_remote_module_at(remote, address);
    int fd = module && module->elf ? lwp_remote_open(remote, module->path) : -1;
    bool read = fd >= 0 && lwp_image_page(fd, module->image.bias, address, page, LWP_REMOTE_PAGE);
    if (fd >= 0)
        close(fd);
    return read;
}

/* The page of a mapping that cannot be written to. */
static const uint8_t *remote_page(struct lwp_remote *remote, uint64_t address)
{
    uint64_t start = address & ~(uint64_t)(LWP_REMOTE_PAGE - 1);
    uint32_t known = lwp_map_get(&remote->page_index, start);
    if (known != LWP_MAP_NONE)
        return remote->pages[known];
    const struct lwp_mapping *mapping = lwp_mappings_at(&remote->mappings, address);
    if (!remote->past && (!mapping || mapping->write || !(mapping->file || strcmp(mapping->path, "[vdso]") == 0)))
        return NULL;
    if (remote->page_count >= PAGES_MAX) {
        lwp_map_clear(&remote->page_index);
        remote->page_count = 0;
    }
    LWP_GROW(&remote->pages, remote->page_count, &remote->page_room);
    uint8_t *page = remote->pages[remote->page_count];
    memset(page, 0, LWP_REMOTE_PAGE);
    bool read = remote->past ? page_from_image(remote, start, page)
                             : lwp_remote_now(remote, start, page, LWP_REMOTE_PAGE) || page_from_file(remote, mapping, start, page);
    if (!read)
        return NULL;
    *lwp_map_at(&remote->page_index, start) = (uint32_t)remote->page_count++;
    return page;
}

bool lwp_remote_constant(struct lwp_remote *remote, uint64_t address, void *to, size_t bytes)
{
    for (size_t done = 0; done < bytes;) {
        size_t offset = (address + done) % LWP_REMOTE_PAGE, part = LWP_REMOTE_PAGE - offset;
        const uint8_t *page = remote_page(remote, address + done);
        if (!page)
            return false;
        part = part < bytes - done ? part : bytes - done;
        memcpy((uint8_t *)to + done, page + offset, part);
        done += part;
    }
    return true;
}

bool lwp_remote_stack(const struct lwp_remote *remote, uint64_t address, void *to, size_t bytes)
{
    uint64_t offset = address - remote->stack_start;
    if (!remote->stack || offset > remote->stack_bytes || bytes > remote->stack_bytes - offset)
        return false;
    memcpy(to, remote->stack + offset, bytes);
    return true;
}

/* ---- modules ---- */

struct lwp_remote_module *lwp_remote_module_at(struct lwp_remote *remote, uint64_t address)
{
    for (size_t i = 0; i <= remote->module_count; i++) {
        size_t at = i ? i - 1 : remote->last_module;
        if (at >= remote->module_count)
            continue;
        struct lwp_remote_module *module = &remote->modules[at];
        if (!module->gone && address >= module->image.start && address < module->image.end) {
            remote->last_module = at;
            return module;
        }
    }
    return NULL;
}

static void remote_forget_pages(struct lwp_remote *remote)
{
    lwp_map_clear(&remote->page_index);
    remote->page_count = 0;
}

void lwp_remote_put_module(struct lwp_remote *remote, const struct lwp_image *image, const char *path, bool elf)
{
    for (size_t i = 0; i < remote->module_count; i++) { /* what lay there before is gone */
        struct lwp_remote_module *other = &remote->modules[i];
        other->gone |= other->image.start < image->end && image->start < other->image.end;
    }
    LWP_PUSH(remote->module, (struct lwp_remote_module){.image = *image, .path = lwp_allocated(strdup(path)), .elf = elf});
}

static void remote_add_module(struct lwp_remote *remote, const struct lwp_mapping *mapping)
{
    struct lwp_image image;
    char *seen = lwp_format("/proc/%d/root%s", (int)remote->pid, mapping->path);
    uint64_t bytes = mapping->end - mapping->start;
    bool elf = lwp_image_of(seen, mapping->start, bytes, mapping->offset, &image) ||
               lwp_image_of(mapping->path, mapping->start, bytes, mapping->offset, &image);
    free(seen);
    lwp_remote_put_module(remote, &image, mapping->path, elf);
}

bool lwp_remote_refresh(struct lwp_remote *remote, const struct lwp_mappings *recorded)
{
    bool read = lwp_mappings_read(&remote->mappings, remote->pid);
    pid_t living = read ? 0 : lwp_tasks_living(remote->pid);
    if (living && living != remote->pid) {
        remote->pid = living;
        read = lwp_mappings_read(&remote->mappings, remote->pid);
    }
    if (!read) {
        if (remote->mappings.count || !recorded)
            return false;
        lwp_mappings_copy(&remote->mappings, recorded);
    }
    size_t before = remote->module_count;
    bool gone = false;
    for (size_t i = 0; i < remote->mappings.count; i++) {
        const struct lwp_mapping *mapping = &remote->mappings.items[i];
        if (!mapping->execute || !(mapping->file || strcmp(mapping->path, "[vdso]") == 0) || remote->module_count >= MODULES_MAX)
            continue;
        const struct lwp_remote_module *known = lwp_remote_module_at(remote, mapping->start);
        if (!known || strcmp(known->path, mapping->path))
            remote_add_module(remote, mapping);
    }
    for (size_t i = 0; i < before; i++) {
        struct lwp_remote_module *module = &remote->modules[i];
        bool mapped = false;
        for (size_t k = 0; k < remote->mappings.count && !module->gone && !mapped; k++) {
            const struct lwp_mapping *mapping = &remote->mappings.items[k];
            mapped = mapping->execute && mapping->start < module->image.end && module->image.start < mapping->end &&
                     strcmp(mapping->path, module->path) == 0;
        }
        gone |= !module->gone && !mapped;
        module->gone |= !mapped;
    }
    if (gone || before != remote->module_count)
        remote_forget_pages(remote);
    return true;
}

/* ---- functions ---- */

/* The table's pairs are (function start, FDE), both relative to the header; an FDE is length, CIE pointer, start (pc-relative),
 * size. */
static bool bounds_in_table(struct lwp_remote *remote, uint64_t header, uint64_t ip, uint64_t *low, uint64_t *high)
{
    enum { PCREL_SDATA4 = 0x1b, UDATA4 = 0x03, DATAREL_SDATA4 = 0x3b };
    struct {
        uint8_t version, pointer, count, table;
        int32_t frame;
        uint32_t pairs;
    } head;
    int32_t pair[2], start;
    uint32_t size;
    if (!lwp_remote_constant(remote, header, &head, sizeof head) || head.version != 1 || head.pointer != PCREL_SDATA4 ||
        head.count != UDATA4 || head.table != DATAREL_SDATA4 || !head.pairs)
        return false;
    uint32_t from = 0, to = head.pairs;
    while (to - from > 1) {
        uint32_t middle = from + (to - from) / 2;
        if (!lwp_remote_constant(remote, header + sizeof head + (uint64_t)middle * sizeof pair, pair, sizeof pair))
            return false;
        if (header + (uint64_t)(int64_t)pair[0] <= ip)
            from = middle;
        else
            to = middle;
    }
    if (!lwp_remote_constant(remote, header + sizeof head + (uint64_t)from * sizeof pair, pair, sizeof pair))
        return false;
    uint64_t fde = header + (uint64_t)(int64_t)pair[1];
    *low = header + (uint64_t)(int64_t)pair[0];
    if (!lwp_remote_constant(remote, fde + 8, &start, sizeof start) || !lwp_remote_constant(remote, fde + 12, &size, sizeof size))
        return false;
    *high = *low + size;
    return fde + 8 + (uint64_t)(int64_t)start == *low && ip >= *low && ip < *high;
}

static bool remote_bounds(const struct lwp_program *program, uint64_t ip, uint64_t *low, uint64_t *high)
{
    struct lwp_remote *remote = (struct lwp_remote *)program;
    struct lwp_remote_module *module = lwp_remote_module_at(remote, ip);
    if (!module)
        return false;
    if (module->image.unwind_table && bounds_in_table(remote, module->image.unwind_table, ip, low, high))
        return true;
    if (!module->functions_read && module->elf) {
        module->functions_read = true;
        int fd = lwp_remote_open(remote, module->path);
        if (fd >= 0)
            module->functions = lwp_function_symbols_read(fd);
        if (fd >= 0)
            close(fd);
    }
    if (!module->functions || !lwp_function_symbols_at(module->functions, ip - module->image.bias, low, high))
        return false;
    *low += module->image.bias;
    *high += module->image.bias;
    return true;
}

bool lwp_remote_is_code(struct lwp_remote *remote, uint64_t ip)
{
    const struct lwp_mapping *mapping = lwp_mappings_at(&remote->mappings, ip);
    return remote->past ? lwp_remote_module_at(remote, ip) != NULL : mapping && mapping->execute;
}

uint64_t lwp_remote_function_start(struct lwp_remote *remote, uint64_t ip)
{
    uint64_t low, high;
    return remote_bounds(&remote->program, ip, &low, &high) ? low : ip;
}

/* ---- the seam ---- */

static const uint8_t *remote_code(const struct lwp_program *program, uint64_t address, unsigned bytes)
{
    struct lwp_remote *remote = (struct lwp_remote *)program;
    size_t offset = address % LWP_REMOTE_PAGE;
    if (offset + bytes <= LWP_REMOTE_PAGE) {
        const uint8_t *page = remote_page(remote, address);
        return page ? page + offset : NULL;
    }
    return bytes <= sizeof remote->code && lwp_remote_constant(remote, address, remote->code, bytes) ? remote->code : NULL;
}

static size_t remote_read(const struct lwp_program *program, uint64_t address, void *to, size_t bytes, enum lwp_read how)
{
    struct lwp_remote *remote = (struct lwp_remote *)program;
    if (lwp_remote_stack(remote, address, to, bytes) || lwp_remote_constant(remote, address, to, bytes))
        return bytes;
    return (how == LWP_READ_NOW || remote->follows_links) && lwp_remote_now(remote, address, to, bytes) ? bytes : 0;
}

static void *remote_memory(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

void lwp_remote_init(struct lwp_remote *remote, pid_t pid)
{
    *remote = (struct lwp_remote){.program = {.code = remote_code, .read = remote_read, .bounds = remote_bounds, .memory = remote_memory},
                                  .pid = pid};
}

void lwp_remote_fini(struct lwp_remote *remote)
{
    for (size_t i = 0; i < remote->module_count; i++) {
        lwp_function_symbols_free(remote->modules[i].functions);
        free(remote->modules[i].path);
    }
    free(remote->modules);
    free(remote->pages);
    lwp_map_fini(&remote->page_index);
    lwp_mappings_free(&remote->mappings);
}
