/* A function as it stands in the source, perhaps inlined into another one. */
#ifndef LWP_ANALYSIS_PROGRAM_DEBUG_FRAME_H
#define LWP_ANALYSIS_PROGRAM_DEBUG_FRAME_H

#include <stdbool.h>
#include <stdint.h>

struct lwp_frame {
    const char *function; /* demangled; NULL: unknown */
    const char *file;     /* NULL: unknown */
    uint32_t line;        /* 0: unknown */
    bool inlined;         /* into the next frame */
};

#endif
