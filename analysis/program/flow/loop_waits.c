/* The chains of values that go from one iteration of a loop to the next, through registers or through memory.
 *
 * Limits: all blocks count as run; through memory only by places without an index, whose base the loop leaves as it is; what else may store
 * there is not asked. */
#include "analysis/program/flow/loop_waits.h"

#include <string.h>

void code_loop_waits_begin(struct loop_waits *waits)
{
    memset(waits, 0, sizeof *waits);
    for (int s = 0; s < LOOP_REGISTERS; s++)
        for (int r = 0; r < LOOP_REGISTERS; r++)
            waits->waits[s][r] = s == r ? 0 : -1;
}

static int16_t waits_later(int latest, int cycles)
{
    return (int16_t)(latest < 0 ? -1 : latest + cycles > INT16_MAX ? INT16_MAX : latest + cycles);
}

/* The latest of the registers that the instruction reads, by when each is there; no earlier than `least`. */
static int waits_latest(const int16_t *there, const struct code_instruction *instruction, int least)
{
    int latest = least;
    for (uint64_t left = code_values_read(instruction); left; left &= left - 1) {
        const int at = there[__builtin_ctzll(left)];
        latest = at > latest ? at : latest;
    }
    return latest;
}

static void waits_write(int16_t *there, const struct code_instruction *instruction, int16_t done)
{
    for (uint64_t left = code_values_written(instruction); left; left &= left - 1)
        there[__builtin_ctzll(left)] = done;
}

/* The cell at the operand's place, made when there is none; NULL: it is no such place, or there are too many. */
static struct loop_cell *waits_cell(struct loop_waits *waits, const struct lwp_memory_operand *memory, uint64_t next)
{
    const int64_t at = memory->displacement + (memory->base == CODE_RIP ? (int64_t)next : 0);
    if (!memory->exists || !(memory->load || memory->store) || memory->index >= 0 || memory->gather || memory->string || memory->bytes > 8)
        return NULL;
    for (uint32_t c = 0; c < waits->cell_count; c++)
        if (waits->cells[c].base == memory->base && waits->cells[c].at == at)
            return &waits->cells[c];
    if (waits->cell_count == LOOP_CELLS)
        return NULL;
    struct loop_cell *cell = &waits->cells[waits->cell_count++];
    *cell = (struct loop_cell){.base = memory->base, .at = at};
    for (int r = 0; r < LOOP_REGISTERS; r++)
        cell->waits[r] = -1;
    return cell;
}

/* What the instruction does to the value that the cell had at the iteration's start; `there`: it accesses the cell. */
static void cell_add(struct loop_cell *cell, const struct code_instruction *instruction, bool there, int cycles)
{
    const int latest = waits_latest(cell->waits, instruction, there && instruction->memory.load ? cell->value : -1);
    const int16_t done = waits_later(latest, cycles);
    waits_write(cell->waits, instruction, done);
    if (there && instruction->memory.store) {
        cell->value = instruction->puts ? (int16_t)latest : done;
        cell->stored = true;
        cell->from |= code_values_read(instruction);
    }
}

static void waits_since(struct loop_waits *waits, const struct code_instruction *instruction, int cycles)
{
    const int16_t done = waits_later(waits_latest(waits->since, instruction, 0), cycles);
    waits_write(waits->since, instruction, done);
    if (instruction->written_vectors && done > waits->depth)
        waits->depth = done;
    waits->tail = done > waits->tail ? done : waits->tail;
}

void code_loop_waits_add(struct loop_waits *waits, const struct code_instruction *instruction, uint64_t next)
{
    uint64_t read = code_values_read(instruction), written = code_values_written(instruction);
    const struct loop_cell *cell = waits_cell(waits, &instruction->memory, next);
    int cycles = written || instruction->memory.store ? code_cycles(instruction) : 0;
    const bool scales = code_scales(instruction);
    waits_since(waits, instruction, code_moves(instruction) ? 0 : cycles);
    for (uint32_t c = 0; c < waits->cell_count; c++)
        cell_add(&waits->cells[c], instruction, cell == &waits->cells[c], cycles);
    for (int s = 0; s < LOOP_REGISTERS && written; s++) {
        int latest = -1, scaled = 0;
        for (uint64_t left = read; left; left &= left - 1) {
            const int from = __builtin_ctzll(left), at = waits->waits[s][from];
            scaled = at > latest ? waits->scaled[s][from] : scaled;
            latest = at > latest ? at : latest;
        }
        const int16_t done = waits_later(latest, cycles);
        for (uint64_t left = written; left; left &= left - 1) {
            waits->waits[s][__builtin_ctzll(left)] = done;
            waits->scaled[s][__builtin_ctzll(left)] = (uint8_t)(scaled + scales > UINT8_MAX ? UINT8_MAX : scaled + scales);
        }
    }
}

/* The one of these registers whose value is waited for longest; -1: none is. */
static int waits_longest(const struct loop_waits *waits, uint64_t registers)
{
    int longest = -1, cycles = 0;
    for (int r = 0; r < LOOP_REGISTERS; r++)
        if (registers >> r & 1 && waits->waits[r][r] > cycles) {
            longest = r;
            cycles = waits->waits[r][r];
        }
    return longest;
}

/* The longest chain through memory that gets something from what is loaded. A value is stored, and loaded again an iteration later. */
static const struct loop_cell *waits_cell_longest(const struct loop_waits *waits, uint64_t loaded, uint32_t changed)
{
    const struct loop_cell *longest = NULL;
    for (uint32_t c = 0; c < waits->cell_count; c++) {
        const struct loop_cell *cell = &waits->cells[c];
        const bool stays = cell->base < 0 || !(changed >> cell->base & 1);
        if (cell->stored && cell->value > 0 && stays && cell->from & loaded && (!longest || cell->value > longest->value))
            longest = cell;
    }
    return longest;
}

void code_loop_waits_chains(const struct loop_waits *waits, uint64_t loaded, uint32_t changed, struct lwp_loop_work *work)
{
    const int any = waits_longest(waits, UINT64_MAX), through = waits_longest(waits, loaded);
    const struct loop_cell *cell = waits_cell_longest(waits, loaded, changed);
    work->chain = any < 0 ? 0 : waits->waits[any][any];
    work->loaded_chain = through < 0 ? 0 : waits->waits[through][through];
    work->scaled = through < 0 ? 0 : waits->scaled[through][through];
    work->chain_of_vectors = through >= CODE_REGISTERS;
    work->depth = waits->depth;
    work->tail = waits->tail;
    if (!cell || cell->value < work->loaded_chain)
        return;
    work->loaded_chain = cell->value;
    work->scaled = 0;
    work->chain_of_vectors = cell->from >> CODE_REGISTERS;
    work->chain = work->chain > cell->value ? work->chain : cell->value;
    work->kept = cell->base < 0 ? LWP_LOOP_KEPT_AT_ADDRESS : LWP_LOOP_KEPT_BY_REGISTER;
}

uint64_t code_loop_waits_carried(const struct loop_waits *waits)
{
    uint64_t carried = 0;
    for (int r = 0; r < LOOP_REGISTERS; r++)
        if (waits->waits[r][r] >= 0)
            carried |= (uint64_t)1 << r;
    return carried;
}
