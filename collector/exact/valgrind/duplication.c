#include "collector/exact/valgrind/duplication.h"

#include "collector/exact/valgrind/tool.h"

#include "libvex.h"
#include "libvex_guest_amd64.h"
#include "libvex_trc_values.h"

#include <stdbool.h>

enum {
    INNER_FASTMISS = 37,                      /* VG_TRC_INNER_FASTMISS: there is no translation of where it goes on */
    LEAVES = VEX_TRC_JMP_SIGBUS,              /* lwp_duplication_leave */
};
static const Addr full_key = (Addr)1 << 62; /* in no address of a program: bits 47 to 63 of those are alike */

enum lwp_duplication lwp_duplication_now;
static bool duplicates;
static bool runs_full; /* what runs, and is translated to go on */

void lwp_duplication_start(void)
{
    duplicates = true;
}

/* ---- what is translated ---- */

static UInt (*duplication_self_check)(void *closure, VexRegisterUpdates *updates, const VexGuestExtents *extents);

/* The plain one needs no more of the guest's state than Valgrind does by itself. (Loops are not unrolled then, which goes by
 * the room that there is: windows begin and end with superblocks, so that those of both kinds have to be the same.) */
static UInt duplication_plain_updates(void *closure, VexRegisterUpdates *updates, const VexGuestExtents *extents)
{
    UInt checked = duplication_self_check(closure, updates, extents);
    *updates = VexRegUpdUnwindregsAtMemAccess;
    return checked;
}

/* In place of a look into Valgrind's fast cache, which has plain ones. */
void lwp_duplication_indirect(void);
__asm__(".globl lwp_duplication_indirect\n"
        "lwp_duplication_indirect:\n"
        "  movl $37, %ebp\n" /* INNER_FASTMISS */
        "  jmp vgPlain_disp_cp_xassisted\n");

VexTranslateResult __wrap_LibVEX_Translate(VexTranslateArgs *wanted);
extern VexTranslateResult __real_LibVEX_Translate(VexTranslateArgs *wanted);

VexTranslateResult __wrap_LibVEX_Translate(VexTranslateArgs *wanted)
{
    bool chained = wanted->disp_cp_xindir != NULL; /* those of functions that the program itself wraps are not */
    lwp_duplication_now = !duplicates || !chained ? LWP_DUPLICATION_ONLY : runs_full ? LWP_DUPLICATION_FULL : LWP_DUPLICATION_PLAIN;
    if (lwp_duplication_now == LWP_DUPLICATION_FULL)
        wanted->disp_cp_xindir = (void *)lwp_duplication_indirect;
    if (lwp_duplication_now == LWP_DUPLICATION_PLAIN) {
        wanted->instrument2 = NULL; /* what becomes of the stack */
        duplication_self_check = wanted->needs_self_check;
        wanted->needs_self_check = duplication_plain_updates;
    }
    return __real_LibVEX_Translate(wanted);
}

/* ---- where it is kept ---- */

static Addr duplication_key(Addr guest)
{
    return runs_full ? guest ^ full_key : guest;
}

void __wrap_vgPlain_add_to_transtab(const VexGuestExtents *extents, Addr entry, Addr code, UInt bytes, Bool self_checking, Int counter,
                                    UInt instructions);
extern void __real_vgPlain_add_to_transtab(const VexGuestExtents *extents, Addr entry, Addr code, UInt bytes, Bool self_checking,
                                           Int counter, UInt instructions);

void __wrap_vgPlain_add_to_transtab(const VexGuestExtents *extents, Addr entry, Addr code, UInt bytes, Bool self_checking, Int counter,
                                    UInt instructions)
{
    __real_vgPlain_add_to_transtab(extents, duplication_key(entry), code, bytes, self_checking, counter, instructions);
}

Bool __wrap_vgPlain_search_transtab(Addr *code, UShort *sector, UShort *entry, Addr guest, Bool cached);
extern Bool __real_vgPlain_search_transtab(Addr *code, UShort *sector, UShort *entry, Addr guest, Bool cached);

Bool __wrap_vgPlain_search_transtab(Addr *code, UShort *sector, UShort *entry, Addr guest, Bool cached)
{
    return __real_vgPlain_search_transtab(code, sector, entry, duplication_key(guest), cached && !runs_full);
}

/* ---- what runs ---- */

extern Bool VG_(search_unredir_transtab)(Addr *code, Addr guest); /* of Valgrind's core, not in the headers for tools */
extern void __real_vgPlain_disp_run_translations(UWord *left, void *state, Addr code);
void __wrap_vgPlain_disp_run_translations(UWord *left, void *state, Addr code);

static Addr duplication_code(Addr guest)
{
    Addr code;
    return __wrap_vgPlain_search_transtab(&code, NULL, NULL, guest, True) ? code : 0;
}

static bool is_unchained(Addr guest, Addr code)
{
    Addr unchained;
    return VG_(search_unredir_transtab)(&unchained, guest) && unchained == code;
}

/* left[0]: why the program's code was left. */
void __wrap_vgPlain_disp_run_translations(UWord *left, void *state, Addr code)
{
    const VexGuestAMD64State *guest = state;
    if (runs_full && !is_unchained(guest->guest_RIP, code)) /* Valgrind has looked into its fast cache */
        code = duplication_code(guest->guest_RIP);
    while (code) {
        left[0] = left[1] = 0;
        __real_vgPlain_disp_run_translations(left, state, code);
        if (duplicates && left[0] == LEAVES) {
            runs_full = !runs_full;
            code = duplication_code(guest->guest_RIP);
            if (code)
                code += (Addr)LibVEX_evCheckSzB(VexArchAMD64); /* the superblock has been counted */
        } else if (runs_full && left[0] == INNER_FASTMISS) {
            code = duplication_code(guest->guest_RIP);
        } else {
            return;
        }
    }
    left[0] = INNER_FASTMISS;
    left[1] = 0;
}
