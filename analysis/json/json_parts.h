/* What the files that write the parts of analysis.json share; nobody else includes it. */
#ifndef LWP_ANALYSIS_JSON_JSON_PARTS_H
#define LWP_ANALYSIS_JSON_JSON_PARTS_H

#include "analysis/json/json.h"
#include "analysis/json/json_value.h"

/* What the parts are made from, and what is listed so far of what they refer to. */
struct lwp_json_tables {
    struct lwp_profile *profile;
    const struct lwp_answers *answers;
    json_t *contexts, *loops;
    struct lwp_map *context_ids, *region_ids;
};

/* Loops and objects with less than this share of all weight are listed only when something refers to them. */
static const double lwp_json_share_listed = 0.0005;

/* Ids: in the output, null for what is not known, not listed, or the root. */
json_t *lwp_json_context(struct lwp_json_tables *tables, uint32_t context);
json_t *lwp_json_loop(struct lwp_json_tables *tables, uint32_t region);
json_t *lwp_json_object(const struct lwp_json_tables *tables, uint32_t object);

json_t *lwp_json_frame(const struct lwp_frame *frame, uint32_t module, uint64_t address);
void lwp_json_hot_loops(struct lwp_json_tables *tables);

/* Accesses that miss each cache, the last one first; null for a cache that the machine has not. */
json_t *lwp_json_misses(const struct lwp_locality_found *found, unsigned levels);

/* The parts: rows of the table in json.c. What was not measured is null. */
json_t *lwp_json_run(struct lwp_json_tables *tables);
json_t *lwp_json_types(struct lwp_json_tables *tables);
json_t *lwp_json_modules(struct lwp_json_tables *tables);
json_t *lwp_json_objects(struct lwp_json_tables *tables);
json_t *lwp_json_splits(struct lwp_json_tables *tables);
json_t *lwp_json_regroups(struct lwp_json_tables *tables);
json_t *lwp_json_kept_apart(struct lwp_json_tables *tables);
json_t *lwp_json_arrays(struct lwp_json_tables *tables);
json_t *lwp_json_conflicts(struct lwp_json_tables *tables);
json_t *lwp_json_redundancy_totals(struct lwp_json_tables *tables);
json_t *lwp_json_redundancies(struct lwp_json_tables *tables);
json_t *lwp_json_communication(struct lwp_json_tables *tables);
json_t *lwp_json_sharing(struct lwp_json_tables *tables);
json_t *lwp_json_locality(struct lwp_json_tables *tables);

/* Memory stall by calling context, time, line and instruction. */
json_t *lwp_json_stalls(struct lwp_json_tables *tables);

/* json_silence.c */
json_t *lwp_json_coverage(struct lwp_json_tables *tables);
json_t *lwp_json_silence(struct lwp_json_tables *tables);
json_t *lwp_json_left_alone(struct lwp_json_tables *tables);

#endif
