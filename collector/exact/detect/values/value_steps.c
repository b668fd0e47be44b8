#include "collector/exact/detect/values/value_steps.h"

bool lwp_values_init(struct lwp_values *values, const struct lwp_shadow_port *port, uint32_t last, uint32_t bytes,
                     unsigned pairs_bits)
{
    *values = (struct lwp_values){.sums = values->no_sums};
    if (lwp_value_memory_init(&values->memory, port, &values->numbering, bytes) &&
        lwp_value_table_init(&values->table, port, last) &&
        lwp_shadow_pairs_init(&values->pairs, port, pairs_bits)) {
        lwp_values_begin(values);
        return true;
    }
    lwp_values_fini(values);
    return false;
}

void lwp_values_fini(struct lwp_values *values)
{
    lwp_value_memory_fini(&values->memory);
    if (values->table.port)
        lwp_value_table_fini(&values->table);
    if (values->pairs.port)
        lwp_shadow_pairs_fini(&values->pairs);
}

void lwp_values_lose(struct lwp_values *values, unsigned first, unsigned count)
{
    for (unsigned i = first; i < first + count; i++) {
        values->low[i] = lwp_number_new(&values->numbering);
        values->high[i] = 0;
    }
}

void lwp_values_begin(struct lwp_values *values)
{
    uint64_t epoch = (values->numbering.epoch >> LWP_NUMBER_EPOCH) + 1;
    if (epoch == LWP_NUMBER_EPOCHS - 1) {
        epoch = 1;
        lwp_value_memory_clear(&values->memory);
        lwp_value_table_clear(&values->table);
    }
    values->numbering.epoch = epoch << LWP_NUMBER_EPOCH;
    lwp_values_lose(values, 0, LWP_VALUE_REGISTERS);
}

/* ---- one step ---- */

static inline uint64_t step_new(struct lwp_values *values, unsigned width)
{
    return lwp_number_new(&values->numbering) | width;
}

/* `address` 0: the access did not happen. */
static inline struct lwp_number step_load(struct lwp_values *values, uint64_t address, uint64_t offset, unsigned bytes)
{
    if (__builtin_expect(address != 0, 1))
        return lwp_value_load(&values->memory, address + offset, bytes);
    return (struct lwp_number){step_new(values, bytes == 1 ? LWP_NUMBER_8 : bytes == 2 ? LWP_NUMBER_16 : 0),
                               bytes == 8 ? 0 : lwp_number_constant(0) | values->numbering.epoch};
}

static inline void step_computed(struct lwp_values *values, uint64_t number, uint32_t place, uint32_t context)
{
    uint32_t first = lwp_value_table_add(&values->table, &values->places[place], number, context);
    values->computed++;
    if (!first)
        return;
    values->redundant++;
    values->sums[LWP_VALUE_SUM_REDUNDANT]++;
    lwp_shadow_pairs_at(&values->pairs, LWP_SHADOW_VALUES, first, context, 0)->same++;
}

/* A copy of a value that the same place held when it was copied before: a load or a store that does nothing new. */
static inline void step_moved(struct lwp_values *values, const struct lwp_value_step *step, uint64_t address)
{
    const uint64_t key = lwp_number_key(step->to ? LWP_NUMBER_KEY_STORED : LWP_NUMBER_KEY_LOADED);
    uint64_t value = lwp_number_whole((struct lwp_number){values->low[step->a], values->high[step->a]});
    uint64_t number = lwp_number_stamp(lwp_number_mix(key + value + address * lwp_number_second), values->numbering.epoch);
    bool again = lwp_value_table_add(&values->table, &values->places[step->key], number, 1) != 0;
    values->sums[step->to ? LWP_VALUE_SUM_STORES : LWP_VALUE_SUM_LOADS]++;
    values->sums[step->to ? LWP_VALUE_SUM_STORES_AGAIN : LWP_VALUE_SUM_LOADS_AGAIN] += again;
}

/* The hash that an operator makes of its operands, before it is mixed. */
static inline __attribute__((always_inline)) uint64_t step_hash(const struct lwp_value_step *step, const uint64_t *low,
                                                                const uint64_t *high, bool wide, bool two, bool either)
{
    uint64_t a = wide ? lwp_number_whole((struct lwp_number){low[step->a], high[step->a]}) : lwp_number_operand(low[step->a]);
    if (!two)
        return step->key + (either ? lwp_number_either(a) : a);
    uint64_t b = wide ? lwp_number_whole((struct lwp_number){low[step->b], high[step->b]}) : lwp_number_operand(low[step->b]);
    return step->key + (either ? lwp_number_either(a) + lwp_number_either(b) : a + b * lwp_number_second);
}

