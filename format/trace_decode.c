#include "format/trace_decode.h"

#include "base/arena.h"
#include "format/layout.h"
#include "format/trace_code.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCKS_MOST = 1 << 22, SITES_MOST = 1 << 23, POOL = 1 << 16 };

/* Sites are kept in pools, which do not move. */
struct lwps_trace_decoder {
    struct lwps_trace_coder coder;
    struct lwps_trace_block *blocks; /* by id; sites NULL: not known */
    uint32_t *first;                 /* site of each block */
    uint32_t block_room, site_count;
    struct lwps_trace_site *pools[SITES_MOST / POOL];
    uint32_t at;   /* sites of the running block that are done */
    uint32_t part; /* the next chunk of the window */
    bool lost;     /* of the rest of the window nothing is known */
};

struct trace_reader {
    const uint8_t *at, *end;
    bool bad;
};

static uint64_t trace_varint(struct trace_reader *from)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && from->at < from->end; shift += 7) {
        uint8_t byte = *from->at++;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return value;
    }
    from->bad = true;
    return 0;
}

static uint8_t trace_byte(struct trace_reader *from)
{
    if (from->at < from->end)
        return *from->at++;
    from->bad = true;
    return 0;
}

struct lwps_trace_decoder *lwps_trace_decoder_new(void)
{
    return lwp_allocated(calloc(1, sizeof(struct lwps_trace_decoder)));
}

static void trace_forget(struct lwps_trace_decoder *decoder)
{
    for (uint32_t i = 0; i < sizeof decoder->pools / sizeof *decoder->pools; i++)
        free(decoder->pools[i]);
    free(decoder->blocks);
    free(decoder->first);
}

void lwps_trace_decoder_free(struct lwps_trace_decoder *decoder)
{
    if (decoder)
        trace_forget(decoder);
    free(decoder);
}

void lwps_trace_decoder_begin(struct lwps_trace_decoder *decoder)
{
    trace_forget(decoder);
    *decoder = (struct lwps_trace_decoder){.lost = true};
}

const struct lwps_trace_site *lwps_trace_decoder_site(const struct lwps_trace_decoder *decoder, uint32_t site)
{
    return &decoder->pools[site / POOL][site % POOL];
}

uint32_t lwps_trace_decoder_sites(const struct lwps_trace_decoder *decoder)
{
    return decoder->site_count;
}

static bool trace_room(struct lwps_trace_decoder *decoder, uint32_t id)
{
    if (id >= BLOCKS_MOST)
        return false;
    if (id < decoder->block_room)
        return true;
    uint32_t room = decoder->block_room ? decoder->block_room : 1024;
    while (room <= id)
        room *= 2;
    uint32_t last = decoder->coder.last ? decoder->coder.last->id : 0;
    struct lwps_trace_block *blocks = realloc(decoder->blocks, room * sizeof *blocks);
    decoder->blocks = blocks ? blocks : decoder->blocks;
    if (decoder->coder.last)
        decoder->coder.last = &decoder->blocks[last];
    uint32_t *first = realloc(decoder->first, room * sizeof *first);
    decoder->first = first ? first : decoder->first;
    if (!blocks || !first)
        return false;
    memset(blocks + decoder->block_room, 0, (room - decoder->block_room) * sizeof *blocks);
    decoder->block_room = room;
    return true;
}

/* Room for a block's sites, which lie in one pool. */
static struct lwps_trace_site *trace_sites(struct lwps_trace_decoder *decoder, uint32_t count)
{
    uint32_t at = decoder->site_count;
    if (at % POOL + count > POOL)
        at += POOL - at % POOL;
    if (at >= SITES_MOST)
        return NULL;
    struct lwps_trace_site **pool = &decoder->pools[at / POOL];
    if (!*pool && !(*pool = calloc(POOL, sizeof **pool)))
        return NULL;
    decoder->site_count = at + count;
    return *pool + at % POOL;
}

