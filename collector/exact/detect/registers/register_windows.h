/* What superblocks write to registers, where only windows of the run count. Translated code leaves each value that it
 * writes in a word, and how far it got; outside of a window nobody reads them. Inside of one, where each superblock
 * is handed on when the next begins (trace.h), its writes are gone through in order, from a copy of the registers taken as
 * it began. Who wrote a register before the window is not known. A superblock that a fault leaves counts up to its last
 * exit before. */
#ifndef LWP_COLLECTOR_EXACT_DETECT_REGISTERS_REGISTER_WINDOWS_H
#define LWP_COLLECTOR_EXACT_DETECT_REGISTERS_REGISTER_WINDOWS_H

#include "collector/exact/valgrind/tool.h"

#include <stdbool.h>

enum lwp_register_write_kind {
    LWP_REGISTER_SET,     /* does not count */
    LWP_REGISTER_INTEGER, /* counts if all of it is the same */
    LWP_REGISTER_NUMBERS, /* floating point, one by one */
};

/* Of one register. Offsets are those of the guest's state, or from the register's. */
struct lwp_register_write {
    ULong what;         /* of the first value (register_counts.h); the write's number is from the superblock's first */
    ULong value;        /* if `known` */
    UShort word;        /* of the superblock's, where the value is, else */
    UShort base;        /* the register */
    UShort writer;      /* who wrote it, of its integer */
    UChar kind;         /* enum lwp_register_write_kind */
    UChar from, bytes;  /* of the register that have that value */
    UChar low, high;    /* of the register that count */
    UChar element;      /* bytes of a number */
    UChar part;         /* bytes whose writer changes, from `writer` on, of an integer; 0: lanes from `low` to `high` */
    Char bias;          /* if `turns` */
    bool known;
    bool clears_upper;  /* upper half of a vector register */
    bool turns;         /* x87: the word behind says, with `bias`, which register */
};

/* The parts of a superblock: what it has done if it is left at the end of this one. */
struct lwp_register_part {
    UInt writes, instructions, bytes[2][2];
};

struct lwp_registers_site {
    struct lwp_numbered_group *numbers;
    struct lwp_register_write *writes;
    struct lwp_register_part *parts;
    UInt write_count, part_count;
    UInt done; /* the word that says how many of its parts, each up to an exit, have run */
};

/* Of a superblock with so many parts and writes at most; kept for good, without the room that was not needed. */
struct lwp_registers_site *lwp_registers_site_new(UInt parts, UInt writes);
void lwp_registers_site_done(struct lwp_registers_site *site);

void lwp_register_windows_start(void);
/* A window is entered: nobody has written anything. */
void lwp_register_windows_open(void);
/* In a window: the superblock begins; it has run. `words`: its words of the trace's buffer (window_words.h). */
void lwp_register_windows_begin(const struct lwp_registers_site *site, ULong *words);
void lwp_register_windows_ran(const struct lwp_registers_site *site, const ULong *words);

#endif
