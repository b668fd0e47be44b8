/* ELF symbols: which function or static variable an address belongs to, and the bounds of functions without a symbol
 * from .eh_frame. Names stay in the file's string table until somebody asks for one. A symbol without a size
 * (hand-written assembly) reaches to the next symbol or the end of its section. */
#include "analysis/program/binary/debug_files.h"
#include "base/order.h"

#include <lzma.h>
#include <stdlib.h>
#include <string.h>

enum { MINI_STEP = 1 << 20, MINI_LIMIT = 256 << 20, MINI_DICTIONARY = 128 << 20 };
enum { SYMBOL_LIMIT = 32 * 1024 * 1024, SYMBOL_BACK = 32 };

struct symbol {
    uint64_t start, end;
    const char *name;
    uint8_t rank; /* which of several at one address to believe; higher is better */
    bool sized;
};

struct symbol_list {
    struct symbol *items;
    size_t count, capacity;
};

struct code_symbols {
    struct symbol_list functions, objects;
    struct code_range *unwind; /* from .eh_frame */
    size_t unwind_count;
    struct code_import *imports; /* by slot */
    size_t import_count;
    Elf *mini; /* of .gnu_debugdata */
    void *mini_memory;
};

struct code_import {
    uint64_t slot;
    const char *name;
};

static int symbol_compare(const void *a, const void *b)
{
    const struct symbol *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return strcmp(y->name, x->name); /* the same answer whatever order the table has */
}

static uint8_t symbol_rank(const GElf_Sym *symbol, const char *name)
{
    uint8_t bind = GELF_ST_BIND(symbol->st_info);
    return (GELF_ST_TYPE(symbol->st_info) != STT_NOTYPE) << 4 | (symbol->st_size != 0) << 3 | (name[0] != '_') << 2 |
           (bind == STB_GLOBAL || bind == STB_LOCAL) << 1 | (bind == STB_GLOBAL);
}

/* Marks that the linker sets; they name no variable. */
static bool symbol_is_mark(const char *name)
{
    return name[0] == '.' || name[0] == '$' || name[0] == '\0' ||
           code_is_one_of(name, "_end end _edata edata _etext etext __bss_start __data_start data_start _fini _DYNAMIC "
                                "_GLOBAL_OFFSET_TABLE_ __GNU_EH_FRAME_HDR __TMC_END__");
}

static void symbols_take(struct code_module *module, const GElf_Sym *symbol, const char *name)
{
    const uint8_t type = GELF_ST_TYPE(symbol->st_info);
    const uint64_t start = symbol->st_value + (type == STT_TLS ? LWP_THREAD_LOCAL : 0);
    if (symbol->st_shndx == SHN_UNDEF || symbol->st_shndx == SHN_ABS || !start || !name || symbol_is_mark(name) ||
        (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_OBJECT && type != STT_NOTYPE && type != STT_TLS))
        return;
    const struct code_section *section = code_section_at(module, start);
    if (!section || (type == STT_OBJECT && section->executable))
        return;
    struct symbol_list *list = section->executable ? &module->symbols->functions : &module->symbols->objects;
    if (list->count >= SYMBOL_LIMIT)
        return;
    uint64_t end = start + symbol->st_size;
    if (end < start || end > section->end)
        end = section->end;
    LWP_GROW(&list->items, list->count, &list->capacity);
    list->items[list->count++] = (struct symbol){
        .start = start,
        .end = symbol->st_size ? end : section->end,
        .name = name,
        .rank = symbol_rank(symbol, name),
        .sized = symbol->st_size != 0,
    };
}

/* -flto leaves symbols of debug information ("main.c.9035ca19"), whose values are places in that. */
static bool symbol_is_loaded(Elf *elf, const GElf_Sym *symbol)
{
    GElf_Shdr header;
    return symbol->st_shndx >= SHN_LORESERVE || !gelf_getshdr(elf_getscn(elf, symbol->st_shndx), &header) || (header.sh_flags & SHF_ALLOC);
}

static void symbols_read(struct code_module *module, Elf *elf, uint32_t table_type)
{
    GElf_Shdr header;
    for (Elf_Scn *section = NULL; (section = code_elf_section(elf, section, table_type, NULL, &header));) {
        Elf_Data *data = elf_getdata(section, NULL);
        size_t count = data ? data->d_size / sizeof(Elf64_Sym) : 0;
        for (size_t i = 0; i < count; i++) {
            GElf_Sym symbol;
            if (gelf_getsym(data, (int)i, &symbol) && symbol_is_loaded(elf, &symbol))
                symbols_take(module, &symbol, elf_strptr(elf, header.sh_link, symbol.st_name));
        }
    }
}

