/* Opens the file a module was loaded from and makes sure that it is the build that ran. Only regular files are opened.
 * If the file is gone, unreadable, of another build or not ELF, the module has only addresses, and says why. */
#include "analysis/program/binary/debug_files.h"
#include "analysis/program/binary/module.h"

#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

enum { ELF_SEGMENT_LIMIT = 10000 };

/* Any symbol that names something of this file itself, not only imports. */
static bool elf_has_symbols(Elf *elf)
{
    GElf_Shdr header;
    for (Elf_Scn *section = NULL; (section = code_elf_section(elf, section, SHT_NULL, NULL, &header));) {
        if (header.sh_type != SHT_SYMTAB && header.sh_type != SHT_DYNSYM)
            continue;
        Elf_Data *data = elf_getdata(section, NULL);
        size_t count = data ? data->d_size / sizeof(Elf64_Sym) : 0;
        for (size_t i = 0; i < count; i++) {
            GElf_Sym symbol;
            if (gelf_getsym(data, (int)i, &symbol) && symbol.st_shndx != SHN_UNDEF &&
                (GELF_ST_TYPE(symbol.st_info) == STT_FUNC || GELF_ST_TYPE(symbol.st_info) == STT_OBJECT))
                return true;
        }
    }
    return false;
}

/* The parts of all threads lie below their pointers, that of the program first (variant II of the ELF handling for thread-local storage).
 */
static void elf_read_thread_local(struct code_module *module, const GElf_Phdr *part, size_t capacity)
{
    const uint64_t alignment = part->p_align ? part->p_align : 1;
    if (part->p_memsz > LWP_THREAD_LOCAL / 2 || alignment > LWP_THREAD_LOCAL / 2)
        return;
    module->thread_local = (part->p_memsz + alignment - 1) / alignment * alignment;
    LWP_GROW(&module->sections, module->section_count, &capacity);
    module->sections[module->section_count++] = (struct code_section){.start = LWP_THREAD_LOCAL, .end = LWP_THREAD_LOCAL + part->p_memsz};
}

static void elf_read_layout(struct code_module *module)
{
    size_t capacity = 0, bytes = 0;
    GElf_Shdr header;
    for (Elf_Scn *section = NULL; (section = code_elf_section(module->elf, section, SHT_NULL, NULL, &header));) {
        if (!(header.sh_flags & SHF_ALLOC) || (header.sh_flags & SHF_TLS) || header.sh_addr + header.sh_size < header.sh_addr)
            continue;
        LWP_GROW(&module->sections, module->section_count, &capacity);
        module->sections[module->section_count++] = (struct code_section){
            .start = header.sh_addr,
            .end = header.sh_addr + header.sh_size,
            .executable = header.sh_flags & SHF_EXECINSTR,
            .constant = header.sh_type == SHT_PROGBITS && !(header.sh_flags & (SHF_WRITE | SHF_EXECINSTR)),
        };
    }
    const uint8_t *raw = (const uint8_t *)elf_rawfile(module->elf, &bytes);
    size_t segments = 0;
    if (!raw || elf_getphdrnum(module->elf, &segments))
        return;
    const size_t sections_room = capacity;
    capacity = 0;
    for (size_t i = 0; i < segments && i < ELF_SEGMENT_LIMIT; i++) {
        GElf_Phdr part;
        if (!gelf_getphdr(module->elf, (int)i, &part))
            continue;
        if (part.p_type == PT_TLS && !module->thread_local)
            elf_read_thread_local(module, &part, sections_room);
        if (part.p_type != PT_LOAD || part.p_offset >= bytes)
            continue;
        uint64_t size = part.p_filesz < bytes - part.p_offset ? part.p_filesz : bytes - part.p_offset;
        if (part.p_vaddr + size < part.p_vaddr)
            continue;
        LWP_GROW(&module->segments, module->segment_count, &capacity);
        module->segments[module->segment_count++] =
            (struct code_segment){.start = part.p_vaddr, .bytes = size, .data = raw + part.p_offset};
    }
}

