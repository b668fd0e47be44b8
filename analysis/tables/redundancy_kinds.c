#include "analysis/tables/redundancy_kinds.h"

const struct lwp_redundancy_row lwp_redundancy_rows[LWP_WATCHPOINT_KINDS] = {
    [LWP_WATCHPOINT_DEAD_STORE] = {LWPS_VERDICT_DEAD_STORE, "dead_store", "dead-store", "of all bytes stored", "of the time around stores",
                                   "stored in", "dead stores", "overwritten before anything read them"},
    [LWP_WATCHPOINT_SILENT_STORE] = {LWPS_VERDICT_SILENT_STORE, "silent_store", "silent-store", "of all bytes stored",
                                     "of the time around stores", "stored in", "silent stores", "left the value as it was"},
    [LWP_WATCHPOINT_SILENT_LOAD] = {LWPS_VERDICT_SILENT_LOAD, "silent_load", "silent-load", "of all bytes loaded",
                                    "of the time around loads", "loaded in", "silent loads", "loaded again what had not changed"},
    [LWP_WATCHPOINT_COMPUTATION] = {LWPS_VERDICT_COMPUTATION, "computation", "computation", "of all computations", "", "computed in",
                                    "computations", "made again from the same values"},
    [LWP_WATCHPOINT_REGISTER] = {LWPS_VERDICT_REGISTER, "register", "register", "of all bytes written to registers", "", "written in",
                                 "registers", "written with the value they had"},
    [LWP_WATCHPOINT_SPATIAL] = {LWPS_VERDICT_SPATIAL, "spatial", "spatial", "of all elements looked at", "", "stored in", "equal elements",
                                "array elements whose value others have, too"},
    [LWP_WATCHPOINT_OVERWRITTEN] = {LWPS_VERDICT_OVERWRITTEN, "overwritten", "overwritten", "of all bytes stored", "", "stored in",
                                    "other threads", "overwritten by another thread before anything read them"},
};
