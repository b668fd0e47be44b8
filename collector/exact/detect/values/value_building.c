#include "collector/exact/detect/values/value_building.h"

enum { NONE = LWP_BUILDING_NONE, ALIKE_LOOKED_AT = 64 };

struct built_value {
    bool constant, narrow; /* narrow: known to have zeros above its lower 4 bytes */
    UShort slot;           /* NONE: nowhere (any more) */
    UShort step;           /* that makes it, NONE: none */
    Int last;              /* statement that uses it */
    ULong number;          /* constants: itself */
    lwp_value a, b;        /* what the step is of */
    ULong key;
};

struct lwp_value_building lwp_building;

static struct built_value values[LWP_BUILDING_VALUES];
static struct lwp_value_step steps[LWP_BUILDING_STEPS];
static lwp_value registers[LWP_VALUE_REGISTERS]; /* what is in them; NONE: not asked yet */
static UInt value_count, slot_count;

void lwp_building_start(void)
{
    lwp_building = (struct lwp_value_building){.step = steps};
    value_count = 0;
    slot_count = LWP_VALUE_REGISTERS;
    for (UInt i = 0; i < LWP_VALUE_REGISTERS; i++)
        registers[i] = NONE;
}

static lwp_value value_new(struct built_value built)
{
    if (value_count == LWP_BUILDING_VALUES) {
        lwp_building.failed = true;
        return 0;
    }
    built.last = lwp_building.now;
    values[value_count] = built;
    return (lwp_value)value_count++;
}

static UShort slot_new(void)
{
    if (slot_count == LWP_VALUE_SLOTS) {
        lwp_building.failed = true;
        return LWP_VALUE_REGISTERS;
    }
    return (UShort)slot_count++;
}

static void step_add(struct lwp_value_step step)
{
    if (lwp_building.count == LWP_BUILDING_STEPS) {
        lwp_building.failed = true;
        return;
    }
    steps[lwp_building.count++] = step;
}

void lwp_building_keep(lwp_value value, Int last)
{
    if (values[value].last < last)
        values[value].last = last;
}

/* ---- values ---- */

lwp_value lwp_building_constant(ULong constant)
{
    for (UInt i = value_count; i--;)
        if (values[i].constant && values[i].number == constant)
            return (lwp_value)i;
    return value_new((struct built_value){.constant = true, .narrow = constant >> 32 == 0, .slot = NONE, .step = NONE,
                                    .number = constant});
}

static struct lwp_number constant_number(ULong constant)
{
    return (struct lwp_number){lwp_number_constant((uint32_t)constant), lwp_number_constant((uint32_t)(constant >> 32))};
}

static void step_constant(UShort slot, ULong constant)
{
    struct lwp_number number = constant_number(constant);
    step_add((struct lwp_value_step){.code = LWP_VALUE_CONSTANT, .to = slot, .key = number.low});
    if (constant >> 32 == 0)
        return;
    UShort high = slot_new();
    step_add((struct lwp_value_step){.code = LWP_VALUE_CONSTANT, .to = high, .key = number.high});
    step_add((struct lwp_value_step){.code = LWP_VALUE_PAIR, .to = slot, .a = slot, .b = high});
}

/* Where it is; a constant is given a place. */
static UShort value_slot(lwp_value value)
{
    struct built_value *at = &values[value];
    if (at->slot == NONE && at->constant) {
        at->slot = slot_new();
        step_constant(at->slot, at->number);
    }
    if (at->slot == NONE) /* cannot be: values stay while they are used */
        lwp_building.failed = true;
    return at->slot == NONE ? 0 : at->slot;
}

static uint8_t bytes_width(UInt bytes)
{
    return bytes == 1 ? LWP_NUMBER_8 : bytes == 2 ? LWP_NUMBER_16 : 0;
}

lwp_value lwp_building_new(UInt bytes)
{
    lwp_value made = value_new((struct built_value){.narrow = bytes <= 4, .slot = slot_new(), .step = (UShort)lwp_building.count});
    step_add((struct lwp_value_step){.code = LWP_VALUE_NEW, .width = bytes_width(bytes), .narrow = bytes <= 4,
                                     .to = values[made].slot});
    return made;
}

static bool code_is_binary(enum lwp_value_code code)
{
    return (code >= LWP_VALUE_BINARY && code <= LWP_VALUE_EITHER_32) || code == LWP_VALUE_PAIR || code == LWP_VALUE_SET_LOW;
}

