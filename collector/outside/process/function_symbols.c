#include "collector/outside/process/function_symbols.h"

#include "base/arena.h"
#include "base/order.h"

#include <gelf.h>
#include <stdlib.h>

enum { SYMBOLS_MAX = 1 << 24 };

struct function_range {
    uint64_t low, high;
};

struct lwp_function_symbols {
    struct function_range *items;
    size_t count, room;
};

static int range_order(const void *a, const void *b)
{
    const struct function_range *x = a, *y = b;
    return x->low != y->low ? (x->low < y->low ? -1 : 1) : (x->high > y->high) - (x->high < y->high);
}

static void symbols_of_section(Elf_Scn *section, const GElf_Shdr *header, struct lwp_function_symbols *symbols)
{
    Elf_Data *data = elf_getdata(section, NULL);
    size_t count = data && header->sh_entsize ? header->sh_size / header->sh_entsize : 0;
    for (size_t i = 0; i < count && i < SYMBOLS_MAX; i++) {
        GElf_Sym symbol;
        if (!gelf_getsym(data, (int)i, &symbol))
            return;
        if (GELF_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_shndx != SHN_UNDEF && symbol.st_size)
            LWP_APPEND(&symbols->items, &symbols->count, &symbols->room,
                       (struct function_range){symbol.st_value, symbol.st_value + symbol.st_size});
    }
}

struct lwp_function_symbols *lwp_function_symbols_read(int fd)
{
    elf_version(EV_CURRENT);
    Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
    struct lwp_function_symbols *symbols = lwp_zeroed(1, sizeof *symbols);
    for (Elf_Scn *section = NULL; elf && (section = elf_nextscn(elf, section));) {
        GElf_Shdr header;
        if (gelf_getshdr(section, &header) && (header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM))
            symbols_of_section(section, &header, symbols);
    }
    elf_end(elf);
    if (!symbols->count) {
        lwp_function_symbols_free(symbols);
        return NULL;
    }
    qsort(symbols->items, symbols->count, sizeof *symbols->items, range_order);
    return symbols;
}

void lwp_function_symbols_free(struct lwp_function_symbols *symbols)
{
    if (symbols)
        free(symbols->items);
    free(symbols);
}

bool lwp_function_symbols_at(const struct lwp_function_symbols *symbols, uint64_t address, uint64_t *low, uint64_t *high)
{
    const size_t begun = LWP_COUNT_UP_TO(symbols->items, symbols->count, low, address);
    if (!begun || address >= symbols->items[begun - 1].high)
        return false;
    *low = symbols->items[begun - 1].low;
    *high = symbols->items[begun - 1].high;
    return true;
}
