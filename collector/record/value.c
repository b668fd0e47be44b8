#include "collector/record/value.h"

#include <math.h>
#include <string.h>

double lwp_value_close = 0.01;

static bool is_close(double before, double after)
{
    return lwp_value_close > 0 && isnormal(before) && isnormal(after) && fabs(after - before) <= lwp_value_close * fabs(before);
}

enum lwps_value lwp_value_compare(uint64_t before, uint64_t after, unsigned bytes, unsigned element)
{
    uint64_t mask = bytes >= 8 ? UINT64_MAX : ((uint64_t)1 << bytes * 8) - 1;
    before &= mask;
    after &= mask;
    if (before == after)
        return LWPS_VALUE_SAME;
    if (element == 8 && bytes == 8) {
        const uint64_t far = (uint64_t)(lwp_value_close * 0x1p53) + 1; /* so many steps it is at most */
        if ((before > after ? before - after : after - before) > far)
            return LWPS_VALUE_OTHER;
        double a, b;
        __builtin_memcpy(&a, &before, sizeof a);
        __builtin_memcpy(&b, &after, sizeof b);
        return is_close(a, b) ? LWPS_VALUE_CLOSE : LWPS_VALUE_OTHER;
    }
    if (element != 4 || bytes < 4)
        return LWPS_VALUE_OTHER;
    for (unsigned i = 0; i < bytes; i += 4) {
        float a, b;
        __builtin_memcpy(&a, (const char *)&before + i, sizeof a);
        __builtin_memcpy(&b, (const char *)&after + i, sizeof b);
        if (memcmp(&a, &b, sizeof a) && // NOLINT(bugprone-suspicious-memory-comparison): -0 is not +0 here
            !(isnormal(a) && isnormal(b) && is_close((double)a, (double)b)))
            return LWPS_VALUE_OTHER;
    }
    return LWPS_VALUE_CLOSE;
}