/* The same step done before, of values that are still there. */
static lwp_value value_alike(const struct lwp_value_step *step, lwp_value a, lwp_value b)
{
    UInt end = value_count > ALIKE_LOOKED_AT ? value_count - ALIKE_LOOKED_AT : 0;
    for (UInt i = value_count; i-- > end;) {
        const struct built_value *value = &values[i];
        if (value->step == NONE || value->slot == NONE || value->a != a || value->b != b || value->key != step->key)
            continue;
        const struct lwp_value_step *other = &steps[value->step];
        if (other->code == step->code && other->width == step->width && other->narrow == step->narrow)
            return (lwp_value)i;
    }
    return NONE;
}

lwp_value lwp_building_step(enum lwp_value_code code, UInt bytes, lwp_value a, lwp_value b, ULong key)
{
    bool binary = code_is_binary(code);
    struct lwp_value_step step = {.code = (uint8_t)code, .width = bytes_width(bytes), .narrow = bytes <= 4, .key = key};
    lwp_value alike = value_alike(&step, a, binary ? b : NONE);
    if (alike != NONE)
        return alike;
    step.a = value_slot(a);
    step.b = binary ? value_slot(b) : 0;
    step.to = slot_new();
    lwp_value made = value_new((struct built_value){.narrow = bytes <= 4, .slot = step.to, .step = (UShort)lwp_building.count,
                                              .a = a, .b = binary ? b : NONE, .key = key});
    step_add(step);
    return made;
}

lwp_value lwp_building_load(UInt bytes, UInt access, UInt offset)
{
    unsigned code = LWP_VALUE_LOAD_1 + (unsigned)__builtin_ctz(bytes);
    lwp_value made = value_new((struct built_value){.narrow = bytes <= 4, .slot = slot_new(), .step = (UShort)lwp_building.count,
                                              .a = NONE, .b = NONE});
    values[made].a = NONE;
    step_add((struct lwp_value_step){.code = (uint8_t)code, .width = bytes_width(bytes), .narrow = bytes <= 4,
                                     .to = values[made].slot, .b = (UShort)access, .key = offset});
    return made;
}

void lwp_building_store(lwp_value value, UInt bytes, UInt access, UInt offset)
{
    unsigned code = LWP_VALUE_STORE_1 + (unsigned)__builtin_ctz(bytes);
    step_add((struct lwp_value_step){.code = (uint8_t)code, .a = value_slot(value), .b = (UShort)access, .key = offset});
}

void lwp_building_forget(UInt access, UInt bytes)
{
    step_add((struct lwp_value_step){.code = LWP_VALUE_FORGET, .b = (UShort)access, .key = bytes});
}

void lwp_building_computed(lwp_value value, UInt number, UInt place)
{
    step_add((struct lwp_value_step){.code = LWP_VALUE_COMPUTED, .to = (UShort)number, .a = value_slot(value), .key = place});
}

void lwp_building_moved(lwp_value value, bool stored, UInt access, UInt place)
{
    step_add((struct lwp_value_step){.code = LWP_VALUE_MOVED, .to = stored, .a = value_slot(value), .b = (UShort)access, .key = place});
}

/* ---- operators ---- */

static ULong constant_operand(ULong constant, bool wide)
{
    struct lwp_number number = constant_number(constant);
    return wide ? lwp_number_whole(number) : lwp_number_operand(number.low);
}

/* Of one or two operands. A constant one needs no step of its own: what it adds to the hash is known. */
static lwp_value operator_of(ULong key, bool commutes, bool wide, UInt bytes, lwp_value a, lwp_value b)
{
    unsigned narrow = wide ? 0 : 1;
    if (b == NONE)
        return lwp_building_step(LWP_VALUE_UNARY + narrow, bytes, a, NONE, key);
    if (commutes && values[a].constant) {
        lwp_value other = a;
        a = b;
        b = other;
    }
    if (values[b].constant && !values[a].constant) {
        uint64_t constant = constant_operand(values[b].number, wide);
        return lwp_building_step((commutes ? LWP_VALUE_WITH : LWP_VALUE_UNARY) + narrow, bytes, a, NONE,
                                 key + (commutes ? lwp_number_either(constant) : constant * lwp_number_second));
    }
    return lwp_building_step((commutes ? LWP_VALUE_EITHER : LWP_VALUE_BINARY) + narrow, bytes, a, b, key);
}

