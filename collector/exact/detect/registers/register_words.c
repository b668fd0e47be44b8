#include "collector/exact/detect/registers/register_words.h"

#include "collector/exact/valgrind/emit.h"

/* The place of the next write, whose value is `data`. */
struct lwp_register_write *lwp_left_write(struct lwp_registers_block *block, Int base, Int from, IRExpr *data)
{
    struct lwp_registers_site *site = block->later;
    struct lwp_register_write *write = &site->writes[site->write_count++];
    UInt bytes = (UInt)sizeofIRType(typeOfIRExpr(block->out->tyenv, data));
    *write = (struct lwp_register_write){.base = (UShort)base, .from = (UChar)from, .bytes = (UChar)bytes};
    if (data->tag == Iex_Const && bytes == LANE && data->Iex.Const.con->tag == Ico_U64) {
        write->known = true;
        write->value = data->Iex.Const.con->Ico.U64;
        return write;
    }
    write->word = (UShort)lwp_left_take(block->left, (bytes + LANE - 1) / LANE);
    lwp_left_store(block->left, write->word, data);
    return write;
}

/* Registers that something else than a statement that is looked at has written. */
static void left_set(struct lwp_registers_block *block, Int offset, Int bytes)
{
    for (Int at = offset & ~(LANE - 1); at < offset + bytes; at += LANE)
        if (is_general(at) || is_vector(at) || (at >= OFFSET(FPREG) && at < OFFSET(FPREG) + NUMBERS_X87 * LANE))
            lwp_left_write(block, at, 0, emit_value(block->out, IRExpr_Get(at, Ity_I64)));
}

void lwp_left_helper(struct lwp_registers_block *block)
{
    const IRDirty *call = block->helper;
    block->helper = NULL;
    for (Int i = 0; call && i < call->nFxState; i++)
        for (Int k = 0; k <= call->fxState[i].nRepeats && call->fxState[i].fx != Ifx_Read; k++)
            left_set(block, call->fxState[i].offset + k * call->fxState[i].repeatLen, call->fxState[i].size);
}

/* The superblock may be left here. */
void lwp_left_part(struct lwp_registers_block *block)
{
    struct lwp_registers_site *site = block->later;
    block->done.writes = site->write_count;
    block->done.instructions += block->instructions;
    block->instructions = 0;
    for (unsigned i = 0; i < 4; i++) {
        block->done.bytes[i / 2][i % 2] += block->bytes[i / 2][i % 2];
        block->bytes[i / 2][i % 2] = 0;
    }
    site->parts[site->part_count++] = block->done;
    lwp_left_store(block->left, site->done, emit_word(site->part_count));
}

/* At most so many words are needed for what is written. */
static UInt left_most(const IRSB *in)
{
    UInt most = 0;
    for (Int i = 0; i < in->stmts_used; i++)
        if (in->stmts[i]->tag == Ist_Dirty)
            most += in->stmts[i]->Ist.Dirty.details->nFxState ? sizeof(VexGuestAMD64State) / LANE : 0;
        else
            most += is_looked_at(in->stmts[i]) ? VECTOR / LANE : 0;
    return most;
}

void lwp_left_enter(struct lwp_registers_block *block)
{
    UInt parts = 1, most = left_most(block->in);
    if (most > LWP_LEFT_REGISTERS)
        return;
    for (Int i = 0; i < block->in->stmts_used; i++)
        parts += block->in->stmts[i]->tag == Ist_Exit;
    block->later = lwp_registers_site_new(parts, most);
    block->later->numbers = block->site.group;
    block->later->done = lwp_left_take(block->left, 1);
}

/* One more register than can be pending. */
void lwp_left_beyond(struct lwp_registers_block *block, Int base, Int from, IRExpr *data)
{
    if (!is_zero(data) || from != HALF) {
        lwp_left_write(block, base, from, data);
        return;
    }
    for (Int at = from; at < VECTOR; at += LANE)
        lwp_left_write(block, base, at, emit_word(0));
}
