#include "collector/exact/dead_puts.h"

#include "libvex_guest_amd64.h"
#include <stdbool.h>
#include <stddef.h>

#define REGISTER(name) ((Int)offsetof(VexGuestAMD64State, guest_##name))

enum { BYTES = 3 * sizeof(VexGuestAMD64State) }; /* the guest's and its shadows */

/* Of each byte: it is overwritten later, before anybody asks for it. */
static bool dead[BYTES];

/* Of each temporary: it is the address of a word that the superblock leaves. */
static bool *left;
static Int left_room;

static void left_note(const IRSB *superblock, const IRExpr *begin)
{
    if (left_room < superblock->tyenv->types_used) {
        left_room = 2 * superblock->tyenv->types_used;
        VG_(free)(left);
        left = VG_(malloc)("lwp.left", (SizeT)left_room * sizeof *left);
    }
    VG_(memset)(left, 0, (SizeT)superblock->tyenv->types_used * sizeof *left);
    for (Int i = 0; begin && i < superblock->stmts_used; i++) {
        const IRStmt *statement = superblock->stmts[i];
        const IRExpr *made = statement->tag == Ist_WrTmp ? statement->Ist.WrTmp.data : NULL;
        if (made && made->tag == Iex_Binop && eqIRAtom(made->Iex.Binop.arg1, begin))
            left[statement->Ist.WrTmp.tmp] = true;
    }
}

static bool is_left(const IRExpr *address)
{
    return address->tag == Iex_RdTmp && left[address->Iex.RdTmp.tmp];
}

static void bytes_needed(Int offset, Int bytes)
{
    VG_(memset)(&dead[offset], false, (SizeT)bytes);
}

static void memory_accessed(void)
{
    bytes_needed(REGISTER(RSP), 8);
    bytes_needed(REGISTER(RBP), 8);
    bytes_needed(REGISTER(RIP), 8);
}

static void array_needed(const IRRegArray *array)
{
    bytes_needed(array->base, array->nElems * sizeofIRType(array->elemTy));
}

/* Statements are flat: but for arguments of operations, which are atoms, this is all there is. */
static void expression_needs(const IRExpr *data)
{
    if (data->tag == Iex_Get)
        bytes_needed(data->Iex.Get.offset, sizeofIRType(data->Iex.Get.ty));
    else if (data->tag == Iex_GetI)
        array_needed(data->Iex.GetI.descr);
    else if (data->tag == Iex_Load)
        memory_accessed();
}

static bool put_is_dead(Int offset, Int bytes)
{
    bool all = true;
    for (Int i = offset; i < offset + bytes; i++) {
        all &= dead[i];
        dead[i] = true;
    }
    return all;
}

static void call_needs(const IRDirty *call)
{
    if (call->nFxState)
        bytes_needed(0, BYTES);
    else if (call->mFx != Ifx_None)
        memory_accessed();
}

void lwp_dead_puts_remove(IRSB *superblock, const IRExpr *begin)
{
    left_note(superblock, begin);
    bytes_needed(0, BYTES);
    for (Int i = superblock->stmts_used; i--;) {
        const IRStmt *statement = superblock->stmts[i];
        switch (statement->tag) {
        case Ist_Put:
            if (put_is_dead(statement->Ist.Put.offset, sizeofIRType(typeOfIRExpr(superblock->tyenv, statement->Ist.Put.data))))
                superblock->stmts[i] = IRStmt_NoOp();
            break;
        case Ist_WrTmp:
            expression_needs(statement->Ist.WrTmp.data);
            break;
        case Ist_Dirty:
            call_needs(statement->Ist.Dirty.details);
            break;
        case Ist_NoOp:
        case Ist_IMark:
        case Ist_AbiHint:
            break;
        case Ist_Store:
            if (!is_left(statement->Ist.Store.addr))
                memory_accessed();
            break;
        case Ist_StoreG:
        case Ist_LoadG:
            memory_accessed();
            break;
        default: /* it may be left here; or is rare */
            bytes_needed(0, BYTES);
        }
    }
}
