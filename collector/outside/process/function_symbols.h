/* Where functions begin and end by an ELF file's symbol table: of files without unwind table, as Go's. */
#ifndef LWP_COLLECTOR_OUTSIDE_PROCESS_FUNCTION_SYMBOLS_H
#define LWP_COLLECTOR_OUTSIDE_PROCESS_FUNCTION_SYMBOLS_H

#include <stdbool.h>
#include <stdint.h>

struct lwp_function_symbols;

/* Of the file; NULL: it has none. */
struct lwp_function_symbols *lwp_function_symbols_read(int fd);
void lwp_function_symbols_free(struct lwp_function_symbols *symbols);

/* Addresses are the file's. */
bool lwp_function_symbols_at(const struct lwp_function_symbols *symbols, uint64_t address, uint64_t *low, uint64_t *high);

#endif
