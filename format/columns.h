/* Records by column: in a sealed file bytes of the same meaning stand together, which zstd packs far better than records
 * one after the other. Nothing is re-encoded: joining gives back the very bytes that were split. */
#ifndef LWP_FORMAT_COLUMNS_H
#define LWP_FORMAT_COLUMNS_H

#include <stddef.h>
#include <stdint.h>

/* Splits `size` bytes of whole blocks of records; LWPS_COLUMNS_EXTRA bytes more fit the result. Returns its size, or 0
 * when there is anything else among them. */
enum { LWPS_COLUMNS_EXTRA = 256 };

size_t lwps_columns_split(const uint8_t *blocks, size_t size, uint8_t *to, size_t room);

/* The reverse: at most `room` bytes of whole blocks. Returns 0 when `columns` cannot be the result of splitting. */
size_t lwps_columns_join(const uint8_t *columns, size_t size, uint8_t *to, size_t room);

#endif