static void elf_judge(struct code_module *module)
{
    if (code_elf_has_dwarf(module->debug_elf))
        module->info.debug_info = LWP_DEBUG_FULL;
    else if (elf_has_symbols(module->debug_elf) || elf_has_symbols(module->elf) || code_elf_has_section(module->elf, ".gnu_debugdata"))
        module->info.debug_info = LWP_DEBUG_SYMBOLS;
}

void code_elf_open(struct code_module *module, const uint8_t *build_id, size_t build_id_bytes)
{
    struct stat status;
    module->fd = module->debug_fd = -1;
    const char *path = module->info.path;
    module->info.file = LWP_FILE_NONE;
    if (!strchr(path, '/') || code_begins_with(path, "[|//|/memfd:|/proc/|/dev/zero|/SYSV"))
        return; /* [vdso], JIT code, a descriptor of the process that ran */
    module->elf = code_elf_file_open(path, &module->fd, &module->info.file);
    if (!module->elf)
        return;
    if (fstat(module->fd, &status) == 0)
        module->info.changed = status.st_mtim.tv_sec;
    if (build_id_bytes && !code_elf_same_build(module->elf, build_id, build_id_bytes)) {
        module->info.debug_info = LWP_DEBUG_REPLACED;
        code_elf_file_close(module->elf, module->fd);
        module->elf = NULL;
        module->fd = -1;
        return;
    }
    elf_read_layout(module);
    if (!code_elf_has_dwarf(module->elf))
        code_debug_file_find(module);
    if (!module->debug_elf)
        module->debug_elf = module->elf;
    elf_judge(module);
}

void code_elf_complete(struct code_module *module)
{
    if (module->completed || !module->elf)
        return;
    module->completed = true;
    if (module->info.debug_info != LWP_DEBUG_FULL && module->debug_elf == module->elf && code_debug_download(module))
        elf_judge(module);
}

void code_elf_close(struct code_module *module)
{
    if (module->debug_elf && module->debug_elf != module->elf)
        code_elf_file_close(module->debug_elf, module->debug_fd);
    if (module->elf)
        code_elf_file_close(module->elf, module->fd);
    module->elf = module->debug_elf = NULL;
}

const uint8_t *code_bytes(const struct code_module *module, uint64_t address, size_t *available)
{
    for (size_t i = 0; i < module->segment_count; i++) {
        const struct code_segment *segment = &module->segments[i];
        if (address >= segment->start && address - segment->start < segment->bytes) {
            *available = segment->bytes - (address - segment->start);
            return segment->data + (address - segment->start);
        }
    }
    *available = 0;
    return NULL;
}

const struct code_section *code_section_at(const struct code_module *module, uint64_t address)
{
    for (size_t i = 0; i < module->section_count; i++)
        if (address >= module->sections[i].start && address < module->sections[i].end)
            return &module->sections[i];
    return NULL;
}

/* ---- files that get shorter ----
 * A binary may be rebuilt or copied over while its analysis runs; a page of its mapping that the file no longer has
 * then raises SIGBUS in the middle of libelf. The handler puts a page of zeros there and the reader goes on, as it
 * would with a damaged file. Every other SIGBUS does what it did before. */

enum { PAGE = 4096 };

static struct sigaction guard_former;

static void guard_handle(int number, siginfo_t *info, void *context)
{
    (void)context;
    if (info->si_code == BUS_ADRERR && info->si_addr) {
        void *page = (void *)((uintptr_t)info->si_addr & ~(uintptr_t)(PAGE - 1));
        if (mmap(page, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == page)
            return;
    }
    sigaction(number, &guard_former, NULL); /* the instruction runs again and meets the former one */
}

/* Asked for again and again: others may have put their own handler there meanwhile. */
void code_file_guard(void)
{
    struct sigaction action = {.sa_sigaction = guard_handle, .sa_flags = SA_SIGINFO | SA_NODEFER}, former;
    if (sigaction(SIGBUS, NULL, &former) || ((former.sa_flags & SA_SIGINFO) && former.sa_sigaction == guard_handle))
        return;
    guard_former = former;
    sigemptyset(&action.sa_mask);
    sigaction(SIGBUS, &action, NULL);
}
