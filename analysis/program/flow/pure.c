/* Functions free of side effects: those of the C and C++ libraries that compare and look at texts, by name; others when all their code,
 * and that of what they call, stores to nothing but its own frame and asks nobody outside for anything.
 *
 * A frame is what the stack pointer, or a frame pointer made from it, leads to without an index. Calls and jumps to where only a register
 * knows, recursion, and code beyond a bound are taken to do anything. What lies too deep below one function may be near to another, so
 * that answer is not kept. */
#include "analysis/program/flow/pure.h"

#include "analysis/program/flow/cfg.h"
#include "analysis/program/flow/decode.h"

enum {
    PURE_BYTES_MOST = 4096,
    PURE_DEPTH_MOST = 6,
    WRITTEN = (1 << CODE_REGISTERS) - 1,
    PURE = 1 << CODE_RSP /* among the registers written, which has to be as it was */
};

struct pure_path {
    unsigned depth; /* of calls */
    bool cut;       /* it went on beyond PURE_DEPTH_MOST */
};

static bool pure_name(const char *name)
{
    static const char names[] =
        "strcmp strncmp strcasecmp strncasecmp strcoll strverscmp memcmp bcmp wcscmp wcsncmp wcscasecmp wcsncasecmp wmemcmp strlen strnlen "
        "wcslen strchr strrchr strchrnul memchr memrchr rawmemchr strstr strcasestr memmem strspn strcspn strpbrk tolower toupper isalpha "
        "isdigit isalnum isspace isupper islower isxdigit ispunct isprint __ctype_b_loc __ctype_tolower_loc __ctype_toupper_loc";
    return code_is_one_of(name, names) ||
           code_begins_with(name, "_ZNKSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE7compareE|_ZNKSs7compareE");
}

bool code_has_frame_pointer(const struct code_module *module, struct code_range range)
{
    bool made = false;
    for (uint64_t at = range.low; at < range.high;) {
        const struct code_instruction instruction = code_decode_at(module, at, true);
        if (!instruction.length)
            return false;
        at += instruction.length;
        if (!(instruction.written >> CODE_RBP & 1))
            continue;
        const bool from_stack = instruction.linear.exists && code_copied_register(&instruction.linear) == CODE_RSP;
        const bool restored = instruction.memory.exists && instruction.memory.load &&
                              (instruction.memory.base == CODE_RSP || instruction.memory.base == CODE_RBP);
        if (!from_stack && !restored)
            return false;
        made |= from_stack;
    }
    return made;
}

bool lwp_code_by_stack(struct lwp_code *code, uint32_t module_index, uint64_t address)
{
    struct code_module *module = code_module_at(code, module_index);
    const struct lwp_memory_operand memory = lwp_code_operand(code, module_index, address);
    struct code_range range;
    const char *name;
    if (!module || memory.index >= 0)
        return false;
    return memory.base == CODE_RSP ||
           (memory.base == CODE_RBP && code_function_at(module, address, &range, &name) && code_has_frame_pointer(module, range));
}

static bool pure_stores(const struct code_instruction *instruction, bool frame_pointer)
{
    const struct lwp_memory_operand *memory = &instruction->memory;
    const bool frame = memory->index < 0 && !memory->gather && (memory->base == CODE_RSP || (memory->base == CODE_RBP && frame_pointer));
    return memory->string || (memory->exists && memory->store && !frame); /* of copies, only the source is there */
}

static bool pure_at(struct code_module *module, uint64_t target, uint64_t slot, struct pure_path *path,
                    struct code_pure_registers *registers);

static bool pure_goes(struct code_module *module, struct code_range range, const struct code_instruction *instruction,
                      struct pure_path *path, struct code_pure_registers *registers)
{
    switch (instruction->flow) {
    case CODE_FLOW_CALL:
        return cfg_never_returns(module, instruction->target, instruction->call_slot) ||
               pure_at(module, instruction->target, instruction->call_slot, path, registers);
    case CODE_FLOW_JUMP:
    case CODE_FLOW_BRANCH:
        return (instruction->target >= range.low && instruction->target < range.high) ||
               pure_at(module, instruction->target, 0, path, registers);
    case CODE_FLOW_INDIRECT:
        return instruction->call_slot && pure_at(module, 0, instruction->call_slot, path, registers);
    default:
        return true;
    }
}

/* In the order of the code. What is not read before it is written was nothing that it got. */
static void pure_add(const struct code_instruction *instruction, struct code_pure_registers *registers)
{
    if (instruction->flow == CODE_FLOW_CALL)
        return;
    const uint64_t read = code_values_read(instruction) | (instruction->memory.exists ? code_values_address(&instruction->memory) : 0);
    const bool saves = instruction->memory.exists && instruction->memory.base == CODE_RSP && instruction->memory.store;
    registers->read |= saves ? 0 : (uint32_t)read & WRITTEN & ~registers->written;
    registers->written |= instruction->written;
}

static bool pure_body(struct code_module *module, struct code_range range, struct pure_path *path, struct code_pure_registers *registers)
{
    if (range.high - range.low > PURE_BYTES_MOST)
        return false;
    const bool frame_pointer = code_has_frame_pointer(module, range);
    for (uint64_t at = range.low; at < range.high;) {
        const struct code_instruction instruction = code_decode_at(module, at, true);
        if (!instruction.length || instruction.outside || pure_stores(&instruction, frame_pointer) ||
            !pure_goes(module, range, &instruction, path, registers))
            return false;
        pure_add(&instruction, registers);
        at += instruction.length;
    }
    return true;
}

/* The answer as it is kept: the registers, or 0. */
static uint32_t pure_ask(struct code_module *module, uint64_t target, struct pure_path *path)
{
    struct code_range range;
    struct code_pure_registers own = {0};
    const char *name;
    const bool pure = code_function_at(module, target, &range, &name) && range.low == target && pure_body(module, range, path, &own);
    return pure ? own.read << CODE_REGISTERS | (own.written & CODE_CALL_CLOBBERS) | PURE : 0;
}

static bool pure_at(struct code_module *module, uint64_t target, uint64_t slot, struct pure_path *path,
                    struct code_pure_registers *registers)
{
    const char *name = slot ? code_import_at_slot(module, slot) : target ? code_import_at_stub(module, target) : NULL;
    if (name || !target) {
        registers->read |= (1u << CODE_RDI | 1u << CODE_RSI) & ~registers->written;
        registers->written |= CODE_CALL_CLOBBERS;
        return name && pure_name(name);
    }
    uint32_t answer = lwp_map_get(module->pure, target);
    if (answer == LWP_MAP_NONE) {
        if (path->depth > PURE_DEPTH_MOST) {
            path->cut = true;
            return false;
        }
        *lwp_map_at(module->pure, target) = 0; /* while it is asked about: recursion */
        path->depth++;
        answer = pure_ask(module, target, path);
        path->depth--;
        *lwp_map_at(module->pure, target) = path->cut ? LWP_MAP_NONE : answer;
    }
    registers->read |= answer >> CODE_REGISTERS & ~registers->written;
    registers->written |= answer & WRITTEN & ~PURE;
    return answer & PURE;
}

bool code_is_pure(struct code_module *module, uint64_t target, uint64_t slot, struct code_pure_registers *registers)
{
    return pure_at(module, target, slot, &(struct pure_path){0}, registers);
}
