#include "collector/exact/detect/values/value_steps.h"

bool lwp_values_init(struct lwp_values *values, const struct lwp_shadow_port *port, uint32_t last, uint32_t bytes,
                     unsigned pairs_bits)
{
    *values = (struct lwp_values){0};
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

void lwp_values_redundant(struct lwp_values *values, uint32_t first, uint32_t second)
{
    values->redundant++;
    lwp_shadow_pairs_at(&values->pairs, LWP_SHADOW_VALUES, first, second, 0)->same++;
}

/* What an operator makes of a step's operands, before it is mixed. */
static inline __attribute__((always_inline)) uint64_t step_hash(const struct lwp_value_step *step, const uint64_t *low,
                                                                const uint64_t *high, bool wide, bool two, bool either)
{
    uint64_t a = wide ? lwp_number_whole((struct lwp_number){low[step->a], high[step->a]}) : lwp_number_operand(low[step->a]);
    if (!two)
        return step->key + (either ? lwp_number_either(a) : a);
    uint64_t b = wide ? lwp_number_whole((struct lwp_number){low[step->b], high[step->b]}) : lwp_number_operand(low[step->b]);
    return step->key + (either ? lwp_number_either(a) + lwp_number_either(b) : a + b * lwp_number_second);
}

/* Each step jumps to the next one's code from a place of its own, so that the processor foresees where. */
#define AT(code) at_##code
#define WAY(code) [code] = &&at_##code
#define NEXT do {                                                                                              \
        if (++step == end)                                                                                     \
            goto done;                                                                                         \
        goto *ways[step->code];                                                                                \
    } while (0)

#define OPERATOR(code, wide, two, either)                                                                      \
    AT(code):                                                                                                  \
        hash = step_hash(step, low, high, wide, two, either);                                                  \
        hash = lwp_number_stamp(lwp_number_mix(hash), epoch) | step->width;                                    \
        low[step->to] = hash;                                                                                  \
        high[step->to] = step->narrow ? zero : 0;                                                              \
        if (step->counted) {                                                                \
            step++;                                                                                            \
            goto counted;                                                                                      \
        }                                                                                                      \
        NEXT

#define LOAD(bytes)                                                                                            \
    AT(LWP_VALUE_LOAD_##bytes): {                                                                              \
        struct lwp_number loaded = lwp_values_load(values, addresses[step->b], step->key, bytes);              \
        low[step->to] = loaded.low;                                                                            \
        high[step->to] = loaded.high;                                                                          \
        NEXT;                                                                                                  \
    }

#define STORE(bytes)                                                                                           \
    AT(LWP_VALUE_STORE_##bytes):                                                                               \
        lwp_values_store(values, addresses[step->b], step->key, bytes,                                         \
                         (struct lwp_number){low[step->a], high[step->a]});                                    \
        NEXT

void lwp_values_run(struct lwp_values *values, const struct lwp_value_steps *steps, const uint64_t *addresses,
                    uint32_t passed, uint32_t context)
{
    static const void *const ways[LWP_VALUE_CODES] = {
        WAY(LWP_VALUE_UNARY), WAY(LWP_VALUE_UNARY_32), WAY(LWP_VALUE_BINARY), WAY(LWP_VALUE_BINARY_32),
        WAY(LWP_VALUE_EITHER), WAY(LWP_VALUE_EITHER_32), WAY(LWP_VALUE_WITH), WAY(LWP_VALUE_WITH_32), WAY(LWP_VALUE_COPY), WAY(LWP_VALUE_WIDEN),
        WAY(LWP_VALUE_TO_8), WAY(LWP_VALUE_TO_16), WAY(LWP_VALUE_TO_HIGH), WAY(LWP_VALUE_PAIR),
        WAY(LWP_VALUE_SET_LOW), WAY(LWP_VALUE_CONSTANT), WAY(LWP_VALUE_NEW), WAY(LWP_VALUE_LOAD_1),
        WAY(LWP_VALUE_LOAD_2), WAY(LWP_VALUE_LOAD_4), WAY(LWP_VALUE_LOAD_8), WAY(LWP_VALUE_STORE_1),
        WAY(LWP_VALUE_STORE_2), WAY(LWP_VALUE_STORE_4), WAY(LWP_VALUE_STORE_8), WAY(LWP_VALUE_FORGET),
        WAY(LWP_VALUE_COMPUTED),
    };
    uint64_t *low = values->low, *high = values->high, hash, computed = 0;
    const struct lwp_value_step *end = steps->step + steps->ends[passed < steps->exits ? passed : steps->exits];
    const uint64_t epoch = values->numbering.epoch, zero = lwp_number_constant(0) | epoch;
    const struct lwp_value_step *step = steps->step;
    if (step == end)
        return;
    goto *ways[step->code];
    OPERATOR(LWP_VALUE_UNARY, true, false, false);
    OPERATOR(LWP_VALUE_UNARY_32, false, false, false);
    OPERATOR(LWP_VALUE_BINARY, true, true, false);
    OPERATOR(LWP_VALUE_BINARY_32, false, true, false);
    OPERATOR(LWP_VALUE_EITHER, true, true, true);
    OPERATOR(LWP_VALUE_EITHER_32, false, true, true);
    OPERATOR(LWP_VALUE_WITH, true, false, true);
    OPERATOR(LWP_VALUE_WITH_32, false, false, true);
    AT(LWP_VALUE_COPY):
        low[step->to] = low[step->a];
        high[step->to] = high[step->a];
        NEXT;
    AT(LWP_VALUE_WIDEN):
        low[step->to] = low[step->a];
        high[step->to] = zero;
        NEXT;
    AT(LWP_VALUE_TO_8):
        low[step->to] = lwp_number_to_8(low[step->a]);
        high[step->to] = zero;
        NEXT;
    AT(LWP_VALUE_TO_16):
        low[step->to] = lwp_number_to_16(low[step->a]);
        high[step->to] = zero;
        NEXT;
    AT(LWP_VALUE_TO_HIGH):
        low[step->to] = lwp_number_high((struct lwp_number){low[step->a], high[step->a]});
        high[step->to] = zero;
        NEXT;
    AT(LWP_VALUE_PAIR):
        hash = low[step->b];
        low[step->to] = low[step->a];
        high[step->to] = hash;
        NEXT;
    AT(LWP_VALUE_SET_LOW):
        hash = lwp_number_high((struct lwp_number){low[step->b], high[step->b]});
        low[step->to] = low[step->a];
        high[step->to] = hash;
        NEXT;
    AT(LWP_VALUE_CONSTANT):
        low[step->to] = step->key | epoch;
        high[step->to] = zero;
        NEXT;
    AT(LWP_VALUE_NEW):
        low[step->to] = lwp_values_new(values, step->width);
        high[step->to] = step->narrow ? zero : 0;
        NEXT;
    LOAD(1)
    LOAD(2)
    LOAD(4)
    LOAD(8)
    STORE(1);
    STORE(2);
    STORE(4);
    STORE(8);
    AT(LWP_VALUE_FORGET):
        lwp_values_forget_bytes(values, addresses[step->b], step->key);
        NEXT;
    AT(LWP_VALUE_COMPUTED):
        hash = low[step->a];
counted:
        computed++;
        lwp_values_computed(values, hash, (uint32_t)step->key, context + step->to);
        NEXT;
done:
    values->computed += computed;
}
