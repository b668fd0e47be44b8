/* dlopen is not interposed: it looks at its caller's RUNPATH. New images are noticed when code of theirs is sampled
 * (_dl_find_object takes no lock), before any is unloaded, and once more at the end. Unloading is seen, since the next
 * image may get the same addresses and even the same struct link_map. Not seen: unloading by libc itself (NSS, iconv).
 *
 * dl_iterate_phdr is interposed for our own unwinding: the loader's lock may be held by a thread that waits for a lock
 * of the thread we interrupted. Inside the collector it answers from the table here, which is only added to; anywhere
 * else it is the loader's own. */
#include "collector/light/code/modules.h"

#include "collector/light/own/hot.h"
#include "collector/light/own/image.h"
#include "collector/light/own/own_memory.h"
#include "collector/light/own/process.h"
#include "collector/light/own/real_calls.h"
#include "collector/light/own/thread.h"
#include "collector/light/own/watched_memory.h"
#include "collector/record/build_id.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <string.h>
#include <sys/single_threaded.h>
#include <unistd.h>

enum { MODULES_MAX = 4096, HEADERS_MAX = 16, MODULE_ALIGN = 4096 };

struct loaded_module {
    uint64_t start, end; /* 0, 0: gone */
    uint64_t bias;
    const struct link_map *map;
    unsigned header_count;
    ElfW(Phdr) headers[HEADERS_MAX]; /* a copy: the image may go while another thread is unwinding */
    bool unwinds;                    /* has a table of its frames in memory */
    bool in_parts;                   /* the loader finds its segments one by one */
};

static struct loaded_module *modules; /* MODULES_MAX of them, if any */
static uint32_t modules_count;

static int (*real_iterate)(int (*)(struct dl_phdr_info *, size_t, void *), void *);
static bool modules_threads; /* there were several at a fork */
static bool modules_locked;  /* in a child: perhaps the loader's lock is, for good, by a thread of a parent's */

/* With the process lock held. */
static void module_write(const struct loaded_module *module, uint32_t id)
{
    char path[4096];
    const char *name = module->map->l_name;
    if (!name || !*name) { /* the program itself */
        ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
        path[length > 0 ? length : 0] = '\0';
        name = path;
    }
    struct lwps_module record = {.id = id, .time = lwp_clock(CLOCK_MONOTONIC), .start = module->start,
                                 .end = module->end, .bias = module->bias, .path = name};
    for (unsigned i = 0; i < module->header_count && !record.build_id_bytes; i++)
        if (module->headers[i].p_type == PT_NOTE)
            lwp_build_id_find(&record, (const void *)(module->headers[i].p_vaddr + module->bias), module->headers[i].p_memsz);
    lwps_put_module(&lwp_process.file, &record);
}