static void trace_define(struct lwps_trace_decoder *decoder, struct trace_reader *from, uint32_t id)
{
    uint64_t count = trace_varint(from), ip = 0;
    struct lwps_trace_block *block = NULL;
    if (count <= LWPS_TRACE_SITES && trace_room(decoder, id) && !(block = &decoder->blocks[id])->sites)
        block->sites = trace_sites(decoder, (uint32_t)count);
    if (!block || !block->sites) {
        from->bad = true;
        return;
    }
    decoder->first[id] = decoder->site_count - (uint32_t)count;
    block->id = id;
    block->count = (uint32_t)count;
    for (uint32_t i = 0; i < count; i++) {
        ip += (uint64_t)lwps_unzigzag(trace_varint(from));
        block->sites[i].ip = ip;
        block->sites[i].bytes = (uint16_t)trace_varint(from);
        block->sites[i].flags = trace_byte(from);
    }
}

static void trace_run(struct lwps_trace_decoder *decoder, struct trace_reader *from)
{
    uint64_t head = trace_varint(from);
    uint32_t id = lwps_trace_run_guess(&decoder->coder) + (uint32_t)lwps_unzigzag(head >> 1);
    if (!from->bad && head & 1)
        trace_define(decoder, from, id);
    if (from->bad || id >= decoder->block_room || !decoder->blocks[id].sites) {
        from->bad = true;
        return;
    }
    lwps_trace_run_began(&decoder->coder, &decoder->blocks[id]);
    decoder->at = 0;
}

static void trace_access(struct lwps_trace_decoder *decoder, struct trace_reader *from, struct lwps_traced_all *all)
{
    struct lwps_trace_block *block = decoder->coder.last;
    struct lwps_trace_site *site = &block->sites[decoder->at];
    uint64_t code = trace_varint(from);
    enum lwps_trace_home home = code & ((1 << LWPS_TRACE_HOME_BITS) - 1);
    if (home == LWPS_TRACE_NOTHING) {
        decoder->at++;
        return;
    }
    struct lwps_trace_place place = {.address = site->address + site->step + (uint64_t)lwps_unzigzag(code >> LWPS_TRACE_HOME_BITS),
                                     .home = site->home, .home_id = site->home_id, .home_base = site->home_base};
    if (home == LWPS_TRACE_SAME_OFFSET)
        place.home_base = place.address - (site->address - site->home_base);
    if (home == LWPS_TRACE_NEW_HOME) {
        place.home = trace_byte(from);
        place.home_id = 0;
        place.home_base = 0;
        if (place.home > LWPS_HOME_STACK)
            from->bad = true;
        if (place.home != LWPS_HOME_ADDRESS) {
            place.home_id = (uint32_t)trace_varint(from);
            place.home_base = place.address - (uint64_t)lwps_unzigzag(trace_varint(from));
        }
    }
    if (from->bad)
        return;
    lwps_trace_site_went(site, &place);
    all->accesses[all->count++] = (struct lwps_traced){decoder->first[block->id] + decoder->at++, place};
}

bool lwps_trace_decode(struct lwps_trace_decoder *decoder, const struct lwps_trace *chunk, struct lwps_traced_all *all)
{
    const uint8_t *bytes = (const uint8_t *)chunk->bytes;
    struct trace_reader from = {bytes, bytes + chunk->size, false};
    all->count = 0;
    if (chunk->part == 0 && chunk->window) {
        lwps_trace_window(&decoder->coder, chunk->window);
        decoder->part = 0;
        decoder->lost = false;
    }
    if (decoder->lost || chunk->window != decoder->coder.window || chunk->part != decoder->part++ || chunk->size > LWPS_TRACE_BYTES) {
        decoder->lost = true;
        return false;
    }
    while (from.at < from.end && !from.bad) {
        if (!decoder->coder.last || decoder->at == decoder->coder.last->count)
            trace_run(decoder, &from);
        else
            trace_access(decoder, &from, all);
    }
    decoder->lost = from.bad;
    return !from.bad;
}
