/* Texts of the profiled program, made fit to be shown wherever they will be. */
#include "analysis/review/review.h"

#include "base/visible.h"

#include <stdlib.h>
#include <string.h>

/* What is longer is no name that a person reads: its middle goes. */
enum { NAME_MAX_SHOWN = 400, PATH_MAX_SHOWN = 4096, DECLARATION_MAX_SHOWN = 1 << 16 };

static void review_clean(const char *key, json_t *value)
{
    const char *inner;
    size_t i;
    json_t *child;
    if (json_is_string(value)) {
        bool declaration = strcmp(key, "declaration") == 0, path = strcmp(key, "file") == 0 || strcmp(key, "path") == 0;
        char *shown = lwp_visible(json_string_value(value), declaration,
                                  declaration ? DECLARATION_MAX_SHOWN : path ? PATH_MAX_SHOWN : NAME_MAX_SHOWN);
        if (shown && strcmp(shown, json_string_value(value)) != 0)
            json_string_set(value, shown);
        free(shown);
    }
    json_object_foreach(value, inner, child)
    {
        review_clean(inner, child);
    }
    json_array_foreach(value, i, child)
    {
        review_clean(key, child);
    }
}

void lwp_review_clean(json_t *root)
{
    review_clean("", root);
}
