/* One decoded instruction, reduced to what control flow, operands and register values need. */
#ifndef LWP_ANALYSIS_PROGRAM_FLOW_DECODE_H
#define LWP_ANALYSIS_PROGRAM_FLOW_DECODE_H

#include "analysis/program/binary/module.h"
#include "analysis/program/flow/machine_code.h"

enum code_flow_kind {
    CODE_FLOW_NEXT,     /* goes on with the next instruction */
    CODE_FLOW_BRANCH,   /* may also go to `target` */
    CODE_FLOW_JUMP,     /* goes to `target` only */
    CODE_FLOW_INDIRECT, /* jumps to somewhere computed */
    CODE_FLOW_CALL,     /* calls `target` (0: unknown or computed) and comes back unless it never returns */
    CODE_FLOW_END,      /* return, trap: control does not go on */
};

struct code_instruction {
    uint8_t length; /* 0: no instruction here */
    uint8_t flow;
    bool padding; /* does nothing (nop) */
    uint64_t target;
    uint64_t call_slot; /* of a call or jump through a pointer at a fixed address; 0: none */
    struct lwp_memory_operand memory;
    uint32_t written;         /* general registers it may change, a bit each */
    uint32_t written_vectors; /* xmm, ymm, zmm 0 to 31 likewise */
    uint32_t read, read_vectors; /* ... whose value goes into what it writes, not those of an address in memory */
    uint16_t mnemonic; /* Zydis' number; 0 without operands */
    bool basic;        /* of the general registers' instructions: no vectors, no x87 */
    bool puts;                /* stores what is in the register `put`, or a constant (-1), and does not load */
    int64_t constant;         /* ... which constant */
    int8_t put;               /* general register 0 to 15; vector register from CODE_VECTORS on */
    bool flags;               /* writes the processor's flags */
    bool weighs;              /* compares two values, or makes one of two, neither of which is a constant */
    bool outside;             /* asks the kernel, a device or a source of random numbers */
    bool halves;              /* shifts to the right by one */
    bool chooses;             /* moves on a condition */
    bool counts;              /* adds a constant to a register */
    bool loads;               /* `destination` = 8 bytes at `memory` */
    bool stores;              /* 8 bytes at `memory` = `source` */
    int8_t destination, source;
    int8_t narrow_destination; /* = 4 bytes at `memory`, perhaps sign-extended; -1: no such load */
    int8_t narrow_source;      /* 4 bytes at `memory` = ...; -1: no such store */
    bool counts_memory;        /* adds the constant linear.plus to what is at `memory` */
    bool multiplies;           /* `factor_to` *= `factor`, or *= what is at `memory` (-1), or = `constant` * that (-2) */
    int8_t factor_to, factor;
    bool compares; /* ... registers `compared`, and nothing else */
    int8_t compared[2];
    int8_t limited; /* ... or this one with the constant `limit`; 0: it compares none so */
    int64_t limit;
    bool unless_equal;   /* a branch that is taken when what was compared differs */
    struct code_linear { /* `to` = base + index * scale + plus; a register of -1 counts as 0 */
        bool exists;
        bool narrow;  /* computed in 32 bits: no pointer, or a constant one */
        bool selects; /* `to` = index (scale 1), or stays what it was (cmov) */
        bool loads;   /* `to` = base + 8 bytes at the memory operand */
        int8_t to, base, index;
        int32_t scale;
        int64_t plus;
    } linear;
};

enum { CODE_VECTORS = 32 };
enum { CODE_CALL_CLOBBERS = 0x0fc7 }; /* rax rcx rdx rsi rdi r8-r11 */
enum { /* in ModRM numbering, as everywhere here */
    CODE_REGISTERS = 16, CODE_RAX = 0, CODE_RCX = 1, CODE_RDX = 2, CODE_RSP = 4, CODE_RBP = 5, CODE_RSI = 6, CODE_RDI = 7, CODE_R8 = 8,
    CODE_R9 = 9
};

/* General registers, then vector ones from CODE_REGISTERS on, a bit each: those of `written` and `read`, and of an address. */
static inline uint64_t code_values_written(const struct code_instruction *instruction)
{
    return instruction->written | (uint64_t)instruction->written_vectors << CODE_REGISTERS;
}

static inline uint64_t code_values_read(const struct code_instruction *instruction)
{
    return instruction->read | (uint64_t)instruction->read_vectors << CODE_REGISTERS;
}

static inline uint64_t code_values_address(const struct lwp_memory_operand *memory)
{
    return (memory->base >= 0 ? (uint64_t)1 << memory->base : 0) | (memory->index >= 0 ? (uint64_t)1 << memory->index : 0);
}

/* Cycles from what an instruction decoded with operands reads to what it writes, on processors of today. */
uint8_t code_cycles(const struct code_instruction *instruction);

/* The register that a constant and the carry are added to, or taken from: one more or not; -1: it is no such instruction. */
int8_t code_carries_to(const struct code_instruction *instruction);

/* Whether it adds, or multiplies, floating-point numbers: one, or a vector of them. A product that is added to something is a product. */
bool code_is_sum(const struct code_instruction *instruction);
bool code_is_product(const struct code_instruction *instruction);
/* Adds a register to a multiple of one, and no more: of CODE_SCALED_CYCLES, or of one on some processors (Zen 5). */
bool code_scales(const struct code_instruction *instruction);

/* Whether what it writes is a value as it was, in memory or in another register: a move, perhaps on a condition. */
bool code_moves(const struct code_instruction *instruction);

/* Whether what it writes says whether a condition holds: 0 or 1 (setcc). */
bool code_sets(const struct code_instruction *instruction);

/* Of an instruction that adds to a register, or multiplies it, or keeps the smaller or larger: which of these, with the same number for
 * those that may be done in any order. 0: it is none. */
uint16_t code_gathers(const struct code_instruction *instruction);

/* The register whose value plus a constant goes into `linear.to`, perhaps itself (mov, add, sub, inc, dec, lea); -1: it
 * is not one register's. */
int8_t code_copied_register(const struct code_linear *linear);

/* `with_operands` false leaves `memory` and the register parts empty, and is faster. */
struct code_instruction code_decode(const uint8_t *bytes, size_t available, uint64_t address, bool with_operands);
/* The same of what the module's file has at the address; length 0 where it has nothing. */
struct code_instruction code_decode_at(const struct code_module *module, uint64_t address, bool with_operands);

#endif
