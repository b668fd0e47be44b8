/* Values of analysis.json, written and read. All names come from the profiled program: they are made valid UTF-8 and are
 * otherwise as they were. */
#ifndef LWP_ANALYSIS_JSON_JSON_VALUE_H
#define LWP_ANALYSIS_JSON_JSON_VALUE_H

#include "analysis/statistics/share.h"

#include <jansson.h>
#include <stdbool.h>

/* New references. */
json_t *lwp_json_text(const char *text);                  /* NULL: null */
json_t *lwp_json_share(double value);                     /* six digits; not finite: 0 */
json_t *lwp_json_real(double value);                      /* six digits; not finite: null */
json_t *lwp_json_measured(double value);                  /* the same; negative: null */
json_t *lwp_json_range(double low, double high);          /* [low, high]; low negative: null */
json_t *lwp_json_interval(const struct lwp_share *share); /* [low, high] */
json_t *lwp_json_count(uint64_t value);
json_t *lwp_json_known(uint64_t value); /* 0: null */
json_t *lwp_json_id(uint32_t id);       /* LWP_NONE: null */

/* An object of pairs "key", new reference; NULL ends the list. Pairs whose value is NULL are left out. */
json_t *lwp_json_new(const char *key, ...) __attribute__((sentinel));

/* An array of `count` items, each an expression of `index`; a NULL one is left out. */
#define LWP_JSON_LIST(index, count, item)                                                                                                  \
    ({                                                                                                                                     \
        json_t *list_##index = json_array();                                                                                               \
        for (size_t index = 0, count_##index = (count); index < count_##index; index++)                                                    \
            json_array_append_new(list_##index, (item));                                                                                   \
        list_##index;                                                                                                                      \
    })

/* Values at a key, owned by the object. They never fail: the wrong type counts as missing. */
const char *lwp_json_string(const json_t *object, const char *key);
const char *lwp_json_string_or(const json_t *object, const char *key, const char *otherwise);
const char *lwp_json_shown(const json_t *text); /* the text itself, "?" where it is none */
bool lwp_json_is(const json_t *object, const char *key, const char *text);
double lwp_json_number(const json_t *object, const char *key);            /* missing: -1 */
double lwp_json_amount(const json_t *object, const char *key);            /* missing: 0 */
double lwp_json_percent(const json_t *object, const char *key);           /* of a share; missing: 0 */
double lwp_json_end(const json_t *object, const char *key, size_t which); /* of [low, high]; missing: 0 */

/* The entry of root's `array` that the id at `key` stands for, or NULL; and for an id on its own. */
json_t *lwp_json_entry(const json_t *root, const char *array, const json_t *object, const char *key);
json_t *lwp_json_at(const json_t *root, const char *array, const json_t *id);

/* Calls `visit` for each text in `value`, itself included, with the key that it or the array around it has. */
void lwp_json_texts(json_t *value, const char *key, void (*visit)(void *to, const char *key, json_t *text), void *to);

#endif
