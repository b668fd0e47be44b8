/* The integer part of some instructions, executed on a copy of the registers; nothing of the program's is changed. What cannot be computed
 * (vector results, memory that was stored to meanwhile, operations that are not known here) becomes unknown. */
#ifndef LWP_COLLECTOR_CODE_EXECUTION_H
#define LWP_COLLECTOR_CODE_EXECUTION_H

#include "collector/code/insn.h"
#include "collector/code/predecessors.h"
#include "collector/code/program.h"
#include "collector/code/registers.h"

#include <stdbool.h>
#include <stdint.h>

enum { LWP_RAX = 0, LWP_RDX = 2, LWP_STACK_POINTER = 4, LWP_FRAME_POINTER = 5 };
enum { LWP_EXECUTION_STORES = 32, LWP_EXECUTION_CHUNKS = 8, LWP_EXECUTION_CHUNK_BYTES = 256 };

struct lwp_computed {
    uint64_t bits;
    bool known;
};

struct lwp_execution {
    const struct lwp_program *program;
    enum lwp_read how;
    struct lwp_registers registers;
    uint64_t flags;
    unsigned flags_known; /* FLAG_* */
    struct {
        uint64_t address;
        unsigned bytes;
        struct lwp_computed value;
    } stored[LWP_EXECUTION_STORES]; /* there memory will differ from what it is */
    unsigned stores;                /* more than LWP_EXECUTION_STORES: anywhere */
    unsigned reads;
    struct lwp_execution_chunk {
        uint64_t address; /* 0: empty */
        uint8_t bytes[LWP_EXECUTION_CHUNK_BYTES] __attribute__((aligned(8)));
    } chunk[LWP_EXECUTION_CHUNKS]; /* what was read, since a system call a value is dear */
};

/* Memory is read as `how` says. */
void lwp_execution_begin(struct lwp_execution *execution, struct lwp_code_cache *cache, const struct lwp_registers *start, uint64_t flags,
                         enum lwp_read how);

struct lwp_computed lwp_execution_get(struct lwp_execution *execution, const struct lwp_insn *insn, unsigned operand);

/* What the instruction does to registers and flags; lwp_execution_execute(): and to memory, but for calls and returns. */
void lwp_execution_step(struct lwp_execution *execution, const struct lwp_insn *insn);
void lwp_execution_execute(struct lwp_execution *execution, const struct lwp_insn *insn);

/* What the instruction writes to registers and flags is not known from here on. */
void lwp_execution_spoil(struct lwp_execution *execution, const struct lwp_insn *insn);

/* Arithmetic of two operands, the first also the destination (but for cmp and test). */
void lwp_execution_arithmetic(struct lwp_execution *execution, const struct lwp_insn *insn);
void lwp_execution_set_flags(struct lwp_execution *execution, uint64_t result, bool carry, bool overflow, unsigned bytes);

void lwp_execution_push(struct lwp_execution *execution, struct lwp_computed value);
struct lwp_computed lwp_execution_pop(struct lwp_execution *execution);

/* Where the program goes on after the instruction; 0: that depends on flags that are not known. */
uint64_t lwp_execution_next(const struct lwp_execution *execution, const struct lwp_insn *insn);

#endif
