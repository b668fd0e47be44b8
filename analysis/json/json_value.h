/* JSON of single values. All names come from the profiled program: they are made valid UTF-8 and are otherwise as they
 * were. Each call returns a new reference. */
#ifndef LWP_BASE_JSON_VALUE_H
#define LWP_BASE_JSON_VALUE_H

#include "analysis/statistics/share.h"

#include <jansson.h>

json_t *lwp_json_text(const char *text);                  /* NULL: null */
json_t *lwp_json_share(double value);                     /* six digits; not finite: 0 */
json_t *lwp_json_real(double value);                      /* six digits; not finite: null */
json_t *lwp_json_measured(double value);                  /* the same; negative: null */
json_t *lwp_json_range(double low, double high);          /* [low, high]; low negative: null */
json_t *lwp_json_interval(const struct lwp_share *share); /* [low, high] */
json_t *lwp_json_count(uint64_t value);
json_t *lwp_json_known(uint64_t value); /* 0: null */
json_t *lwp_json_id(uint32_t id);       /* LWP_NONE: null */

/* The other way: the text at `key`, owned by the object; NULL or `otherwise`: there is none. */
const char *lwp_json_string(const json_t *object, const char *key);
const char *lwp_json_string_or(const json_t *object, const char *key, const char *otherwise);
double lwp_json_number(const json_t *object, const char *key); /* -1: there is none */

#endif
