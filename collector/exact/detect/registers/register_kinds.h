/* Which of the guest's registers are looked at, and how they are made up. */
#ifndef LWP_COLLECTOR_EXACT_DETECT_REGISTERS_REGISTER_KINDS_H
#define LWP_COLLECTOR_EXACT_DETECT_REGISTERS_REGISTER_KINDS_H

#include "collector/exact/valgrind/tool.h"
#include "libvex_guest_amd64.h"
#include "libvex_ir.h"

#include <stdbool.h>
#include <stddef.h>

#define OFFSET(name) ((Int)offsetof(VexGuestAMD64State, guest_##name))

enum { LANE = 8, HALF = 16, VECTOR = 32, NUMBERS_X87 = 8 };

static inline bool is_general(Int offset)
{
    return offset >= OFFSET(RAX) && offset < OFFSET(R15) + 8 && (offset < OFFSET(RSP) || offset >= OFFSET(RSP) + 8);
}

static inline bool is_vector(Int offset)
{
    return offset >= OFFSET(YMM0) && offset < OFFSET(YMM15) + VECTOR;
}

static inline bool is_x87(const IRStmt *statement)
{
    return statement->tag == Ist_PutI && statement->Ist.PutI.details->descr->base == OFFSET(FPREG);
}

static inline bool is_looked_at(const IRStmt *statement)
{
    if (statement->tag == Ist_Put)
        return is_general(statement->Ist.Put.offset) || is_vector(statement->Ist.Put.offset);
    return is_x87(statement);
}

static inline bool is_zero(const IRExpr *data)
{
    if (data->tag != Iex_Const)
        return false;
    const IRConst *constant = data->Iex.Const.con;
    return (constant->tag == Ico_V128 && !constant->Ico.V128) || (constant->tag == Ico_V256 && !constant->Ico.V256) ||
           (constant->tag == Ico_U64 && !constant->Ico.U64);
}

#endif
