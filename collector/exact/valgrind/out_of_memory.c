/* When Valgrind is out of memory it shows its map of the address space on stderr, which is the program's, and exits. This
 * takes the place of the showing (the linker's --wrap): a piece that was set aside for this moment is given back, and what
 * was gathered is written with it. */
#include "collector/exact/valgrind/out_of_memory.h"

#include "collector/exact/valgrind/tool.h"

enum { SET_ASIDE = 8 << 20 };

void __wrap_vgPlain_am_show_nsegments(Int level, const HChar *who);
extern void __real_vgPlain_am_show_nsegments(Int level, const HChar *who);

static void *words_room;
static void (*words_say)(void);

void lwp_last_words(void (*say)(void))
{
    words_room = LWP_TOOL_PAGES(SET_ASIDE);
    words_say = say;
}

void __wrap_vgPlain_am_show_nsegments(Int level, const HChar *who)
{
    void (*say)(void) = words_say;
    if (VG_(strcmp)(who, "out_of_memory") != 0) { /* other callers show it for Valgrind's own debugging */
        __real_vgPlain_am_show_nsegments(level, who);
        return;
    }
    words_say = NULL;
    if (!say)
        return;
    if (words_room)
        VG_(am_munmap_valgrind)((Addr)words_room, SET_ASIDE);
    say();
}
