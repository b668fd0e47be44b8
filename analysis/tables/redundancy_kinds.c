#include "analysis/tables/redundancy_kinds.h"

const struct lwp_redundancy_row lwp_redundancy_rows[LWP_REDUNDANCY_KINDS] = {
    {"dead_store", "dead-store", "of all bytes stored", "of the time around stores", "stored in", "dead stores",
     "overwritten before anything read them"},
    {"silent_store", "silent-store", "of all bytes stored", "of the time around stores", "stored in", "silent stores",
     "left the value as it was"},
    {"silent_load", "silent-load", "of all bytes loaded", "of the time around loads", "loaded in", "silent loads",
     "loaded again what had not changed"},
    {"computation", "computation", "of all computations", "", "computed in", "computations", "made again from the same values"},
    {"register", "register", "of all bytes written to registers", "", "written in", "registers", "written with the value they had"},
    {"spatial", "spatial", "of all elements looked at", "", "stored in", "equal elements", "array elements whose value others have, too"},
    {"overwritten", "overwritten", "of all bytes stored", "", "stored in", "other threads",
     "overwritten by another thread before anything read them"},
};
