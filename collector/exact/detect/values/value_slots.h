/* The guest's registers as slots of 8 bytes, which value numbering has a number of each. */
#ifndef LWP_COLLECTOR_EXACT_DETECT_VALUES_VALUE_SLOTS_H
#define LWP_COLLECTOR_EXACT_DETECT_VALUES_VALUE_SLOTS_H

#include "collector/exact/valgrind/tool.h"

/* The slots that bytes of the guest state are in; count 0: none that is followed. */
struct lwp_value_slots {
    UInt first, count;
};
struct lwp_value_slots lwp_value_slots_of(Int offset, Int bytes);

#endif
