#include "collector/exact/detect/values/value_slots.h"

#include "collector/exact/detect/values/value_steps.h"
#include "libvex_guest_amd64.h"

#include <stddef.h>

struct lwp_value_slots lwp_value_slots_of(Int offset, Int bytes)
{
    enum {
        GENERAL = offsetof(VexGuestAMD64State, guest_RAX),
        GENERAL_END = offsetof(VexGuestAMD64State, guest_CC_OP),
        VECTORS = offsetof(VexGuestAMD64State, guest_SSEROUND), /* and then the vector registers */
        VECTORS_END = offsetof(VexGuestAMD64State, guest_YMM0) + 16 * 32,
        GENERAL_SLOTS = (GENERAL_END - GENERAL) / 8,
    };
    _Static_assert(GENERAL_SLOTS + (VECTORS_END - VECTORS) / 8 <= LWP_VALUE_REGISTERS, "a slot for each register");
    struct lwp_value_slots none = {0, 0};
    if (offset >= GENERAL && offset + bytes <= GENERAL_END)
        return (struct lwp_value_slots){(UInt)(offset - GENERAL) / 8, (UInt)(bytes + (offset - GENERAL) % 8 + 7) / 8};
    if (offset >= VECTORS && offset + bytes <= VECTORS_END)
        return (struct lwp_value_slots){GENERAL_SLOTS + (UInt)(offset - VECTORS) / 8,
                                        (UInt)(bytes + (offset - VECTORS) % 8 + 7) / 8};
    return none;
}
