#include "collector/exact/redundancy_windows.h"

#include "collector/exact/redundancy_counts.h"

enum { TOUCHED_MOST = 1 << 20 };

bool lwp_redundancy_windows;

/* In the window, one after the other, many of them time and again; of longer windows all of the shadow is forgotten. */
static struct touched {
    Addr address;
    SizeT bytes;
} *touched;
static uint32_t touched_count;

void lwp_redundancy_touched(Addr address, SizeT bytes)
{
    if (!touched)
        touched = VG_(malloc)("lwp.touched", TOUCHED_MOST * sizeof *touched);
    if (touched_count < TOUCHED_MOST)
        touched[touched_count] = (struct touched){address, bytes};
    touched_count += touched_count <= TOUCHED_MOST;
}

void lwp_redundancy_window_ends(void)
{
    if (!lwp_redundancy_windows)
        return;
    if (touched_count > TOUCHED_MOST)
        lwp_shadow_forget_all(&lwp_redundancy_shadow);
    else
        for (uint32_t i = 0; i < touched_count; i++)
            lwp_shadow_forget(&lwp_redundancy_shadow, touched[i].address, touched[i].bytes);
    touched_count = 0;
}
