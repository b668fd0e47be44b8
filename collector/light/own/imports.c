/* A program may have functions of its own under names of the C library's (clock_gettime, close, read, ...). It comes first in
 * the loader's search, so that lwp would call those: with counters and locks of the program's in them, clocks with another
 * time, or nothing that works at all. So what an image imports is bound again, to the C library itself. That also
 * avoids the wrappers of sanitizers and of other preloaded libraries. Its mmap and munmap are own_memory.c's,
 * and what would be a cancellation point is own_calls.c's.
 * Left as they are: the allocator's functions, which have to be those that made the block, and dl_iterate_phdr, which is
 * modules.c's for libunwind. Not covered: a dlsym or dlopen of the program's own. */
#include "collector/light/own/imports.h"

#include "collector/env.h"
#include "collector/light/own/image.h"
#include "collector/light/own/own_calls.h"
#include "collector/light/own/own_memory.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <gnu/libc-version.h>
#include <link.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PAGE_BYTES = 4096 };

struct image {
    char *base;
    const ElfW(Sym) * symbols;
    const char *strings;
    const ElfW(Rela) * relocations[2]; /* of calls through the PLT, and the others */
    size_t count[2];
    char *sealed; /* read-only since the loader is done with it */
    size_t sealed_bytes;
};

static bool imports_image(struct image *image, const void *inside)
{
    struct lwp_image found;
    if (!lwp_image_find(inside, &found))
        return false;
    *image = (struct image){.base = (char *)found.map->l_addr};
    for (const ElfW(Dyn) *entry = found.map->l_ld; entry->d_tag != DT_NULL; entry++) {
        const void *address = (const void *)entry->d_un.d_ptr;
        switch (entry->d_tag) {
        case DT_SYMTAB: image->symbols = address; break;
        case DT_STRTAB: image->strings = address; break;
        case DT_JMPREL: image->relocations[0] = address; break;
        case DT_PLTRELSZ: image->count[0] = entry->d_un.d_val / sizeof(ElfW(Rela)); break;
        case DT_RELA: image->relocations[1] = address; break;
        case DT_RELASZ: image->count[1] = entry->d_un.d_val / sizeof(ElfW(Rela)); break;
        default: break;
        }
    }
    for (unsigned i = 0; i < found.header_count; i++)
        if (found.headers[i].p_type == PT_GNU_RELRO) {
            uintptr_t start = (uintptr_t)image->base + found.headers[i].p_vaddr;
            image->sealed = (char *)(start & ~(uintptr_t)(PAGE_BYTES - 1));
            image->sealed_bytes = ((start + found.headers[i].p_memsz) & ~(uintptr_t)(PAGE_BYTES - 1)) - (uintptr_t)image->sealed;
        }
    return image->symbols && image->strings;
}

static bool imports_keeps(const char *name)
{
    static const char *const kept[] = {"malloc", "calloc", "realloc", "free", "malloc_usable_size", "dl_iterate_phdr"};
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        if (strcmp(kept[i], name) == 0)
            return true;
    return false;
}

/* Not by getenv, which may be the program's as yet. */
static bool imports_wanted(void)
{
    for (char **variable = environ; variable && *variable; variable++)
        if (strcmp(*variable, LWP_ENV_IMPORTS "=0") == 0)
            return false;
    return true;
}

struct libc {
    void *handle; /* dlopen's, once anything was asked for */
    const char *start, *end, *loader_start, *loader_end; /* some of its functions are the loader's */
    bool wanted; /* imports_wanted */
};

static const char libc_name[] = "/libc.so.6";

static void *libc_function(struct libc *libc, const char *name)
{
    if (!libc->handle)
        libc->handle = dlopen(libc_name + 1, RTLD_LAZY | RTLD_NOLOAD);
    return libc->handle ? dlsym(libc->handle, name) : NULL;
}

static bool imports_libc(struct libc *libc)
{
    struct dl_find_object found;
    *libc = (struct libc){.wanted = imports_wanted()};
    if (_dl_find_object((void *)gnu_get_libc_version, &found))
        return false;
    size_t length = strlen(found.dlfo_link_map->l_name);
    if (length < sizeof libc_name ||
        strcmp(found.dlfo_link_map->l_name + length - (sizeof libc_name - 1), libc_name)) { /* the program's function */
        libc->handle = dlopen(libc_name + 1, RTLD_LAZY | RTLD_NOLOAD);
        if (!libc->handle || _dl_find_object(((struct link_map *)libc->handle)->l_ld, &found))
            return false;
    }
    libc->start = found.dlfo_map_start;
    libc->end = found.dlfo_map_end;
    if (_dl_find_object(&_r_debug, &found) == 0) {
        libc->loader_start = found.dlfo_map_start;
        libc->loader_end = found.dlfo_map_end;
    }
    return true;
}

/* NULL: it stays the one that the loader `bound`. That is the C library's mostly: to look all of them up once more would take longer than
 * all else that is done in a process which is never set up. */
static void *imports_function(struct libc *libc, const char *name, const char *bound)
{
    if (lwp_own_call_is(name, "mmap") || lwp_own_call_is(name, "mmap64"))
        return (void *)lwp_own_map;
    if (lwp_own_call_is(name, "munmap"))
        return (void *)lwp_own_unmap;
    void *own = lwp_own_call(name);
    if (own)
        return own;
    if ((bound >= libc->start && bound < libc->end) || (bound >= libc->loader_start && bound < libc->loader_end))
        return NULL;
    return libc->wanted && !imports_keeps(name) ? libc_function(libc, name) : NULL;
}

void lwp_imports_bind(const void *inside)
{
    lwp_imports_bind_but(inside, "", NULL);
}

void lwp_imports_bind_but(const void *inside, const char *but, void *instead)
{
    struct image image;
    struct libc libc;
    int saved = errno;
    if (!imports_libc(&libc) || !imports_image(&image, inside) ||
        (image.sealed_bytes && syscall(SYS_mprotect, image.sealed, image.sealed_bytes, PROT_READ | PROT_WRITE)))
        goto out;
    for (int list = 0; list < 2; list++)
        for (size_t i = 0; i < image.count[list]; i++) {
            const ElfW(Rela) *relocation = &image.relocations[list][i];
            unsigned type = ELF64_R_TYPE(relocation->r_info); // NOLINT(clang-analyzer-core.NullDereference): those of a count
            const ElfW(Sym) *symbol = &image.symbols[ELF64_R_SYM(relocation->r_info)];
            const char *name = image.strings + symbol->st_name;
            if ((type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT) || ELF64_ST_TYPE(symbol->st_info) == STT_OBJECT)
                continue;
            void **place = (void **)(image.base + relocation->r_offset);
            if (!*place) /* nobody has it, which is allowed */
                continue;
            void *function = lwp_own_call_is(name, but) ? instead : imports_function(&libc, name, *place);
            if (function)
                *place = function;
        }
    if (image.sealed_bytes)
        syscall(SYS_mprotect, image.sealed, image.sealed_bytes, PROT_READ); /* mprotect() is the heap's, above */
out:
    errno = saved;
}
