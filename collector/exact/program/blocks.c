#include "collector/exact/program/blocks.h"

#include "collector/exact/program/detector.h"
#include "collector/exact/program/options.h"
#include "collector/exact/program/pools.h"
#include "collector/exact/program/process.h"
#include "collector/exact/program/trace_words.h"

static OSet *blocks; /* struct lwp_block by start; they do not overlap */
static uint32_t blocks_id;
uint32_t lwp_blocks_changes;

/* An address is equal to the block that holds it. */
static Word blocks_compare(const void *key, const void *element)
{
    Addr address = *(const Addr *)key;
    const struct lwp_block *block = element;
    return address < block->start ? -1 : address >= block->start + (block->size ? block->size : 1) ? 1 : 0;
}

void lwp_blocks_start(void)
{
    blocks = VG_(OSetGen_Create_With_Pool)(offsetof(struct lwp_block, start), blocks_compare, VG_(malloc), "lwp.blocks",
                                           VG_(free), 4096, sizeof(struct lwp_block));
}

static void block_tell(struct lwp_block *block)
{
    if (!lwp_exact_process.active)
        return;
    lwp_exact_process.allocations++;
    uint32_t context = lwp_exact_process_context(block->node);
    if (block->kind == LWPS_BLOCK_HEAP && block->size < lwp_exact_options.heap_threshold) {
        block->pool = lwp_pool_of(context, block->size);
        lwp_pool_allocated(block->pool, block->size);
        return;
    }
    LWP_DETECTORS(flush);
    block->id = ++blocks_id;
    lwps_put_block(&lwp_exact_process.file, &(struct lwps_block){.id = block->id, .kind = block->kind, .context = context,
                                                                 .time = lwp_trace_time(), .address = block->start,
                                                                 .size = block->size});
}

static void block_end(const struct lwp_block *block)
{
    lwp_blocks_changes++;
    if (block->pool) {
        lwp_pool_freed(block->pool);
        return;
    }
    LWP_DETECTORS(flush);
    if (block->id && lwp_exact_process.active)
        lwps_put_block_end(&lwp_exact_process.file, &(struct lwps_block_end){.id = block->id, .time = lwp_trace_time()});
}

/* Blocks whose end was not seen must give way. */
static void blocks_displace(Addr start, SizeT size)
{
    Addr end = start + (size ? size : 1);
    for (Addr at = start; at < end;) {
        const struct lwp_block *block = VG_(OSetGen_Lookup)(blocks, &at);
        if (!block) {
            VG_(OSetGen_ResetIterAt)(blocks, &at);
            block = VG_(OSetGen_Next)(blocks);
            if (!block || block->start >= end)
                return;
        }
        at = block->start;
        lwp_block_remove(at, NULL);
    }
}

void lwp_block_add(Addr start, SizeT size, uint8_t kind, uint32_t node)
{
    blocks_displace(start, size);
    struct lwp_block *block = VG_(OSetGen_AllocNode)(blocks, sizeof *block);
    *block = (struct lwp_block){.start = start, .size = size, .node = node, .kind = kind};
    VG_(OSetGen_Insert)(blocks, block);
    lwp_blocks_changes++;
    block_tell(block);
}

bool lwp_block_remove(Addr start, struct lwp_block *was)
{
    struct lwp_block *block = VG_(OSetGen_Lookup)(blocks, &start);
    if (!block || block->start != start)
        return false;
    block_end(block);
    if (was)
        *was = *block;
    VG_(OSetGen_FreeNode)(blocks, VG_(OSetGen_Remove)(blocks, &start));
    return true;
}

const struct lwp_block *lwp_block_at(Addr address)
{
    return VG_(OSetGen_Lookup)(blocks, &address);
}

void lwp_blocks_unmap(Addr start, SizeT size)
{
    struct lwp_block *block = VG_(OSetGen_Lookup)(blocks, &start);
    if (block && block->kind == LWPS_BLOCK_MMAP && size >= lwp_exact_options.heap_threshold)
        lwp_block_remove(block->start, NULL);
    VG_(OSetGen_ResetIterAt)(blocks, &start);
    while ((block = VG_(OSetGen_Next)(blocks)) && block->start - start < size && block->kind == LWPS_BLOCK_HEAP) {
        lwp_block_remove(block->start, NULL);
        VG_(OSetGen_ResetIterAt)(blocks, &start);
    }
}

void lwp_blocks_write_all(void)
{
    struct lwp_block *block;
    lwp_pools_forget();
    blocks_id = 0;
    VG_(OSetGen_ResetIter)(blocks);
    while ((block = VG_(OSetGen_Next)(blocks))) {
        block->pool = block->id = 0;
        block_tell(block);
    }
}
