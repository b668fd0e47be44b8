/* Reads a module's code once from end to end for calls and jumps with a fixed target. Very large modules are left
 * alone. */
#include "analysis/program/flow/decode.h"
#include "analysis/program/pointers/pointer_flow.h"
#include "base/search.h"

#include <stdlib.h>

#define CALLERS_CODE_LIMIT ((uint64_t)32 << 20)

static void callers_read(struct code_module *module, struct code_types *types)
{
    uint64_t bytes = 0;
    size_t capacity = 0;
    for (size_t i = 0; i < module->section_count; i++)
        if (module->sections[i].executable)
            bytes += module->sections[i].end - module->sections[i].start;
    for (size_t i = 0; i < module->section_count && bytes <= CALLERS_CODE_LIMIT; i++) {
        const struct code_section *section = &module->sections[i];
        for (uint64_t pc = section->start; section->executable && pc < section->end;) {
            size_t available;
            const uint8_t *code = code_bytes(module, pc, &available);
            if (!code)
                break;
            struct code_instruction instruction = code_decode(code, available, pc, false);
            if ((instruction.flow == CODE_FLOW_CALL || instruction.flow == CODE_FLOW_JUMP) && instruction.target) {
                LWP_GROW(&types->calls, types->call_count, &capacity);
                types->calls[types->call_count++] = (struct code_call){instruction.target, pc};
            }
            pc += instruction.length ? instruction.length : 1;
        }
    }
    LWP_SORT(types->calls, types->call_count, lwp_by_first_two);
}

const struct code_call *code_calls_of(struct code_module *module, uint64_t target, size_t *count)
{
    struct code_types *types = code_types_of(module);
    if (!types->calls_read) {
        types->calls_read = true;
        callers_read(module, types);
    }
    size_t before = target ? LWP_COUNT_UP_TO(types->calls, types->call_count, target, target - 1) : 0;
    *count = LWP_COUNT_UP_TO(types->calls, types->call_count, target, target) - before;
    return *count ? &types->calls[before] : NULL;
}
