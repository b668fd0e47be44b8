#include "collector/exact/program/requests.h"

#include "collector/exact/detect/registers/spatial.h"
#include "collector/exact/program/region.h"
#include "collector/exact/program/trace_words.h"
#include "collector/exact/valgrind/tool.h"
#include "collector/lwp.h"

static Bool requests_take(ThreadId id, UWord *arguments, UWord *result)
{
    lwp_trace_drain();
    *result = 0;
    switch (arguments[0]) {
    case LWP_REQUEST_BEGIN:
    case LWP_REQUEST_END:
        lwp_region_mark(arguments[0] == LWP_REQUEST_BEGIN);
        return True;
    case LWP_REQUEST_ARRAY:
        if (lwp_trace_inside)
            lwp_spatial_array(VG_(get_IP)(id), arguments[1], arguments[2], arguments[3], arguments[4] != 0);
        return True;
    default:
        return False;
    }
}

void lwp_requests_start(void)
{
    VG_(needs_client_requests)(requests_take);
}
