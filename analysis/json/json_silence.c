/* "coverage", "silence" and "left_alone" of analysis.json: how much was seen, and why there is no advice. */
#include "analysis/json/json_parts.h"

json_t *lwp_json_coverage(struct lwp_json_tables *tables)
{
    const struct lwp_coverage *coverage = &tables->answers->coverage;
    if (!coverage->of)
        return json_null();
    const struct lwp_profile *profile = tables->profile;
    return lwp_json_new("of", json_string(coverage->of), "share", lwp_json_share(coverage->share), "loader_share",
                        lwp_json_share(coverage->loader), "instructions", lwp_json_known(profile->instructions), "sentence",
                        lwp_json_text(coverage->sentence), NULL);
}

json_t *lwp_json_silence(struct lwp_json_tables *tables)
{
    const struct lwp_silence *silence = &tables->answers->silence;
    if (!silence->kind)
        return json_null();
    return lwp_json_new("kind", json_string(silence->kind), "code", json_string(silence->code), "sentence",
                        lwp_json_text(silence->sentence), "help", lwp_json_text(silence->help), NULL);
}

static json_t *left_alone_row(struct lwp_json_tables *tables, const struct lwp_reason *reason)
{
    json_t *row = lwp_json_new("object", lwp_json_object(tables, reason->object), "code", json_string(reason->code), "sentence",
                               lwp_json_text(reason->sentence), NULL);
    if (reason->speedup > 0) {
        json_object_set_new(row, "speedup", lwp_json_share(reason->speedup));
        json_object_set_new(row, "expected_speedup", json_pack("[o,o]", lwp_json_share(reason->low), lwp_json_share(reason->high)));
    }
    return row;
}

json_t *lwp_json_left_alone(struct lwp_json_tables *tables)
{
    const struct lwp_reasons *reasons = &tables->answers->reasons;
    return LWP_JSON_LIST(i, reasons->count, left_alone_row(tables, &reasons->items[i]));
}
