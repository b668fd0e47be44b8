/* Numbers for accesses: each access of a superblock has one for each call path that it runs on. Superblocks of neighbouring
 * code, which mostly run on the same paths, share a group, whose accesses have numbers that follow each other. At its start a
 * superblock looks whether its group's path is that of the last time, and if not asks for the group's numbers on that path. */
#ifndef LWP_COLLECTOR_EXACT_TRACE_ACCESS_NUMBERS_H
#define LWP_COLLECTOR_EXACT_TRACE_ACCESS_NUMBERS_H

#include "collector/exact/program/contexts.h"
#include "collector/exact/valgrind/tool.h"
#include "libvex_ir.h"

#include <stdint.h>

enum {
    LWP_NUMBERED_MOST = 1024,       /* accesses of a superblock */
    LWP_NUMBERED_NOBODY = 0x3ffffff, /* from here on numbers mean no access */
};

struct lwp_numbered_access {
    Addr ip;
    UShort bytes;
    UChar flags; /* enum lwps_access_flag */
};

struct lwp_numbered_group {
    uint32_t node, base; /* of the last time: its first access on that path */
    uint32_t id, used, room; /* accesses that are some superblock's; that there are */
    struct lwp_numbered_access access[];
};

/* The accesses of a superblock. */
struct lwp_numbered_block {
    struct lwp_numbered_group *group; /* kept for good */
    uint32_t first, count;            /* in the group */
};

/* For so many accesses at most, none yet, of a superblock with code at `ip`. */
struct lwp_numbered_block lwp_numbers_block(Addr ip, UInt most);
/* The index in the group of an access of the superblock, which is given to what is alike, too: VEX unrolls loops. Of those
 * beyond LWP_NUMBERED_MOST the last one's. */
UInt lwp_numbers_index(struct lwp_numbered_block *block, const struct lwp_numbered_access *access);

/* Emits, at a superblock's start, that its group is on the running thread's path; and how it reads the base, an I64. */
IRExpr *lwp_numbers_emit(IRSB *out, struct lwp_numbered_group *group);
IRExpr *lwp_numbers_base(IRSB *out, const struct lwp_numbered_group *group);

/* Sets `node` and `base` to those of the running thread. */
void lwp_numbers_enter(struct lwp_numbered_group *group);

/* The access, and the node of the call tree it was on; NULL: none, or beyond what is distinguished. */
const struct lwp_numbered_access *lwp_numbers_access(uint32_t number, uint32_t *node);

/* The same as one end of a pair's record; returns its call path's id in the file, 0: unknown. */
uint32_t lwp_numbers_in_file(uint32_t number, struct lwp_context_map *contexts, struct lwps_writer *file,
                             struct lwps_access *access);

#endif
