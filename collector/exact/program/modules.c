#include "collector/exact/program/modules.h"

#include "collector/exact/program/contexts.h"
#include "collector/exact/program/detector.h"
#include "collector/exact/program/process.h"
#include "collector/exact/program/trace_words.h"
#include "collector/exact/valgrind/tool.h"
#include "collector/record/build_id.h"

#include <elf.h>
#include <fcntl.h>
#include <unistd.h>

enum { MODULES_MAX = 4096, HEADERS_MAX = 32, NOTE_MAX = 1024 };

struct exact_module {
    const DebugInfo *info; /* NULL: gone */
    Addr text, start, end;
};

static struct exact_module modules[MODULES_MAX];
static uint32_t modules_count;

static void module_build_id(struct lwps_module *record, int fd, const Elf64_Phdr *header)
{
    uint8_t notes[NOTE_MAX] __attribute__((aligned(4)));
    ssize_t size = pread(fd, notes, header->p_filesz < sizeof notes ? header->p_filesz : sizeof notes, (off_t)header->p_offset);
    if (size > 0)
        lwp_build_id_find(record, notes, (size_t)size);
}

/* Bounds, bias and build id from the file itself: Valgrind knows the sections only. */
static void module_describe(const DebugInfo *info, struct lwps_module *record)
{
    Elf64_Ehdr elf;
    Elf64_Phdr headers[HEADERS_MAX];
    record->path = VG_(DebugInfo_get_filename)(info);
    record->bias = (uint64_t)VG_(DebugInfo_get_text_bias)(info);
    record->start = VG_(DebugInfo_get_text_avma)(info);
    record->end = record->start + VG_(DebugInfo_get_text_size)(info);
    SysRes opened = VG_(open)(record->path, VKI_O_RDONLY, 0);
    if (sr_isError(opened))
        return;
    int fd = (int)sr_Res(opened);
    if (pread(fd, &elf, sizeof elf, 0) == (ssize_t)sizeof elf && elf.e_phentsize == sizeof *headers) {
        unsigned count = elf.e_phnum < HEADERS_MAX ? elf.e_phnum : HEADERS_MAX;
        ssize_t bytes = (ssize_t)(count * sizeof *headers);
        uint64_t low = UINT64_MAX, high = 0;
        if (pread(fd, headers, (size_t)bytes, (off_t)elf.e_phoff) != bytes)
            count = 0;
        for (unsigned i = 0; i < count; i++) {
            if (headers[i].p_type == PT_NOTE && !record->build_id_bytes)
                module_build_id(record, fd, &headers[i]);
            if (headers[i].p_type != PT_LOAD)
                continue;
            low = headers[i].p_vaddr < low ? headers[i].p_vaddr : low;
            high = headers[i].p_vaddr + headers[i].p_memsz > high ? headers[i].p_vaddr + headers[i].p_memsz : high;
        }
        if (low < high) {
            record->start = VG_PGROUNDDN(low + record->bias);
            record->end = VG_PGROUNDUP(high + record->bias);
        }
    }
    VG_(close)(fd);
}

/* The tool's own image and Valgrind's preload library are no part of the program. */
static bool module_is_ours(const HChar *path)
{
    const HChar *name = VG_(basename)(path);
    return VG_(strncmp)(name, "lwp-amd64", 9) == 0 || VG_(strncmp)(name, "vgpreload_", 10) == 0;
}

static void module_write(uint32_t index)
{
    struct lwps_module record = {.id = index + 1, .time = lwp_trace_time()};
    module_describe(modules[index].info, &record);
    if (module_is_ours(record.path))
        return;
    modules[index].start = record.start;
    modules[index].end = record.end;
    if (lwp_exact_process.active)
        lwps_put_module(&lwp_exact_process.file, &record);
}

static void modules_look(void)
{
    for (const DebugInfo *info = VG_(next_DebugInfo)(NULL); info; info = VG_(next_DebugInfo)(info)) {
        Addr text = VG_(DebugInfo_get_text_avma)(info);
        bool known = !text || modules_count >= MODULES_MAX;
        for (uint32_t i = 0; i < modules_count && !known; i++)
            known = modules[i].info == info && modules[i].text == text;
        if (known)
            continue;
        modules[modules_count] = (struct exact_module){.info = info, .text = text};
        module_write(modules_count++);
    }
}

static void modules_mapped(Addr start, SizeT size, Bool read, Bool write, Bool execute, ULong handle)
{
    (void)read, (void)write, (void)execute;
    LWP_DETECTORS(forget, start, size);
    if (handle) {
        lwp_trace_drain();
        LWP_DETECTORS(flush);
        modules_look();
    }
}

static void modules_unmapped(Addr start, SizeT size)
{
    LWP_DETECTORS(forget, start, size);
    for (uint32_t i = 0; i < modules_count; i++) {
        if (!modules[i].info || modules[i].text < start || modules[i].text >= start + size)
            continue;
        lwp_trace_drain();
        LWP_DETECTORS(flush);
        modules[i].info = NULL;
        lwp_contexts_forget(start, size);
        if (modules[i].end && lwp_exact_process.active)
            lwps_put_module_end(&lwp_exact_process.file, &(struct lwps_module_end){.id = i + 1, .time = lwp_trace_time()});
    }
}

void lwp_modules_start(void)
{
    VG_(track_new_mem_startup)(modules_mapped);
    VG_(track_new_mem_mmap)(modules_mapped);
    VG_(track_die_mem_munmap)(modules_unmapped);
}

void lwp_modules_write_all(void)
{
    modules_look();
    for (uint32_t i = 0; i < modules_count; i++)
        if (modules[i].info)
            module_write(i);
}
