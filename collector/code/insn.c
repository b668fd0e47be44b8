#include "collector/code/insn.h"

#include "config.h"

#include <Zydis/Zydis.h>
#include <dlfcn.h>
#include <string.h>

static struct {
    ZyanStatus (*decode)(const ZydisDecoder *, const void *, ZyanUSize, ZydisDecodedInstruction *, ZydisDecodedOperand *);
    ZyanStatus (*decode_short)(const ZydisDecoder *, ZydisDecoderContext *, const void *, ZyanUSize, ZydisDecodedInstruction *);
    ZydisDecoder decoder, short_decoder;
} zydis;

bool lwp_insn_init(void)
{
    if (zydis.decode)
        return true;
    void *library = dlopen(LWP_ZYDIS, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return false;
    ZyanStatus (*init)(ZydisDecoder *, ZydisMachineMode, ZydisStackWidth) = dlsym(library, "ZydisDecoderInit");
    void *decode = dlsym(library, "ZydisDecoderDecodeFull");
    if (!init || !decode || ZYAN_FAILED(init(&zydis.decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)))
        return false;
    ZyanStatus (*mode)(ZydisDecoder *, ZydisDecoderMode, ZyanBool) = dlsym(library, "ZydisDecoderEnableMode");
    zydis.decode_short = dlsym(library, "ZydisDecoderDecodeInstruction");
    zydis.short_decoder = zydis.decoder;
    if (!mode || !zydis.decode_short)
        return false;
    mode(&zydis.short_decoder, ZYDIS_DECODER_MODE_MINIMAL, ZYAN_TRUE); /* refused: just slower */
    zydis.decode = decode;
    return true;
}

bool lwp_insn_flow(struct lwp_insn_flow *flow, uint64_t ip, const uint8_t *code, unsigned room)
{
    enum { JCC_SHORT = 0x70, JCC_NEAR = 0x80, JMP_SHORT = 0xeb, JMP_NEAR = 0xe9, GROUP_5 = 0xff, LEA = 0x8d };
    ZydisDecodedInstruction from;
    *flow = (struct lwp_insn_flow){.op = LWP_OP_OTHER};
    if (!zydis.decode || !code || ZYAN_FAILED(zydis.decode_short(&zydis.short_decoder, NULL, code, room, &from)))
        return false;
    flow->length = from.length;
    if (from.encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY)
        return true;
    bool one_byte = from.opcode_map == ZYDIS_OPCODE_MAP_DEFAULT, two_bytes = from.opcode_map == ZYDIS_OPCODE_MAP_0F;
    uint64_t next = ip + from.length;
    if (one_byte && (from.opcode == JMP_SHORT || from.opcode == JMP_NEAR))
        flow->op = LWP_OP_JMP;
    else if ((one_byte && (from.opcode & 0xf0) == JCC_SHORT) || (two_bytes && (from.opcode & 0xf0) == JCC_NEAR))
        flow->op = LWP_OP_JCC;
    if (flow->op != LWP_OP_OTHER) {
        flow->condition = from.opcode & 15;
        flow->target = next + (uint64_t)from.raw.imm[0].value.s;
        return true;
    }
    enum { LOOP_FIRST = 0xe0, LOOP_LAST = 0xe3 }; /* loopne, loope, loop, jrcxz: may jump, on something not in the flags */
    if (one_byte && from.opcode >= LOOP_FIRST && from.opcode <= LOOP_LAST) {
        flow->op = LWP_OP_JMP;
        flow->target = next + (uint64_t)from.raw.imm[0].value.s;
        return true;
    }
    if (!(from.attributes & ZYDIS_ATTRIB_HAS_MODRM))
        return true;
    flow->indirect = one_byte && from.opcode == GROUP_5 && (from.raw.modrm.reg & 6) == 4;
    bool relative = from.raw.modrm.mod == 0 && from.raw.modrm.rm == 5;
    bool indexed = from.raw.modrm.mod == 0 && from.raw.modrm.rm == 4 && from.raw.sib.base == 5;
    if (relative && (one_byte && from.opcode == LEA))
        flow->table = next + (uint64_t)from.raw.disp.value;
    else if (indexed || (relative && flow->indirect))
        flow->table = (uint64_t)from.raw.disp.value + (relative ? next : 0);
    return true;
}

/* Integer register number, or LWP_REG_NONE. */
static uint8_t insn_register(ZydisRegister reg)
{
    static const struct {
        ZydisRegister first, last;
        uint8_t number; /* of the first */
    } ranges[] = {{ZYDIS_REGISTER_RAX, ZYDIS_REGISTER_R15, 0},  {ZYDIS_REGISTER_EAX, ZYDIS_REGISTER_R15D, 0},
                  {ZYDIS_REGISTER_AX, ZYDIS_REGISTER_R15W, 0},  {ZYDIS_REGISTER_AL, ZYDIS_REGISTER_BL, 0},
                  {ZYDIS_REGISTER_AH, ZYDIS_REGISTER_BH, 16},   {ZYDIS_REGISTER_SPL, ZYDIS_REGISTER_R15B, 4},
                  {ZYDIS_REGISTER_RIP, ZYDIS_REGISTER_RIP, LWP_REG_RIP}};
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (reg >= ranges[i].first && reg <= ranges[i].last)
            return (uint8_t)(ranges[i].number + (reg - ranges[i].first));
    return LWP_REG_NONE;
}

static uint8_t insn_operation(const ZydisDecodedInstruction *from, uint8_t *condition)
{
#define SAME(name) case ZYDIS_MNEMONIC_##name: return LWP_OP_##name;
    switch (from->mnemonic) {
    SAME(MOV) SAME(MOVSX) SAME(LEA) SAME(NOT) SAME(IMUL) SAME(JMP) SAME(SHL) SAME(SHR) SAME(SAR)
    SAME(MUL) SAME(DIV) SAME(IDIV)
    SAME(ADD) SAME(SUB) SAME(CMP) SAME(TEST) SAME(AND) SAME(OR) SAME(XOR) SAME(INC) SAME(DEC) SAME(NEG)
    case ZYDIS_MNEMONIC_MOVZX: return LWP_OP_MOV;
    case ZYDIS_MNEMONIC_MOVSXD: return LWP_OP_MOVSX;
    case ZYDIS_MNEMONIC_CBW:
    case ZYDIS_MNEMONIC_CWDE:
    case ZYDIS_MNEMONIC_CDQE: return LWP_OP_WIDEN;
    case ZYDIS_MNEMONIC_CWD:
    case ZYDIS_MNEMONIC_CDQ:
    case ZYDIS_MNEMONIC_CQO: return LWP_OP_SIGN;
    case ZYDIS_MNEMONIC_LEAVE: return from->operand_width == 64 ? LWP_OP_LEAVE : LWP_OP_OTHER;
    case ZYDIS_MNEMONIC_ENDBR64:
    case ZYDIS_MNEMONIC_CLFLUSH:
    case ZYDIS_MNEMONIC_CLFLUSHOPT:
    case ZYDIS_MNEMONIC_CLWB:
    case ZYDIS_MNEMONIC_CLDEMOTE: return LWP_OP_NOP;
    default: break;
    }
#undef SAME
    if (from->meta.category == ZYDIS_CATEGORY_COND_BR) {
        bool near_form = from->opcode_map == ZYDIS_OPCODE_MAP_0F && (from->opcode & 0xf0) == 0x80;
        bool short_form = from->opcode_map == ZYDIS_OPCODE_MAP_DEFAULT && (from->opcode & 0xf0) == 0x70;
        if (!near_form && !short_form)
            return LWP_OP_STOP; /* loop, jrcxz */
        *condition = from->opcode & 15;
        return LWP_OP_JCC;
    }
    *condition = from->opcode & 15;
    switch (from->meta.category) {
    case ZYDIS_CATEGORY_NOP:
    case ZYDIS_CATEGORY_WIDENOP:
    case ZYDIS_CATEGORY_PREFETCH: return LWP_OP_NOP;
    case ZYDIS_CATEGORY_CMOV: return LWP_OP_CMOV;
    case ZYDIS_CATEGORY_SETCC: return LWP_OP_SET;
    case ZYDIS_CATEGORY_CALL: return LWP_OP_CALL;
    case ZYDIS_CATEGORY_RET: return from->meta.branch_type == ZYDIS_BRANCH_TYPE_NEAR && !from->raw.imm[0].size ? LWP_OP_RET : LWP_OP_STOP;
    case ZYDIS_CATEGORY_PUSH: return from->mnemonic == ZYDIS_MNEMONIC_PUSH && from->operand_width == 64 ? LWP_OP_PUSH : LWP_OP_OTHER;
    case ZYDIS_CATEGORY_POP: return from->mnemonic == ZYDIS_MNEMONIC_POP && from->operand_width == 64 ? LWP_OP_POP : LWP_OP_OTHER;
    case ZYDIS_CATEGORY_UNCOND_BR:
    case ZYDIS_CATEGORY_SYSCALL:
    case ZYDIS_CATEGORY_SYSRET:
    case ZYDIS_CATEGORY_INTERRUPT: return LWP_OP_STOP;
    default: return LWP_OP_OTHER;
    }
}

static void insn_memory(struct lwp_insn *insn, const ZydisDecodedInstruction *from, const ZydisDecodedOperand *operand)
{
    insn->gather = operand->mem.type != ZYDIS_MEMOP_TYPE_MEM && operand->mem.type != ZYDIS_MEMOP_TYPE_AGEN;
    insn->base = insn_register(operand->mem.base);
    insn->index = insn_register(operand->mem.index);
    insn->scale = operand->mem.scale;
    insn->displacement = operand->mem.disp.has_displacement ? operand->mem.disp.value : 0;
    insn->bytes = operand->size / 8;
    insn->element = operand->element_type == ZYDIS_ELEMENT_TYPE_FLOAT64   ? 8
                    : operand->element_type == ZYDIS_ELEMENT_TYPE_FLOAT32 ? 4
                                                                          : 0;
    insn->segment = operand->mem.segment == ZYDIS_REGISTER_FS   ? LWP_SEGMENT_FS
                    : operand->mem.segment == ZYDIS_REGISTER_GS ? LWP_SEGMENT_GS
                                                                : LWP_SEGMENT_NONE;
    if (insn->base == LWP_REG_RIP) {
        insn->displacement += (int64_t)(insn->ip + from->length);
        insn->base = LWP_REG_NONE;
    } else if (insn->base == LWP_REG_NONE && operand->mem.base != ZYDIS_REGISTER_NONE) {
        insn->gather = true; /* an address form we do not follow: unknown */
    }
    bool bit_string = from->mnemonic == ZYDIS_MNEMONIC_BT || from->mnemonic == ZYDIS_MNEMONIC_BTS ||
                      from->mnemonic == ZYDIS_MNEMONIC_BTR || from->mnemonic == ZYDIS_MNEMONIC_BTC;
    bool popped = from->mnemonic == ZYDIS_MNEMONIC_POP && operand->mem.base == ZYDIS_REGISTER_RSP;
    if (from->address_width != 64 || bit_string || popped)
        insn->gather = true; /* bit strings reach beyond their operand, pop addresses with the new rsp */
    if (insn->op == LWP_OP_LEA || insn->op == LWP_OP_NOP || operand->mem.type == ZYDIS_MEMOP_TYPE_AGEN)
        return;
    insn->load = operand->actions & ZYDIS_OPERAND_ACTION_MASK_READ;
    insn->store = operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE;
}

static bool insn_is_masked(const ZydisDecodedInstruction *from)
{
    switch (from->mnemonic) {
    case ZYDIS_MNEMONIC_MASKMOVQ:
    case ZYDIS_MNEMONIC_MASKMOVDQU:
    case ZYDIS_MNEMONIC_VMASKMOVDQU:
    case ZYDIS_MNEMONIC_VMASKMOVPS:
    case ZYDIS_MNEMONIC_VMASKMOVPD:
    case ZYDIS_MNEMONIC_VPMASKMOVD:
    case ZYDIS_MNEMONIC_VPMASKMOVQ: return true;
    default: return from->encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX && from->avx.mask.reg >= ZYDIS_REGISTER_K1 && from->avx.mask.reg <= ZYDIS_REGISTER_K7;
    }
}

void lwp_insn_decode(struct lwp_insn *insn, uint64_t ip, const uint8_t *code, unsigned room)
{
    ZydisDecodedInstruction from;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    *insn = (struct lwp_insn){.ip = ip, .base = LWP_REG_NONE, .index = LWP_REG_NONE};
    if (!zydis.decode || !code || ZYAN_FAILED(zydis.decode(&zydis.decoder, code, room, &from, operands))) {
        insn->invalid = true;
        return;
    }
    insn->length = from.length;
    insn->op = insn_operation(&from, &insn->condition);
    insn->syscall = from.meta.category == ZYDIS_CATEGORY_SYSCALL;
    insn->widened = from.operand_width / 8;
    insn->writes_flags = from.cpu_flags && (from.cpu_flags->modified | from.cpu_flags->set_0 | from.cpu_flags->set_1 |
                                            from.cpu_flags->undefined);
    const bool string = insn->string = from.meta.category == ZYDIS_CATEGORY_STRINGOP;
    insn->rep_string = string && (from.attributes & (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE));
    for (unsigned i = 0; i < from.operand_count; i++) {
        const ZydisDecodedOperand *operand = &operands[i];
        bool written = operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE;
        struct lwp_operand *to = operand->visibility != ZYDIS_OPERAND_VISIBILITY_HIDDEN && i < 3 ? &insn->operand[i] : NULL;
        if (operand->type == ZYDIS_OPERAND_TYPE_REGISTER) {
            uint8_t reg = insn_register(operand->reg.value);
            if (reg <= 19) {
                if (to)
                    *to = (struct lwp_operand){LWP_OPERAND_REG, reg, (uint8_t)(operand->size / 8), 0};
                if (written)
                    insn->spoils |= (uint16_t)(1u << (reg >= 16 ? reg - 16 : reg));
            } else if (operand->reg.value >= ZYDIS_REGISTER_XMM0 && operand->reg.value <= ZYDIS_REGISTER_ZMM31) {
                insn->vector = true;
            }
        } else if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY) {
            /* push, pop, call and string operations have hidden ones: not followed, but marked */
            if (operand->visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN || string) {
                insn->stack |= !string;
                if (string) {
                    uint8_t base = insn_register(operand->mem.base); /* Zydis does not say that it moves on, for all */
                    insn->spoils |= (uint16_t)(base <= 15 ? 1u << base : 0u);
                    insn->load |= (operand->actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0;
                    insn->store |= written;
                    insn->bytes = operand->size / 8;
                    insn->gather = !insn->rep_string;
                }
                continue;
            }
            if (to)
                *to = (struct lwp_operand){LWP_OPERAND_MEM, 0, (uint8_t)(operand->size / 8), 0};
            insn_memory(insn, &from, operand);
        } else if (operand->type == ZYDIS_OPERAND_TYPE_IMMEDIATE && to) {
            *to = (struct lwp_operand){LWP_OPERAND_IMM, 0, (uint8_t)(operand->size / 8), operand->imm.value.s};
            if (insn->op == LWP_OP_JMP || insn->op == LWP_OP_JCC || insn->op == LWP_OP_CALL)
                insn->target = ip + from.length + (uint64_t)operand->imm.value.s;
        }
    }
    if (insn->op == LWP_OP_CALL && !insn->target)
        insn->op = insn->operand[0].bytes == 8 ? LWP_OP_CALL_BY : LWP_OP_STOP;
    if (insn->op == LWP_OP_JMP && !insn->target)
        insn->op = LWP_OP_STOP;
    insn->floating = insn->vector && from.meta.category != ZYDIS_CATEGORY_DATAXFER;
    insn->masked = !insn->gather && insn_is_masked(&from); /* a gather has an address for each element that it touches */
}
