/* Blocks of hash tables. */
#ifndef LWP_ANALYSIS_ELEMENTS_ELEMENT_TABLE_H
#define LWP_ANALYSIS_ELEMENTS_ELEMENT_TABLE_H

#include <stdbool.h>
#include <stdint.h>

/* Where the elements of a table of Rust's library (hashbrown's RawTable<T>) lie in a block of so many bytes. False: no
 * such table has that many. */
bool lwp_element_table(uint64_t block_bytes, uint64_t element_bytes, uint64_t *start, uint64_t *end);

#endif
