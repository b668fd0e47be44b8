#include "collector/exact/value_steps.h"

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
    for (unsigned i = first; i < first + count; i++)
        values->slot[i] = (struct lwp_number){lwp_number_new(&values->numbering), 0};
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

static void values_computed(struct lwp_values *values, uint64_t number, uint64_t place, uint32_t context)
{
    uint32_t first = lwp_value_table_add(&values->table, &values->places[place], number, context);
    values->computed++;
    if (!first)
        return;
    values->redundant++;
    lwp_shadow_pairs_at(&values->pairs, LWP_SHADOW_VALUES, first, context, 0)->same++;
}

void lwp_values_run(struct lwp_values *values, const struct lwp_value_steps *steps, const uint64_t *addresses,
                    uint32_t passed, uint32_t context)
{
    struct lwp_number *slot = values->slot;
    const struct lwp_value_step *end = steps->step + steps->ends[passed < steps->exits ? passed : steps->exits];
    const uint64_t epoch = values->numbering.epoch, zero = lwp_number_constant(0) | epoch;
    for (const struct lwp_value_step *step = steps->step; step < end; step++) {
        struct lwp_number *to = &slot[step->to];
        const struct lwp_number a = slot[step->a];
        uint64_t hash;
        switch ((enum lwp_value_code)step->code) {
        case LWP_VALUE_UNARY:
            hash = step->key + lwp_number_whole(a) * lwp_number_first;
            break;
        case LWP_VALUE_UNARY_32:
            hash = step->key + lwp_number_operand(a.low) * lwp_number_first;
            break;
        case LWP_VALUE_BINARY:
            hash = step->key + lwp_number_whole(a) * lwp_number_first + lwp_number_whole(slot[step->b]) * lwp_number_second;
            break;
        case LWP_VALUE_BINARY_32:
            hash = step->key + lwp_number_operand(a.low) * lwp_number_first +
                   lwp_number_operand(slot[step->b].low) * lwp_number_second;
            break;
        case LWP_VALUE_EITHER:
            hash = step->key + (lwp_number_whole(a) + lwp_number_whole(slot[step->b])) * lwp_number_first;
            break;
        case LWP_VALUE_EITHER_32:
            hash = step->key + (lwp_number_operand(a.low) + lwp_number_operand(slot[step->b].low)) * lwp_number_first;
            break;
        case LWP_VALUE_COPY:
            *to = a;
            continue;
        case LWP_VALUE_WIDEN:
            *to = (struct lwp_number){a.low, zero};
            continue;
        case LWP_VALUE_TO_8:
            *to = (struct lwp_number){lwp_number_to_8(a.low), zero};
            continue;
        case LWP_VALUE_TO_16:
            *to = (struct lwp_number){lwp_number_to_16(a.low), zero};
            continue;
        case LWP_VALUE_TO_HIGH:
            *to = (struct lwp_number){lwp_number_high(a), zero};
            continue;
        case LWP_VALUE_PAIR:
            *to = (struct lwp_number){a.low, slot[step->b].low};
            continue;
        case LWP_VALUE_SET_LOW:
            *to = (struct lwp_number){a.low, lwp_number_high(slot[step->b])};
            continue;
        case LWP_VALUE_CONSTANT:
            *to = (struct lwp_number){step->key | epoch, zero};
            continue;
        case LWP_VALUE_NEW:
            *to = (struct lwp_number){lwp_number_new(&values->numbering) | step->width, step->narrow ? zero : 0};
            continue;
        case LWP_VALUE_LOAD_1:
        case LWP_VALUE_LOAD_2:
        case LWP_VALUE_LOAD_4:
        case LWP_VALUE_LOAD_8:
            if (addresses[step->b])
                *to = lwp_value_load(&values->memory, addresses[step->b] + step->key, 1u << (step->code - LWP_VALUE_LOAD_1));
            else
                *to = (struct lwp_number){lwp_number_new(&values->numbering) | step->width, step->narrow ? zero : 0};
            continue;
        case LWP_VALUE_STORE_1:
        case LWP_VALUE_STORE_2:
        case LWP_VALUE_STORE_4:
        case LWP_VALUE_STORE_8:
            if (addresses[step->b])
                lwp_value_store(&values->memory, addresses[step->b] + step->key, 1u << (step->code - LWP_VALUE_STORE_1), a);
            continue;
        case LWP_VALUE_FORGET:
            if (addresses[step->b])
                lwp_value_forget(&values->memory, addresses[step->b], step->key);
            continue;
        case LWP_VALUE_COMPUTED:
            values_computed(values, a.low, step->key, context + step->to);
            continue;
        default:
            continue;
        }
        *to = (struct lwp_number){lwp_number_stamp(lwp_number_mix(hash), epoch) | step->width, step->narrow ? zero : 0};
    }
}