lwp_value lwp_building_operator(ULong key, bool commutes, bool wide, UInt bytes, const lwp_value *operands, UInt count)
{
    lwp_value one[2] = {NONE, NONE};
    UInt used = 0;
    key = lwp_number_key(key);
    for (UInt i = 0; i < count; i++) {
        lwp_value operand = operands[i];
        if (wide && !values[operand].constant && values[operand].narrow)
            operand = lwp_building_widen(operand);
        if (count > 2 && values[operand].constant) { /* a rounding mode */
            key = lwp_number_mix(key + i + constant_operand(values[operand].number, wide) * lwp_number_second);
            continue;
        }
        if (used == 2) {
            one[0] = operator_of(key, commutes, wide, 8, one[0], one[1]);
            key = lwp_number_mix(key + i);
            commutes = false;
            wide = true;
            operand = lwp_building_widen(operand);
            used = 1;
        }
        one[used++] = operand;
    }
    if (!used)
        one[0] = lwp_building_constant(0);
    return operator_of(key, commutes && used == 2, wide, bytes, one[0], one[1]);
}

lwp_value lwp_building_widen(lwp_value value)
{
    if (values[value].constant)
        return lwp_building_constant((UInt)values[value].number);
    return values[value].narrow ? value : lwp_building_step(LWP_VALUE_WIDEN, 4, value, NONE, 0);
}

lwp_value lwp_building_narrow(lwp_value value, UInt bytes)
{
    if (values[value].constant)
        return lwp_building_constant(values[value].number & (((ULong)1 << 8 * bytes) - 1));
    if (bytes == 4)
        return value;
    return lwp_building_step(bytes == 1 ? LWP_VALUE_TO_8 : LWP_VALUE_TO_16, bytes, value, NONE, 0);
}

/* ---- registers ---- */

lwp_value lwp_building_get(UInt slot)
{
    if (registers[slot] == NONE)
        registers[slot] = value_new((struct built_value){.slot = (UShort)slot, .step = NONE});
    return registers[slot];
}

/* What lies in the register and is used later goes where else it is, or somewhere new. */
static void register_clear(UInt slot)
{
    lwp_value old = registers[slot];
    if (old == NONE || values[old].slot != slot)
        return;
    values[old].slot = NONE;
    registers[slot] = NONE;
    for (UInt i = 0; i < LWP_VALUE_REGISTERS; i++)
        if (registers[i] == old)
            values[old].slot = (UShort)i;
    if (values[old].slot != NONE || values[old].last <= lwp_building.now)
        return;
    values[old].slot = slot_new();
    step_add((struct lwp_value_step){.code = LWP_VALUE_COPY, .to = values[old].slot, .a = (UShort)slot});
}

static bool step_reads_b(const struct lwp_value_step *step)
{
    return code_is_binary((enum lwp_value_code)step->code);
}

static bool step_writes(const struct lwp_value_step *step)
{
    return step->code < LWP_VALUE_STORE_1;
}

static bool step_reads_a(const struct lwp_value_step *step)
{
    return step->code < LWP_VALUE_CONSTANT || (step->code >= LWP_VALUE_STORE_1 && step->code != LWP_VALUE_FORGET);
}

/* Whether the step that makes it may write it to the register at once, as nothing needs what is there until now. */
static bool value_may_move(const struct built_value *value, UInt slot)
{
    if (value->step == NONE || value->step < lwp_building.barrier || value->slot < LWP_VALUE_REGISTERS ||
        steps[value->step].to != value->slot)
        return false;
    for (UInt i = value->step + 1u; i < lwp_building.count; i++)
        if ((step_reads_a(&steps[i]) && steps[i].a == slot) || (step_reads_b(&steps[i]) && steps[i].b == slot) ||
            (step_writes(&steps[i]) && steps[i].to == slot))
            return false;
    return true;
}

static void value_move(struct built_value *value, UInt slot)
{
    steps[value->step].to = (UShort)slot;
    for (UInt i = value->step + 1u; i < lwp_building.count; i++) {
        if (step_reads_a(&steps[i]) && steps[i].a == value->slot)
            steps[i].a = (UShort)slot;
        if (step_reads_b(&steps[i]) && steps[i].b == value->slot)
            steps[i].b = (UShort)slot;
    }
    value->slot = (UShort)slot;
}

void lwp_building_put(UInt slot, lwp_value value)
{
    if (registers[slot] == value)
        return;
    register_clear(slot);
    if (values[value].constant && values[value].slot == NONE)
        step_constant((UShort)slot, values[value].number);
    else if (value_may_move(&values[value], slot))
        value_move(&values[value], slot);
    else
        step_add((struct lwp_value_step){.code = LWP_VALUE_COPY, .to = (UShort)slot, .a = value_slot(value)});
    registers[slot] = value;
}

void lwp_building_exit(void)
{
    lwp_building.barrier = lwp_building.count;
}
