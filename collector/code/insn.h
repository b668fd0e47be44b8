/* One instruction as the sampler needs it: length, memory operand, what it does to integer registers.
 * Decoded by Zydis (loaded privately) once and kept in a small cache of the thread. */
#ifndef LWP_COLLECTOR_CODE_INSN_H
#define LWP_COLLECTOR_CODE_INSN_H

#include <stdbool.h>
#include <stdint.h>

/* What the forward walk can compute; all else only spoils its destinations. */
enum lwp_insn_op {
    LWP_OP_OTHER,
    LWP_OP_NOP, /* no effect on integer registers or flags */
    LWP_OP_MOV, LWP_OP_MOVSX, LWP_OP_LEA, LWP_OP_NOT, LWP_OP_IMUL,
    LWP_OP_ADD, LWP_OP_SUB, LWP_OP_CMP, LWP_OP_TEST, LWP_OP_AND, LWP_OP_OR, LWP_OP_XOR, LWP_OP_INC, LWP_OP_DEC, LWP_OP_NEG,
    LWP_OP_SHL, LWP_OP_SHR, LWP_OP_SAR,
    LWP_OP_WIDEN, /* cbw, cwde, cdqe */
    LWP_OP_SIGN,  /* cwd, cdq, cqo */
    LWP_OP_MUL, LWP_OP_DIV, LWP_OP_IDIV,
    LWP_OP_CMOV, LWP_OP_SET,
    LWP_OP_JMP, /* direct */
    LWP_OP_JCC,
    LWP_OP_PUSH, LWP_OP_POP, LWP_OP_LEAVE, /* 8 bytes */
    LWP_OP_CALL,    /* direct */
    LWP_OP_CALL_BY, /* to the address in its first operand */
    LWP_OP_RET,
    LWP_OP_STOP, /* indirect jump, syscall, ...: the path is not known beyond it */
};

enum lwp_operand_kind { LWP_OPERAND_NONE, LWP_OPERAND_REG, LWP_OPERAND_IMM, LWP_OPERAND_MEM };

struct lwp_operand {
    uint8_t kind, reg, bytes; /* reg: 0..15; 16..19: ah, ch, dh, bh */
    int64_t imm;
};

enum { LWP_REG_NONE = 0xff, LWP_REG_RIP = 0xfe, LWP_SEGMENT_NONE = 0, LWP_SEGMENT_FS = 1, LWP_SEGMENT_GS = 2 };

struct lwp_insn {
    uint64_t ip;
    uint8_t length, op, condition; /* condition: the low four bits of jcc, cmov, set */
    bool load, store;     /* an explicit data access at the memory operand */
    bool string;          /* accesses at RSI and/or RDI */
    bool rep_string;      /* and again: this is one of its steps */
    bool stack;           /* accesses the stack without naming it: push, pop, call, ret, leave */
    bool vector, floating, gather, invalid;
    bool masked;          /* touches only those elements that a vector or mask register names: perhaps none */
    bool writes_flags;
    uint8_t widened;      /* LWP_OP_WIDEN, LWP_OP_SIGN: bytes of the result */
    uint8_t base, index, scale, segment;
    uint16_t bytes;       /* of the access */
    uint8_t element;      /* bytes of one floating point number of the operand; 0: not floating point */
    bool syscall;
    int64_t displacement; /* RIP-relative: the address itself */
    uint16_t spoils;      /* integer registers written */
    struct lwp_operand operand[3];
    uint64_t target;      /* of direct jumps and calls */
};

/* One access by an instruction. */
struct lwp_insn_access {
    uint64_t ip, address; /* address 0: not known */
    uint16_t bytes;
    bool load, store, vector, floating;
    bool apart;      /* whether there were others since the one before it is not known */
    uint8_t element; /* bytes of one floating point number; 0: not floating point */
};

bool lwp_insn_init(void); /* loads Zydis */

/* Decodes `code`, the `room` readable bytes (NULL: none) at `ip`. `insn->invalid` when they are no instruction. */
void lwp_insn_decode(struct lwp_insn *insn, uint64_t ip, const uint8_t *code, unsigned room);

/* Only how long an instruction is and where it may jump: five times as fast, for whole functions. */
struct lwp_insn_flow {
    uint8_t length, op, condition; /* op: LWP_OP_JMP, LWP_OP_JCC or LWP_OP_OTHER */
    bool indirect;                 /* a jump through a register or memory */
    uint64_t target;               /* of direct jumps */
    uint64_t table;                /* an address it names that may be a jump table's or a label's; 0: none */
};

/* False: no instruction. */
bool lwp_insn_flow(struct lwp_insn_flow *flow, uint64_t ip, const uint8_t *code, unsigned room);

/* Whether the function does not simply go on behind it. */
static inline bool lwp_insn_leaves(const struct lwp_insn *insn)
{
    return insn->op == LWP_OP_CALL || insn->op == LWP_OP_CALL_BY || insn->op == LWP_OP_RET || insn->op == LWP_OP_STOP;
}

static inline bool lwp_insn_accesses(const struct lwp_insn *insn)
{
    return insn->load || insn->store;
}

static inline struct lwp_insn_access lwp_insn_access(const struct lwp_insn *insn, uint64_t address)
{
    return (struct lwp_insn_access){.ip = insn->ip, .address = address, .bytes = insn->bytes, .load = insn->load, .store = insn->store,
                                    .vector = insn->vector, .floating = insn->floating, .element = insn->element};
}

/* ---- the processor's flags, and whether they meet the condition of a jump, cmov or set: the low four bits of its opcode ---- */

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
