#include "collector/exact/detect/registers/spatial_registers.h"

#include "collector/exact/program/process.h"
#include "collector/exact/valgrind/tool.h"

#include "libvex_guest_amd64.h"
#include <stddef.h>

#define OFFSET(name) ((PtrdiffT)offsetof(VexGuestAMD64State, guest_##name))

enum { GROUPS = 3, REGISTERS_MOST = 16 };

static const struct {
    PtrdiffT offset;
    SizeT step, count;
} groups[GROUPS] = {{OFFSET(RAX), 8, 16}, {OFFSET(FPREG), 8, 8}, {OFFSET(YMM0), 32, 16}};

static uint64_t looks, equal[GROUPS];

static uint64_t registers_equal(ThreadId thread, unsigned group)
{
    uint64_t values[REGISTERS_MOST], count = 0;
    for (SizeT i = 0; i < groups[group].count; i++) {
        SizeT before = 0;
        VG_(get_shadow_regs_area)(thread, (UChar *)&values[i], 0, groups[group].offset + (PtrdiffT)(i * groups[group].step), sizeof values[i]);
        while (before < i && values[before] != values[i])
            before++;
        count += before < i;
    }
    return count;
}

void lwp_spatial_registers_look(void)
{
    looks++;
    for (unsigned group = 0; group < GROUPS; group++)
        equal[group] += registers_equal(VG_(get_running_tid)(), group);
}

static UInt registers_percent(unsigned group)
{
    return (UInt)(100 * equal[group] / (looks * groups[group].count));
}

void lwp_spatial_registers_finish(void)
{
    static HChar note[200];
    if (!looks)
        return;
    VG_(snprintf)(note, sizeof note, "At the ends of %llu windows %u %% of the general registers, %u %% of the vector registers and %u %% of "
                  "those of the x87 held what another one held, too.", (ULong)looks, registers_percent(0), registers_percent(2), registers_percent(1));
    lwp_exact_process_note(note);
}

void lwp_spatial_registers_reset(void)
{
    looks = 0;
    VG_(memset)(equal, 0, sizeof equal);
}
