/* Numbers for accesses: each access of a superblock has one for each call path that it runs on. At its start a
 * superblock looks whether the path is that of the last time, and if not asks for the numbers of that path. */
#ifndef LWP_EXACT_ACCESS_NUMBERS_H
#define LWP_EXACT_ACCESS_NUMBERS_H

#include "collector/exact/contexts.h"
#include "collector/exact/tool.h"

#include <stdint.h>

enum { LWP_NUMBERED_MOST = 1024 }; /* accesses of a superblock */

struct lwp_numbered_access {
    Addr ip;
    UShort bytes;
    UChar flags; /* enum lwps_access_flag */
};

struct lwp_numbered_block {
    uint32_t node, base; /* of the last time: its first access on that path */
    uint32_t id, count;
    struct lwp_numbered_access access[];
};

/* For so many accesses at most, none yet; kept for good. */
struct lwp_numbered_block *lwp_numbers_block(UInt most);
/* The index of an access in it, which is given to what is alike, too: VEX unrolls loops. Of those beyond
 * LWP_NUMBERED_MOST the last one's. */
UInt lwp_numbers_index(struct lwp_numbered_block *block, const struct lwp_numbered_access *access);

/* Called from translated code: sets `node` and `base` to those of the running thread. */
VG_REGPARM(1) void lwp_numbers_enter(struct lwp_numbered_block *block);

/* The access, and the node of the call tree it was on; NULL: none, or one that is not told apart any more. */
const struct lwp_numbered_access *lwp_numbers_access(uint32_t number, uint32_t *node);

/* The same as one end of a pair's record; returns its call path's id in the file, 0: unknown. */
uint32_t lwp_numbers_in_file(uint32_t number, struct lwp_context_map *contexts, struct lwps_writer *file,
                             struct lwps_access *access);

#endif