/* ---- all of them ---- */

#define OPERATOR(code, wide, two, either)                                                                      \
    case code:                                                                                                 \
        hash = step_hash(step, low, high, wide, two, either);                                                  \
        low[step->to] = lwp_number_stamp(lwp_number_mix(hash), epoch) | step->width;                           \
        high[step->to] = step->narrow ? zero : 0;                                                              \
        break

#define LOAD(bytes)                                                                                            \
    case LWP_VALUE_LOAD_##bytes:                                                                               \
        number = step_load(values, addresses[step->b], step->key, bytes);                                      \
        low[step->to] = number.low;                                                                            \
        high[step->to] = number.high;                                                                          \
        break

#define STORE(bytes)                                                                                           \
    case LWP_VALUE_STORE_##bytes:                                                                              \
        if (__builtin_expect(addresses[step->b] != 0, 1))                                                      \
            lwp_value_store(&values->memory, addresses[step->b] + step->key, bytes,                            \
                            (struct lwp_number){low[step->a], high[step->a]});                                 \
        break

void lwp_values_run(struct lwp_values *values, const struct lwp_value_steps *steps, const uint64_t *addresses,
                    uint32_t passed, uint32_t context)
{
    uint64_t *low = values->low, *high = values->high, hash;
    const struct lwp_value_step *end = steps->step + steps->ends[passed < steps->exits ? passed : steps->exits];
    const uint64_t epoch = values->numbering.epoch, zero = lwp_number_constant(0) | epoch;
    struct lwp_number number;
    for (const struct lwp_value_step *step = steps->step; step != end; step++) {
        switch ((enum lwp_value_code)step->code) {
        OPERATOR(LWP_VALUE_UNARY, true, false, false);
        OPERATOR(LWP_VALUE_UNARY_32, false, false, false);
        OPERATOR(LWP_VALUE_BINARY, true, true, false);
        OPERATOR(LWP_VALUE_BINARY_32, false, true, false);
        OPERATOR(LWP_VALUE_EITHER, true, true, true);
        OPERATOR(LWP_VALUE_EITHER_32, false, true, true);
        OPERATOR(LWP_VALUE_WITH, true, false, true);
        OPERATOR(LWP_VALUE_WITH_32, false, false, true);
        case LWP_VALUE_COPY:
            low[step->to] = low[step->a];
            high[step->to] = high[step->a];
            break;
        case LWP_VALUE_WIDEN:
            low[step->to] = low[step->a];
            high[step->to] = zero;
            break;
        case LWP_VALUE_TO_8:
            low[step->to] = lwp_number_to_8(low[step->a]);
            high[step->to] = zero;
            break;
        case LWP_VALUE_TO_16:
            low[step->to] = lwp_number_to_16(low[step->a]);
            high[step->to] = zero;
            break;
        case LWP_VALUE_TO_HIGH:
            low[step->to] = lwp_number_high((struct lwp_number){low[step->a], high[step->a]});
            high[step->to] = zero;
            break;
        case LWP_VALUE_PAIR:
            hash = low[step->b];
            low[step->to] = low[step->a];
            high[step->to] = hash;
            break;
        case LWP_VALUE_SET_LOW:
            hash = lwp_number_high((struct lwp_number){low[step->b], high[step->b]});
            low[step->to] = low[step->a];
            high[step->to] = hash;
            break;
        case LWP_VALUE_CONSTANT:
            low[step->to] = step->key | epoch;
            high[step->to] = zero;
            break;
        case LWP_VALUE_NEW:
            low[step->to] = step_new(values, step->width);
            high[step->to] = step->narrow ? zero : 0;
            break;
        LOAD(1);
        LOAD(2);
        LOAD(4);
        LOAD(8);
        STORE(1);
        STORE(2);
        STORE(4);
        STORE(8);
        case LWP_VALUE_FORGET:
            if (addresses[step->b])
                lwp_value_forget(&values->memory, addresses[step->b], step->key);
            break;
        case LWP_VALUE_COMPUTED:
            step_computed(values, low[step->a], (uint32_t)step->key, context + step->to);
            break;
        case LWP_VALUE_MOVED:
            if (addresses[step->b])
                step_moved(values, step, addresses[step->b]);
            break;
        case LWP_VALUE_CODES:
            break;
        }
    }
}
