#include "collector/exact/detect/values/value_code.h"

#include "collector/exact/detect/values/value_emit.h"
#include "collector/exact/detect/values/value_memory_code.h"
#include "collector/exact/detect/values/value_step_code.h"

#include <stddef.h>

enum { STEP_MOST = 256, WORD_MOST = 32, EXIT_MOST = 64, BLOCK_MOST = 128 };

/* Asks for the memory that some superblock will access, if the word is an address; if it is none that does no harm. */
static void code_ahead(uint32_t word)
{
    lwp_machine_memory(0x8b, RCX, R14, (LWP_VALUE_AHEAD + word) * sizeof(uint64_t));
    lwp_machine_move(RDX, RCX);
    lwp_machine_shift(4, RDX, 64 - LWP_VALUE_ADDRESS_BITS);
    lwp_machine_shift(5, RDX, 64 - LWP_VALUE_ADDRESS_BITS + LWP_VALUE_LEAF_BITS);
    lwp_emit_leaf();
    lwp_machine_byte(0x81); /* and ecx */
    lwp_machine_byte(0xe0 | RCX);
    lwp_machine_word((1u << LWP_VALUE_LEAF_BITS) - 1);
    lwp_machine_byte(0x0f); /* prefetcht0 (%rdx, %rcx, 2): 4 bytes have 8 */
    lwp_machine_byte(0x18);
    lwp_machine_byte(0x0c);
    lwp_machine_byte(0x4a);
}
_Static_assert(LWP_VALUE_PIECE * 2 == sizeof(uint64_t), "the shadow of an address is at twice its distance");

/* r14 points behind the first word. */
static void code_begin(const struct lwp_value_words *words)
{
    if (words->path) {
        lwp_machine_constant(RAX, (uintptr_t)words->path);
        lwp_machine_byte(0x8b); /* mov (%rax), %ecx */
        lwp_machine_byte(0x08);
        lwp_machine_byte(0x8b); /* mov 4(%rax), %ebp */
        lwp_machine_byte(0x68);
        lwp_machine_byte(sizeof *words->path);
        lwp_machine_memory(0x3b, RCX, RBX, offsetof(struct lwp_values, path)); /* compare */
        lwp_machine_byte(0x74); /* if equal: over the jump */
        lwp_machine_byte(5);
        lwp_machine_jump_to(lwp_emitted.codes->leave);
    }
    for (uint32_t i = 0; i <= words->count; i++)
        code_ahead(i);
}

/* Its steps end here: what it has computed is counted, and the next superblock runs. */
static void code_next(uint32_t computed, const struct lwp_value_words *words)
{
    if (computed) {
        lwp_machine_memory(0x81, 0, RBX, offsetof(struct lwp_values, computed));
        lwp_machine_word(computed);
    }
    lwp_machine_registers(0x81, 0, R14); /* add */
    lwp_machine_word((words->count + 1) * (uint32_t)sizeof(uint64_t));
    lwp_machine_byte(0x49); /* mov -8(%r14), %rax */
    lwp_machine_byte(0x8b);
    lwp_machine_byte(0x46);
    lwp_machine_byte(0xf8);
    lwp_machine_memory(0x8b, RAX, RAX, lwp_emitted.codes->runner);
    lwp_machine_byte(0xff); /* jmp *(%rax) */
    lwp_machine_byte(0x20);
}
_Static_assert(offsetof(struct lwp_value_runner, code) == 0, "where the code jumps to");

/* Left here if no more exits than `exit` were passed. */
static void code_exit(uint32_t exit, uint32_t passed)
{
    lwp_machine_memory(0x81, 7, R14, passed * sizeof(uint64_t)); /* compare */
    lwp_machine_word(exit);
    lwp_emitted.exits[exit] = (struct lwp_exit){lwp_machine_jump(4), lwp_emitted.computed};
}

const void *lwp_value_code(struct lwp_value_codes *codes, const struct lwp_value_steps *steps, const struct lwp_value_words *words)
{
    size_t most = BLOCK_MOST + (size_t)steps->count * STEP_MOST + (words->count + 1) * WORD_MOST + (steps->exits + 1) * EXIT_MOST;
    if (steps->exits > LWP_EXITS_MOST || codes->room - codes->used < most)
        return NULL;
    uint8_t *start = lwp_machine_at = codes->memory + codes->used;
    uint32_t exit = 0;
    lwp_emitted.codes = codes;
    lwp_emitted.held = LWP_EMIT_NONE;
    lwp_emitted.computed = lwp_emitted.way_count = 0;
    lwp_emitted.first = words->first;
    for (unsigned i = 0; i < LWP_VALUE_SLOTS; i++)
        lwp_emitted.upper[i] = LWP_UPPER_ANY;
    code_begin(words);
    for (uint32_t i = 0; i < steps->count; i++) {
        for (; exit < steps->exits && steps->ends[exit] == i; exit++)
            code_exit(exit, words->passed);
        lwp_emit_step(&steps->step[i]);
    }
    code_next(lwp_emitted.computed, words);
    for (uint32_t i = 0; i < exit; i++) {
        lwp_machine_land(lwp_emitted.exits[i].jump);
        code_next(lwp_emitted.exits[i].computed, words);
    }
    lwp_emit_ways();
    codes->used = (size_t)(lwp_machine_at - codes->memory);
    return start;
}

bool lwp_value_codes_init(struct lwp_value_codes *codes, const struct lwp_shadow_port *port, size_t room, size_t runner)
{
    *codes = (struct lwp_value_codes){.memory = port->map(room), .room = room, .runner = runner};
    if (!codes->memory)
        return false;
    lwp_machine_at = codes->memory;
    lwp_emit_whole();
    codes->leave = lwp_machine_at;
    lwp_machine_byte(0x49); /* lea -8(%r14), %rax: its first word */
    lwp_machine_byte(0x8d);
    lwp_machine_byte(0x46);
    lwp_machine_byte(0xf8);
    lwp_machine_return();
    codes->used = (size_t)(lwp_machine_at - codes->memory);
    return true;
}

__asm__(".text\n"
        ".type lwp_value_code_enter, @function\n"
        "lwp_value_code_enter:\n" /* values, words, epoch, zero, code, leaves */
        "    push %rbx\n    push %rbp\n    push %r12\n    push %r13\n    push %r14\n    push %r15\n"
        "    mov %rdi, %rbx\n    lea 8(%rsi), %r14\n    mov %rdx, %r12\n    mov %rcx, %r13\n    mov %r9, %r15\n"
        "    call *%r8\n"
        "    pop %r15\n    pop %r14\n    pop %r13\n    pop %r12\n    pop %rbp\n    pop %rbx\n"
        "    ret\n"
        ".size lwp_value_code_enter, . - lwp_value_code_enter\n");
const uint64_t *lwp_value_code_enter(struct lwp_values *values, const uint64_t *words, uint64_t epoch, uint64_t zero,
                                     const void *code, uint64_t *const *leaves);

const uint64_t *lwp_value_code_run(struct lwp_values *values, const struct lwp_value_codes *codes, const uint64_t *words)
{
    uint64_t epoch = values->numbering.epoch;
    const struct lwp_value_runner *const *runner = (const void *)(words[0] + codes->runner);
    return lwp_value_code_enter(values, words, epoch, lwp_number_constant(0) | epoch, (*runner)->code, values->memory.leaves);
}