static bool module_known(const struct dl_find_object *found)
{
    uint64_t start = (uint64_t)found->dlfo_map_start, end = (uint64_t)found->dlfo_map_end;
    uint32_t count = __atomic_load_n(&modules_count, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; i < count; i++) {
        const struct loaded_module *module = &modules[i];
        if (module->map == found->dlfo_link_map &&
            (module->in_parts ? start >= module->start && end <= module->end : start == module->start && end == module->end))
            return true;
    }
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

static void module_add(const struct dl_find_object *found)
{
    struct lwp_image image;
    if (modules_count >= MODULES_MAX || !lwp_image_find(found->dlfo_map_start, &image))
        return;
    if (!modules && !(modules = lwp_own_memory(MODULES_MAX * sizeof *modules)))
        return;
    module_displace(image.start, image.end);
    struct loaded_module *module = &modules[modules_count];
    *module = (struct loaded_module){.start = image.start, .end = image.end, .bias = image.map->l_addr, .map = image.map};
    module->in_parts = image.start != (uint64_t)found->dlfo_map_start || image.end != (uint64_t)found->dlfo_map_end;
    module->header_count = image.header_count < HEADERS_MAX ? image.header_count : HEADERS_MAX;
    memcpy(module->headers, image.headers, module->header_count * sizeof *module->headers);
    for (unsigned i = 0; i < module->header_count; i++)
        module->unwinds |= module->headers[i].p_type == PT_GNU_EH_FRAME;
    module_write(module, modules_count + 1);
    __atomic_store_n(&modules_count, modules_count + 1, __ATOMIC_RELEASE);
}

void lwp_modules_see(uint64_t ip)
{
    struct dl_find_object found;
    if (_dl_find_object((void *)ip, &found) || module_known(&found) || !lwp_process_try_lock())
        return;
    if (!module_known(&found))
        module_add(&found);
    lwp_process_unlock();
}

__thread bool lwp_modules_unwind;

/* For an image without a table of frames libunwind would open its file, from a handler, and take the program's for it, or read on where
 * what it found there has no end, as in what tcc compiles. */
static int modules_iterate(int (*visit)(struct dl_phdr_info *, size_t, void *), void *data)
{
    int status = 0;
    uint32_t count = __atomic_load_n(&modules_count, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; i < count && !status; i++) {
        if (!modules[i].end || !modules[i].unwinds)
            continue;
        struct dl_phdr_info info = {.dlpi_addr = modules[i].bias, .dlpi_name = "", .dlpi_phdr = modules[i].headers,
                                    .dlpi_phnum = (ElfW(Half))modules[i].header_count};
        status = visit(&info, sizeof info, data);
    }
    return status;
}

static bool modules_resolve(void)
{
    if (!real_iterate)
        real_iterate = dlsym(RTLD_NEXT, "dl_iterate_phdr");
    return real_iterate != NULL;
}

__attribute__((visibility("default"))) int dl_iterate_phdr(int (*visit)(struct dl_phdr_info *, size_t, void *), void *data)
{
    const struct lwp_thread *self = lwp_process.active ? lwp_thread_self() : NULL;
    if ((self && self->busy) || lwp_modules_unwind)
        return modules_iterate(visit, data);
    return modules_resolve() ? real_iterate(visit, data) : 0;
}

static int module_visit(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size;
    bool *seen = data; /* NULL: record what is new */
    uint64_t low = UINT64_MAX, code = 0;
    for (unsigned i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_LOAD) {
            uint64_t at = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
            if (at < low)
                low = at;
            if (info->dlpi_phdr[i].p_flags & PF_X)
                code = at;
        }
    if (code && !seen)
        lwp_modules_see(code);
    for (uint32_t i = 0; seen && i < modules_count; i++)
        seen[i] = seen[i] || low / MODULE_ALIGN == modules[i].start / MODULE_ALIGN;
    return 0;
}

void lwp_modules_update(void)
{
    if (!modules_locked && modules_resolve())
        real_iterate(module_visit, NULL);
}

void lwp_modules_before_fork(void)
{
    modules_threads |= !__libc_single_threaded;
}

void lwp_modules_again(void)
{
    const uint32_t count = modules_count;
    modules_locked = modules_threads;
    modules_count = 0;
    lwp_modules_update();
    for (uint32_t i = 0; modules_locked && i < count; i++) { /* a new one's place is never after the old one's */
        const uint64_t start = modules[i].start;
        char first; /* that thread may have been unloading it: the loader lists it longer than it is there */
        if (lwp_own_copy(&first, (const void *)start, sizeof first))
            lwp_modules_see(start);
    }
}

static void modules_end_missing(void)
{
    static LWP_LARGE bool seen[MODULES_MAX];
    if (modules_locked || !modules_resolve() || !lwp_process_lock_soon())
        return;
    memset(seen, 0, sizeof seen);
    real_iterate(module_visit, seen);
    for (uint32_t i = 0; i < modules_count; i++)
        if (modules[i].end && !seen[i])
            module_displace(modules[i].start, modules[i].end);
    lwp_process_unlock();
}

__attribute__((visibility("default"))) int dlclose(void *library)
{
    if (!lwp_process_is_ours())
        return LWP_REAL(dlclose)(library);
    struct lwp_thread *self = lwp_thread_self();
    if (self)
        self->busy++;
    lwp_modules_update();
    if (self)
        self->busy--;
    int status = LWP_REAL(dlclose)(library); /* destructors in it are the program's */
    lwp_watched_forget(NULL, UINT64_MAX, LWPS_WATCH_FREED); /* its data, wherever that was */
    if (self)
        self->busy++;
    modules_end_missing();
    if (self)
        self->busy--;
    return status;
}
