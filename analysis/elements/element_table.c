/* hashbrown's RawTable<T>: as many buckets as a power of two says, filled up in front to a multiple of a group; behind
 * them one control byte for each, and those of the first group once more. Buckets are counted backwards from there, which
 * makes no difference to where in a bucket a field is. */
#include "analysis/elements/element_table.h"

enum { GROUP = 16 }; /* bytes that SSE2 compares at once */

bool lwp_element_table(uint64_t block_bytes, uint64_t element_bytes, uint64_t *start, uint64_t *end)
{
    for (uint64_t buckets = 1; element_bytes && buckets <= block_bytes / element_bytes; buckets *= 2) {
        uint64_t bytes = buckets * element_bytes;
        *end = (bytes + GROUP - 1) / GROUP * GROUP;
        *start = *end - bytes;
        if (*end + buckets + GROUP == block_bytes)
            return true;
    }
    return false;
}
