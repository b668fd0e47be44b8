#include "collector/exact/valgrind/dead_puts.h"

#include "libvex_guest_amd64.h"
#include <stdbool.h>
#include <stddef.h>

#define REGISTER(name) ((Int)offsetof(VexGuestAMD64State, guest_##name))

enum { BYTES = 3 * sizeof(VexGuestAMD64State) }; /* the guest's and its shadows */

/* Of each byte: it is overwritten later, before anybody asks for it. */
static bool dead[BYTES];

/* A store that leaves a word behind `begin`: its address is made just before (lwp_words_store). */
static bool is_left(const IRSB *superblock, Int store, const IRExpr *begin)
{
    const IRStmt *before = store && begin ? superblock->stmts[store - 1] : NULL;
    const IRExpr *address = superblock->stmts[store]->Ist.Store.addr;
    return before && before->tag == Ist_WrTmp && eqIRAtom(IRExpr_RdTmp(before->Ist.WrTmp.tmp), address) &&
           before->Ist.WrTmp.data->tag == Iex_Binop && eqIRAtom(before->Ist.WrTmp.data->Iex.Binop.arg1, begin);
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
            if (!is_left(superblock, i, begin))
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