/* Sorts, keeps the best of each address, and gives symbols without a size the room up to the next. */
static void symbols_finish(struct symbol_list *list)
{
    if (!list->count)
        return;
    qsort(list->items, list->count, sizeof *list->items, symbol_compare);
    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++)
        if (i + 1 == list->count || list->items[i + 1].start != list->items[i].start)
            list->items[kept++] = list->items[i];
    list->count = kept;
    for (size_t i = 0; i + 1 < kept; i++)
        if (!list->items[i].sized && list->items[i].end > list->items[i + 1].start)
            list->items[i].end = list->items[i + 1].start;
}

/* Which function each slot of the global offset table is for, from the dynamic relocations. */
static void imports_read(struct code_module *module)
{
    struct code_symbols *symbols = module->symbols;
    GElf_Shdr dynamic = {0}, header;
    Elf_Data *names = elf_getdata(code_elf_section(module->elf, NULL, SHT_DYNSYM, NULL, &dynamic), NULL);
    size_t capacity = 0;
    for (Elf_Scn *section = NULL; (section = code_elf_section(module->elf, section, SHT_RELA, NULL, &header));) {
        Elf_Data *data = names && (header.sh_flags & SHF_ALLOC) ? elf_getdata(section, NULL) : NULL;
        size_t count = data ? data->d_size / sizeof(Elf64_Rela) : 0;
        for (size_t i = 0; i < count && symbols->import_count < SYMBOL_LIMIT; i++) {
            GElf_Rela entry;
            GElf_Sym symbol;
            const char *name;
            if (!gelf_getrela(data, (int)i, &entry) ||
                (GELF_R_TYPE(entry.r_info) != R_X86_64_JUMP_SLOT && GELF_R_TYPE(entry.r_info) != R_X86_64_GLOB_DAT) ||
                !gelf_getsym(names, (int)GELF_R_SYM(entry.r_info), &symbol) ||
                !(name = elf_strptr(module->elf, dynamic.sh_link, symbol.st_name)) || !*name)
                continue;
            LWP_GROW(&symbols->imports, symbols->import_count, &capacity);
            symbols->imports[symbols->import_count++] = (struct code_import){entry.r_offset, name};
        }
    }
    LWP_SORT(symbols->imports, symbols->import_count, lwp_by_first);
}

static uint8_t *mini_unpack(const Elf_Data *packed, size_t *bytes)
{
    lzma_stream stream = LZMA_STREAM_INIT;
    uint8_t *memory = NULL;
    size_t room = 0;
    lzma_ret status = lzma_stream_decoder(&stream, MINI_DICTIONARY, 0);
    stream.next_in = packed->d_buf;
    stream.avail_in = packed->d_size;
    while (status == LZMA_OK && room < MINI_LIMIT) {
        uint8_t *more = realloc(memory, room + MINI_STEP);
        if (!more)
            break;
        memory = more;
        stream.next_out = memory + room;
        stream.avail_out = MINI_STEP;
        while (status == LZMA_OK && stream.avail_out)
            status = lzma_code(&stream, LZMA_FINISH);
        room += MINI_STEP;
    }
    *bytes = room - stream.avail_out;
    lzma_end(&stream);
    if (status == LZMA_STREAM_END)
        return memory;
    free(memory);
    return NULL;
}

/* The ELF file packed in .gnu_debugdata ("minidebuginfo", Fedora and its kin): a symbol table of the functions that the
 * dynamic symbols leave out. Unpacked by ourselves and not by libdwfl, to have a say in how large it gets. The caller
 * ends it, then frees *memory. */
static Elf *mini_open(Elf *elf, void **memory)
{
    GElf_Shdr header;
    Elf_Data *packed = elf_rawdata(code_elf_section(elf, NULL, SHT_NULL, ".gnu_debugdata", &header), NULL);
    size_t bytes = 0;
    *memory = packed && packed->d_buf ? mini_unpack(packed, &bytes) : NULL;
    Elf *found = *memory ? elf_memory(*memory, bytes) : NULL;
    if (found && elf_kind(found) == ELF_K_ELF && gelf_getclass(found) == ELFCLASS64)
        return found;
    elf_end(found);
    free(*memory);
    *memory = NULL;
    return NULL;
}

static struct code_symbols *symbols_of(struct code_module *module)
{
    if (module->symbols)
        return module->symbols;
    code_elf_complete(module);
    struct code_symbols *symbols = module->symbols = lwp_zeroed(1, sizeof *symbols);
    if (!module->elf)
        return symbols;
    symbols_read(module, module->debug_elf, SHT_SYMTAB);
    if (module->debug_elf != module->elf)
        symbols_read(module, module->elf, SHT_SYMTAB);
    symbols_read(module, module->elf, SHT_DYNSYM);
    symbols->mini = mini_open(module->elf, &symbols->mini_memory);
    if (symbols->mini)
        symbols_read(module, symbols->mini, SHT_SYMTAB);
    symbols_finish(&symbols->functions);
    symbols_finish(&symbols->objects);
    symbols->unwind = code_unwind_ranges(module->elf, &symbols->unwind_count);
    LWP_SORT(symbols->unwind, symbols->unwind_count, lwp_by_first);
    imports_read(module);
    return symbols;
}

