#include "collector/light/heap/blocks.h"

#include "collector/light/own/own_memory.h"
#include "collector/light/own/process.h"

#include <stddef.h>

enum {
    BLOCKS = 1 << 15,
    BLOCKS_A_PAGE = 128,
    BLOCKS_AT_ONCE = 16 * BLOCKS_A_PAGE, /* their pages are got together */
    PROBES = 64,
    GONE = 1,              /* as address: the slot is free, but what lies behind it is still searched for */
    RECORDS_FIRST = 50000, /* and then at most so many a second, lest the file grow without bound */
    RECORDS_A_SECOND = 2000,
};

struct block {
    uint64_t address, size;
    uint32_t id, context;
    uint8_t kind;
};

static struct block *blocks;
static bool blocks_pages[BLOCKS / BLOCKS_A_PAGE]; /* of the table that were ever used: the others need not be read */
static bool blocks_there[BLOCKS / BLOCKS_AT_ONCE];
static uint32_t blocks_id;
static uint64_t blocks_start_ns, blocks_lost;

bool lwp_blocks_init(void)
{
    blocks = lwp_own_memory(BLOCKS * sizeof *blocks);
    blocks_start_ns = lwp_clock(CLOCK_MONOTONIC);
    return blocks != NULL;
}

/* Neighbours in memory are neighbours here, so that few pages of the table are touched. */
static uint32_t blocks_slot(uint64_t address)
{
    return (uint32_t)(address >> 12 ^ address >> 27) & (BLOCKS - 1);
}

static void blocks_put(const struct block *block, uint64_t now)
{
    lwps_put_block(&lwp_process.file, &(struct lwps_block){.id = block->id, .kind = block->kind, .context = block->context,
                                                           .time = now, .address = block->address, .size = block->size});
}

/* Where there is one block there are more soon. */
static void blocks_touch(uint32_t at)
{
    bool *there = &blocks_there[at / BLOCKS_AT_ONCE];
    if (!*there)
        lwp_own_memory_touch(&blocks[at / BLOCKS_AT_ONCE * BLOCKS_AT_ONCE], BLOCKS_AT_ONCE * sizeof *blocks);
    *there = true;
}

bool lwp_block_add(uint64_t address, uint64_t size, uint8_t kind, uint32_t context)
{
    uint64_t now = lwp_clock(CLOCK_MONOTONIC);
    if (blocks_id > RECORDS_FIRST && blocks_id - RECORDS_FIRST > (now - blocks_start_ns) / 1000000 * RECORDS_A_SECOND / 1000) {
        blocks_lost++;
        return false;
    }
    uint32_t at = blocks_slot(address);
    for (unsigned probe = 0; probe < PROBES; probe++, at = (at + 1) & (BLOCKS - 1)) {
        blocks_touch(at);
        if (blocks[at].address <= GONE) {
            blocks[at] = (struct block){address, size, ++blocks_id, context, kind};
            blocks_pages[at / BLOCKS_A_PAGE] = true;
            blocks_put(&blocks[at], now);
            return true;
        }
    }
    blocks_lost++;
    return false;
}

static struct block *blocks_find(uint64_t address)
{
    uint32_t at = blocks_slot(address);
    for (unsigned probe = 0; probe < PROBES && blocks[at].address; probe++, at = (at + 1) & (BLOCKS - 1))
        if (blocks[at].address == address)
            return &blocks[at];
    return NULL;
}

bool lwp_block_known(uint64_t address)
{
    return blocks && blocks_find(address);
}

void lwp_block_remove(uint64_t address)
{
    struct block *block = blocks_find(address);
    if (!block)
        return;
    lwps_put_block_end(&lwp_process.file, &(struct lwps_block_end){.id = block->id, .time = lwp_clock(CLOCK_MONOTONIC)});
    block->address = GONE;
}

uint64_t lwp_blocks_count(void)
{
    return blocks_id;
}

uint64_t lwp_blocks_lost(void)
{
    return blocks_lost;
}

void lwp_blocks_again(void)
{
    uint64_t now = lwp_clock(CLOCK_MONOTONIC);
    for (uint32_t at = 0; blocks && at < BLOCKS; at++)
        if (blocks_pages[at / BLOCKS_A_PAGE] && blocks[at].address > GONE)
            blocks_put(&blocks[at], now);
}
