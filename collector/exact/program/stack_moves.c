#include "collector/exact/program/stack_moves.h"

#include "collector/exact/valgrind/emit.h"

#include "libvex_guest_amd64.h"
#include <stddef.h>

#define POINTER ((Int)offsetof(VexGuestAMD64State, guest_RSP))

/* Of each temporary of the superblock: whether it is made from the stack pointer. */
static Bool *made;
static Int made_room;

void lwp_stack_moves_enter(struct lwp_stack_moves *moves, const IRSB *in)
{
    *moves = (struct lwp_stack_moves){.from = NULL};
    made = tool_room(made, &made_room, in->tyenv->types_used, sizeof *made);
    VG_(memset)(made, 0, (SizeT)in->tyenv->types_used * sizeof *made);
}

static bool is_made(const IRExpr *value)
{
    return value->tag == Iex_RdTmp && made[value->Iex.RdTmp.tmp];
}

static bool makes(const IRExpr *data)
{
    if (data->tag == Iex_Get)
        return data->Iex.Get.offset == POINTER;
    if (data->tag == Iex_RdTmp)
        return is_made(data);
    if (data->tag != Iex_Binop)
        return false;
    IROp operation = data->Iex.Binop.op;
    return (operation == Iop_Add64 && (is_made(data->Iex.Binop.arg1) || is_made(data->Iex.Binop.arg2))) ||
           ((operation == Iop_Sub64 || operation == Iop_And64) && is_made(data->Iex.Binop.arg1));
}

void lwp_stack_moves_before(struct lwp_stack_moves *moves, IRSB *out, const IRStmt *statement)
{
    if (statement->tag == Ist_WrTmp)
        made[statement->Ist.WrTmp.tmp] = makes(statement->Ist.WrTmp.data);
    if (statement->tag != Ist_Put || statement->Ist.Put.offset != POINTER)
        return;
    IRExpr *to = statement->Ist.Put.data;
    if (is_made(to))
        return;
    if (!moves->from)
        moves->from = emit_register(out, POINTER);
    moves->to = to;
    if (to->tag == Iex_RdTmp)
        made[to->Iex.RdTmp.tmp] = True;
}