void code_symbols_free(struct code_symbols *symbols)
{
    if (!symbols)
        return;
    free(symbols->functions.items);
    free(symbols->objects.items);
    free(symbols->unwind);
    free(symbols->imports);
    elf_end(symbols->mini);
    free(symbols->mini_memory);
    free(symbols);
}

/* The symbol that holds the address: the nearest one before it that reaches so far. */
static const struct symbol *symbol_find(const struct symbol_list *list, uint64_t address)
{
    size_t at = LWP_COUNT_UP_TO(list->items, list->count, start, address);
    for (size_t back = 0; at > 0 && back < SYMBOL_BACK; back++, at--)
        if (address < list->items[at - 1].end)
            return &list->items[at - 1];
    return NULL;
}

static bool unwind_find(const struct code_symbols *symbols, uint64_t address, struct code_range *range)
{
    size_t count = LWP_COUNT_UP_TO(symbols->unwind, symbols->unwind_count, low, address);
    if (!count || address >= symbols->unwind[count - 1].high)
        return false;
    *range = symbols->unwind[count - 1];
    return true;
}

bool code_function_at(struct code_module *module, uint64_t address, struct code_range *range, const char **name)
{
    struct code_symbols *symbols = symbols_of(module);
    const struct symbol *symbol = symbol_find(&symbols->functions, address);
    struct code_range unwind;
    *name = NULL;
    /* A label without a size may be inside a function or far behind the last one. */
    if (!(symbol && symbol->sized) && unwind_find(symbols, address, &unwind)) {
        if (symbol && symbol->start >= unwind.low)
            *name = symbol->name;
        *range = unwind;
        return true;
    }
    if (symbol) {
        *name = symbol->name;
        *range = (struct code_range){symbol->start, symbol->end};
    }
    return symbol;
}

bool lwp_code_data_is_constant(struct lwp_code *code, uint32_t module_index, uint64_t address)
{
    struct code_module *module = code_module_at(code, module_index);
    const struct code_section *section = module ? code_section_at(module, address) : NULL;
    return section && section->constant;
}

uint64_t lwp_code_thread_local(const struct lwp_code *code, uint32_t module)
{
    const struct code_module *in = code_module_at(code, module);
    return in ? in->thread_local : 0;
}

bool lwp_code_data_symbol(struct lwp_code *code, uint32_t module_index, uint64_t address, struct lwp_symbol *found)
{
    struct code_module *module = code_module_at(code, module_index);
    const struct symbol *symbol = module ? symbol_find(&symbols_of(module)->objects, address) : NULL;
    if (!symbol)
        return false;
    *found = (struct lwp_symbol){
        .name = code_demangle(code, symbol->name),
        .start = symbol->start,
        .bytes = symbol->end - symbol->start,
        .until = symbol->end,
    };
    const struct symbol_list *objects = &module->symbols->objects;
    const struct symbol *next = symbol + 1, *last = objects->items + objects->count;
    while (next < last && next->start <= symbol->start)
        next++;
    if (next < last && next->start < found->until)
        found->until = next->start;
    if (address >= found->until) /* behind a smaller symbol inside it */
        found->until = symbol->start;
    return true;
}

const char *code_import_at_slot(struct code_module *module, uint64_t address)
{
    struct code_symbols *symbols = symbols_of(module);
    size_t count = LWP_COUNT_UP_TO(symbols->imports, symbols->import_count, slot, address);
    return count && symbols->imports[count - 1].slot == address ? symbols->imports[count - 1].name : NULL;
}

/* A stub of the procedure linkage table: [endbr64] [bnd] jmp *slot(%rip). */
const char *code_import_at_stub(struct code_module *module, uint64_t address)
{
    enum { STUB_BYTES = 16, JUMP_BYTES = 6 };
    address &= ~(uint64_t)(STUB_BYTES - 1);
    size_t available;
    const uint8_t *bytes = code_bytes(module, address, &available);
    if (!bytes || available < STUB_BYTES)
        return NULL;
    size_t at = memcmp(bytes, "\xf3\x0f\x1e\xfa", 4) ? 0 : 4;
    at += bytes[at] == 0xf2;
    if (bytes[at] != 0xff || bytes[at + 1] != 0x25)
        return NULL;
    int32_t displacement;
    memcpy(&displacement, bytes + at + 2, sizeof displacement);
    return code_import_at_slot(module, address + at + JUMP_BYTES + (uint64_t)(int64_t)displacement);
}
