#include "format/detect.h"

#include <stddef.h>
#include <string.h>

#define ALL_ENGINES(bit, name) {name, LWP_DETECT_##bit, false},
#define EXACT_ENGINE(bit, name) {name, LWP_DETECT_##bit, true},

const struct lwp_detect_name lwp_detect_names[] = {
    LWP_DETECT_OF_ALL_ENGINES(ALL_ENGINES, ) LWP_DETECT_OF_EXACT_ENGINE(EXACT_ENGINE, , ) {NULL, 0, false},
};

unsigned lwp_detect_parse(const char *list)
{
    unsigned mask = 0;
    while (list && *list) {
        size_t length = strcspn(list, ",");
        for (const struct lwp_detect_name *row = lwp_detect_names; row->name; row++)
            if (strlen(row->name) == length && memcmp(row->name, list, length) == 0)
                mask |= row->bit;
        list += length + (list[length] == ',');
    }
    return mask;
}
