#include "analysis/program/flow/disassembly.h"

#include "analysis/program/flow/decode.h"

#include <stdio.h>
#include <Zydis/Zydis.h>

unsigned lwp_code_disassemble(struct lwp_code *code, uint32_t module_index, uint64_t address, char *text, size_t room)
{
    const struct code_module *module = code_module_at(code, module_index);
    size_t available = 0;
    if (!text)
        return module ? code_decode_at(module, address, false).length : 0;
    const uint8_t *bytes = module ? code_bytes(module, address, &available) : NULL;
    ZydisDisassembledInstruction instruction;
    if (!bytes || !room || !ZYAN_SUCCESS(ZydisDisassembleIntel(ZYDIS_MACHINE_MODE_LONG_64, address, bytes, available, &instruction)))
        return 0;
    snprintf(text, room, "%s", instruction.text);
    return instruction.info.length;
}
