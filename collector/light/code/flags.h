/* The processor's flags, and whether they meet the condition of a jump, cmov or set: the low four bits of its opcode. */
#ifndef LWP_COLLECTOR_LIGHT_CODE_FLAGS_H
#define LWP_COLLECTOR_LIGHT_CODE_FLAGS_H

#include <stdbool.h>
#include <stdint.h>

enum { FLAG_CF = 1, FLAG_PF = 4, FLAG_ZF = 0x40, FLAG_SF = 0x80, FLAG_OF = 0x800 };
enum { FLAGS_ALL = FLAG_CF | FLAG_PF | FLAG_ZF | FLAG_SF | FLAG_OF };

static inline bool lwp_flags_meet(uint64_t flags, unsigned condition)
{
    bool cf = flags & FLAG_CF, zf = flags & FLAG_ZF, sf = flags & FLAG_SF, of = flags & FLAG_OF, pf = flags & FLAG_PF, is;
    switch (condition >> 1) {
    case 0: is = of; break;
    case 1: is = cf; break;
    case 2: is = zf; break;
    case 3: is = cf || zf; break;
    case 4: is = sf; break;
    case 5: is = pf; break;
    case 6: is = sf != of; break;
    default: is = zf || sf != of; break;
    }
    return is != (condition & 1);
}

/* Whether those are among `known` that the condition looks at. */
static inline bool lwp_flags_known(unsigned known, unsigned condition)
{
    static const unsigned looks_at[] = {FLAG_OF, FLAG_CF, FLAG_ZF, FLAG_CF | FLAG_ZF,
                                        FLAG_SF, FLAG_PF, FLAG_SF | FLAG_OF, FLAG_ZF | FLAG_SF | FLAG_OF};
    return !(looks_at[condition >> 1] & ~known);
}

#endif
