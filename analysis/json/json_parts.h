/* What the files that write the parts of analysis.json share; nobody else includes it. */
#ifndef LWP_ANALYSIS_JSON_JSON_PARTS_H
#define LWP_ANALYSIS_JSON_JSON_PARTS_H

#include "analysis/json/json.h"
#include "analysis/json/json_value.h"

/* What is listed so far of what others refer to. */
struct lwp_json_tables {
    struct lwp_profile *profile;
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

json_t *lwp_json_run(const struct lwp_profile *profile);
json_t *lwp_json_types(const struct lwp_profile *profile);
json_t *lwp_json_modules(const struct lwp_profile *profile);
json_t *lwp_json_objects(struct lwp_json_tables *tables, const struct lwp_splits *splits,
                         const struct lwp_regroups *regroups);
json_t *lwp_json_split(struct lwp_json_tables *tables, const struct lwp_split *split);
json_t *lwp_json_communication(const struct lwp_sampled_communication *communication);
json_t *lwp_json_locality(struct lwp_json_tables *tables, const struct lwp_locality *found);
json_t *lwp_json_exchange(struct lwp_json_tables *tables, const struct lwp_counted_communication *exchange, const struct lwp_communication_tips *tips);
json_t *lwp_json_sharing(struct lwp_json_tables *tables, const struct lwp_thread_findings *together);

/* Those that fill more than one key of the root. */
void lwp_json_regroups(struct lwp_json_tables *tables, const struct lwp_regroups *regroups, json_t *root);
void lwp_json_redundancies(struct lwp_json_tables *tables, const struct lwp_redundancies *found, json_t *root);

#endif
