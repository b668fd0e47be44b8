#include "collector/exact/trace/float_class.h"

enum prefix { PREFIX_NONE, PREFIX_66, PREFIX_F3, PREFIX_F2 }; /* as VEX has them */
enum map { MAP_OTHER, MAP_0F, MAP_0F38, MAP_0F3A };           /* as VEX has them */

struct code {
    enum map map;
    uint8_t opcode;
    enum prefix prefix;
    bool wide; /* VEX.W */
};

static struct code code_of_legacy(const uint8_t *at)
{
    struct code code = {.prefix = PREFIX_NONE};
    for (unsigned i = 0; i < 5; i++, at++) {
        if (*at == 0x66)
            code.prefix = code.prefix ? code.prefix : PREFIX_66;
        else if (*at == 0xf3 || *at == 0xf2)
            code.prefix = *at == 0xf3 ? PREFIX_F3 : PREFIX_F2;
        else if (*at != 0x64 && *at != 0x65) /* fs, gs */
            break;
    }
    at += (*at & 0xf0) == 0x40; /* REX */
    if (*at++ != 0x0f)
        return code;
    code.map = *at == 0x38 ? MAP_0F38 : *at == 0x3a ? MAP_0F3A : MAP_0F;
    code.opcode = code.map == MAP_0F ? at[0] : at[1];
    return code;
}

static struct code code_of(const uint8_t *at)
{
    if (at[0] == 0xc5)
        return (struct code){.map = MAP_0F, .prefix = (enum prefix)(at[1] & 3), .opcode = at[2]};
    if (at[0] == 0xc4)
        return (struct code){.map = (at[1] & 31) <= MAP_0F3A ? (enum map)(at[1] & 31) : MAP_OTHER,
                             .prefix = (enum prefix)(at[2] & 3),
                             .wide = at[2] >> 7,
                             .opcode = at[3]};
    return code_of_legacy(at);
}

/* Arithmetic: the prefix says it all. */
static struct lwp_float_class class_by_prefix(enum prefix prefix)
{
    static const struct lwp_float_class classes[] = {
        [PREFIX_NONE] = {.element = 4}, [PREFIX_66] = {.element = 8},
        [PREFIX_F3] = {.element = 4, .scalar = true}, [PREFIX_F2] = {.element = 8, .scalar = true}};
    return classes[prefix];
}

static struct lwp_float_class class_of_move(const struct code *code)
{
    struct lwp_float_class class = class_by_prefix(code->prefix);
    class.stores = code->opcode == 0x11 || code->opcode == 0x13 || code->opcode == 0x17 || code->opcode == 0x29 ||
                   code->opcode == 0x2b;
    if (code->prefix == PREFIX_NONE) {
        class.element = 0;
        class.any = true;
    }
    if ((code->opcode & 0xf8) == 0x10 && code->opcode > 0x11) /* movddup, movsldup, movshdup fill the register */
        class.scalar = false;
    return class;
}

static struct lwp_float_class class_of_conversion(const struct code *code)
{
    const bool to_double = code->opcode == 0x5a ? code->prefix == PREFIX_NONE || code->prefix == PREFIX_F3
                                                : code->prefix == PREFIX_F2;
    return (struct lwp_float_class){.element = to_double ? 8 : 4,
                                    .scalar = code->prefix == PREFIX_F3 || code->prefix == PREFIX_F2};
}

static struct lwp_float_class class_of_0f(const struct code *code)
{
    const struct lwp_float_class none = {0}, singles = {.element = 4}, doubles = {.element = 8};
    switch (code->opcode) {
    case 0x10: case 0x11: case 0x12: case 0x13: case 0x16: case 0x17: case 0x28: case 0x29: case 0x2b:
        return class_of_move(code);
    case 0x54: case 0x55: case 0x56: case 0x57: /* and, or, xor: the shorter form does for doubles, too */
        return code->prefix == PREFIX_66 ? doubles : (struct lwp_float_class){.any = true};
    case 0x2a: case 0x5a: /* from integers; between the two */
        return class_of_conversion(code);
    case 0x14: case 0x15: case 0x51: case 0x52: case 0x53: case 0x58: case 0x59: case 0x5c: case 0x5d: case 0x5e:
    case 0x5f: case 0xc6:
        return class_by_prefix(code->prefix);
    case 0x5b: /* cvtdq2ps; with a prefix it makes integers */
        return code->prefix == PREFIX_NONE ? singles : none;
    case 0xe6: /* cvtdq2pd */
        return code->prefix == PREFIX_F3 ? doubles : none;
    case 0x7c: case 0x7d: case 0xd0: /* hadd, hsub, addsub */
        return code->prefix == PREFIX_66 ? doubles : singles;
    default:
        return none;
    }
}

static struct lwp_float_class class_of_0f38(const struct code *code)
{
    const unsigned row = code->opcode >> 4, column = code->opcode & 15;
    if ((row == 0x9 || row == 0xa || row == 0xb) && column >= 6) /* fused multiply and add */
        return (struct lwp_float_class){.element = code->wide ? 8 : 4, .scalar = column >= 9 && column & 1};
    switch (code->opcode) {
    case 0x0c: case 0x13: case 0x16: case 0x18: /* vpermilps, vcvtph2ps, vpermps, vbroadcastss */
        return (struct lwp_float_class){.element = 4};
    case 0x0d: case 0x19: /* vpermilpd, vbroadcastsd */
        return (struct lwp_float_class){.element = 8};
    default:
        return (struct lwp_float_class){0};
    }
}

static struct lwp_float_class class_of_0f3a(const struct code *code)
{
    switch (code->opcode) {
    case 0x04: case 0x08: case 0x0c: case 0x40: case 0x4a: /* vpermilps, roundps, blendps, dpps, vblendvps */
        return (struct lwp_float_class){.element = 4};
    case 0x01: case 0x05: case 0x09: case 0x0d: case 0x41: case 0x4b: /* vpermpd and the same of doubles */
        return (struct lwp_float_class){.element = 8};
    case 0x0a: case 0x0b: /* roundss, roundsd */
        return (struct lwp_float_class){.element = code->opcode == 0x0a ? 4 : 8, .scalar = true};
    default:
        return (struct lwp_float_class){0};
    }
}

struct lwp_float_class lwp_float_class(const uint8_t *at)
{
    const struct code code = code_of(at);
    switch (code.map) {
    case MAP_0F:
        return class_of_0f(&code);
    case MAP_0F38:
        return class_of_0f38(&code);
    case MAP_0F3A:
        return class_of_0f3a(&code);
    default:
        return (struct lwp_float_class){0};
    }
}
