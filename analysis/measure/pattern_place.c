#include "analysis/measure/pattern_place.h"

/* A product as compilers make it: a multiplication takes a unit that others may wait for. */
static void code_scale(struct emit_buffer *code, ZydisRegister to, ZydisRegister from, uint64_t by)
{
    if (!by || by & (by - 1)) {
        emit_multiply(code, to, from, by);
        return;
    }
    if (to != from)
        emit_move(code, to, emit_register(from));
    emit_add(code, ZYDIS_MNEMONIC_SHL, 2, emit_register(to), emit_number(__builtin_ctzll(by)));
}

bool code_by_index(const struct lwp_pattern *pattern)
{
    bool some = false;
    for (size_t i = 0; i < pattern->access_count; i++)
        some |= pattern->accesses[i].by_index;
    for (size_t a = 0; a < pattern->array_count; a++)
        some &= pattern->arrays[a].walk == LWP_PATTERN_STEPS && pattern->arrays[a].spacing == pattern->arrays[0].spacing;
    return some && pattern->arrays[0].spacing && !pattern->guesses && 2 * pattern->array_count <= LWP_PATTERN_ARRAYS;
}

ZydisRegister code_cursor(const struct lwp_pattern *pattern, size_t array)
{
    return code_arrays[array + (code_by_index(pattern) ? pattern->array_count : 0)];
}

struct emit_place code_element(struct emit_buffer *code, const struct lwp_pattern *pattern, size_t array, unsigned ahead, uint64_t *spacing)
{
    const struct lwp_pattern_array *of = &pattern->arrays[array];
    if (of->walk == LWP_PATTERN_LINKED) {
        const struct lwp_pattern_array *head = &pattern->arrays[of->from];
        const struct emit_place at = code_element(code, pattern, of->from, ahead, spacing);
        const uint64_t on = head->walk == LWP_PATTERN_STEPS ? ahead * head->spacing : 0;
        emit_move(code, code_address, emit_at(at, (int64_t)(of->link + on), 8));
        *spacing = 0;
        return (struct emit_place){.base = code_address};
    }
    if (of->walk != LWP_PATTERN_INDEXED)
        return (struct emit_place){.base = code_cursor(pattern, array)};
    if (of->spacing <= 8 && !(of->spacing & (of->spacing - 1)))
        return (struct emit_place){.base = code_arrays[array], .index = code_index, .scale = (uint8_t)of->spacing};
    /* An index of which nothing else is needed is scaled where it is: a move that is an instruction more takes no unit's time. */
    const ZydisRegister scaled = pattern->array_count > 1 || pattern->bisects || of->leads ? code_address : code_index;
    if (of->spacing != *spacing)
        code_scale(code, scaled, code_index, of->spacing);
    *spacing = of->spacing;
    return (struct emit_place){.base = code_arrays[array], .index = scaled, .scale = 1};
}

bool code_searches(const struct lwp_pattern *pattern)
{
    return pattern->search && pattern->arrays[0].walk == LWP_PATTERN_CHAINED;
}

bool code_descends(const struct lwp_pattern *pattern)
{
    return pattern->tree || pattern->bisects;
}

bool code_begins(const struct lwp_pattern *pattern)
{
    return code_searches(pattern) || code_descends(pattern);
}

ZydisRegister code_drawn(const struct lwp_pattern *pattern)
{
    return code_arrays[LWP_PATTERN_ARRAYS - 1 - code_begins(pattern)];
}
