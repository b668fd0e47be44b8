#include "analysis/json/json_value.h"

#include "analysis/program/code.h"
#include "base/text.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

json_t *lwp_json_text(const char *text)
{
    if (!text)
        return json_null();
    char *clean = lwp_utf8_clean(text);
    json_t *value = clean ? json_string(clean) : json_null();
    free(clean);
    return value;
}

json_t *lwp_json_share(double value)
{
    return json_real(isfinite(value) ? round(value * 1e6) / 1e6 : 0);
}

json_t *lwp_json_real(double value)
{
    return isfinite(value) ? lwp_json_share(value) : json_null();
}

json_t *lwp_json_measured(double value)
{
    return value >= 0 ? lwp_json_real(value) : json_null();
}

json_t *lwp_json_range(double low, double high)
{
    return low >= 0 ? json_pack("[o,o]", lwp_json_real(low), lwp_json_real(high)) : json_null();
}

json_t *lwp_json_count(uint64_t value)
{
    return json_integer((json_int_t)(value > INT64_MAX ? INT64_MAX : value));
}

json_t *lwp_json_known(uint64_t value)
{
    return value ? lwp_json_count(value) : json_null();
}

json_t *lwp_json_id(uint32_t id)
{
    return id == LWP_NONE ? json_null() : json_integer(id);
}

json_t *lwp_json_interval(const struct lwp_share *share)
{
    return json_pack("[o,o]", lwp_json_share(share->low), lwp_json_share(share->high));
}

json_t *lwp_json_new(const char *key, ...)
{
    json_t *object = json_object();
    va_list pairs;
    va_start(pairs, key);
    for (; key; key = va_arg(pairs, const char *))
        json_object_set_new(object, key, va_arg(pairs, json_t *));
    va_end(pairs);
    return object;
}

const char *lwp_json_string(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

const char *lwp_json_string_or(const json_t *object, const char *key, const char *otherwise)
{
    const char *text = lwp_json_string(object, key);
    return text ? text : otherwise;
}

const char *lwp_json_shown(const json_t *text)
{
    return json_is_string(text) ? json_string_value(text) : "?";
}

bool lwp_json_is(const json_t *object, const char *key, const char *text)
{
    return strcmp(lwp_json_string_or(object, key, ""), text) == 0;
}

double lwp_json_number(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : -1;
}

double lwp_json_amount(const json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

double lwp_json_percent(const json_t *object, const char *key)
{
    return 100 * lwp_json_amount(object, key);
}

double lwp_json_end(const json_t *object, const char *key, size_t which)
{
    return json_number_value(json_array_get(json_object_get(object, key), which));
}

json_t *lwp_json_at(const json_t *root, const char *array, const json_t *id)
{
    return json_is_integer(id) ? json_array_get(json_object_get(root, array), (size_t)json_integer_value(id)) : NULL;
}

json_t *lwp_json_entry(const json_t *root, const char *array, const json_t *object, const char *key)
{
    return lwp_json_at(root, array, json_object_get(object, key));
}

void lwp_json_texts(json_t *value, const char *key, void (*visit)(void *to, const char *key, json_t *text), void *to)
{
    const char *inner;
    size_t i;
    json_t *child;
    if (json_is_string(value))
        visit(to, key, value);
    json_object_foreach(value, inner, child)
        lwp_json_texts(child, inner, visit, to);
    json_array_foreach(value, i, child)
        lwp_json_texts(child, key, visit, to);
}
