/* What is added to the program's code. */
#ifndef LWP_COLLECTOR_EXACT_TRACE_INSTRUMENT_H
#define LWP_COLLECTOR_EXACT_TRACE_INSTRUMENT_H

#include "collector/exact/valgrind/tool.h"

IRSB *lwp_instrument(VgCallbackClosure *closure, IRSB *in, const VexGuestLayout *layout, const VexGuestExtents *extents,
                     const VexArchInfo *host, IRType guest_word, IRType host_word);

#endif
