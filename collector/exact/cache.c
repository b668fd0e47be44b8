#include "collector/exact/cache.h"

#include "format/record.h"

enum { LINE_MAX_SHIFT = 12, STREAM_REACH = 2, STREAM_SURE = 3 };

static const char *cache_number(const char *text, uint64_t *value)
{
    const char *at = text;
    for (*value = 0; *at >= '0' && *at <= '9' && *value < (uint64_t)1 << 50; at++)
        *value = *value * 10 + (uint64_t)(*at - '0');
    return at > text ? at : NULL;
}

bool lwp_cache_parse(struct lwp_cache *cache, const char *text)
{
    *cache = (struct lwp_cache){.line_shift = 6};
    for (const char *at = text;; at++) {
        uint64_t bytes, ways, line;
        if (cache->levels == LWP_CACHE_LEVELS || !(at = cache_number(at, &bytes)) || *at++ != ':' ||
            !(at = cache_number(at, &ways)) || *at++ != ':' || !(at = cache_number(at, &line)))
            return false;
        if (!ways || ways > 1024 || line < 16 || line > 1 << LINE_MAX_SHIFT || line & (line - 1) || bytes < ways * line ||
            bytes > (uint64_t)1 << 40)
            return false;
        cache->line_shift = (unsigned)__builtin_ctzll(line);
        cache->level[cache->levels++] =
            (struct lwp_cache_level){.bytes = bytes, .ways = (uint32_t)ways, .sets = (uint32_t)(bytes / line / ways)};
        if (*at == '\0')
            return true;
        if (*at != ',')
            return false;
    }
}

size_t lwp_cache_tag_bytes(const struct lwp_cache_level *level)
{
    return (size_t)level->sets * level->ways * sizeof *level->tags;
}

/* Whether the line is there; it is afterwards, as the most recent one. */
static bool cache_touch(struct lwp_cache_level *level, uint64_t line)
{
    uint32_t *set = level->tags + line % level->sets * level->ways;
    uint32_t tag = (uint32_t)(line ^ line >> 32) + 1, before = set[0];
    if (before == tag)
        return true;
    set[0] = tag;
    for (uint32_t way = 1; way < level->ways; way++) {
        uint32_t here = set[way];
        set[way] = before;
        if (here == tag)
            return true;
        before = here;
    }
    return false;
}

/* Whether a stream leads to the line, which goes on from there; else one begins. */
static bool cache_is_ahead(struct lwp_cache *cache, uint64_t line)
{
    struct lwp_cache_stream *oldest = &cache->streams[0];
    cache->clock++;
    for (unsigned i = 0; i < LWP_CACHE_STREAMS; i++) {
        unsigned at = (cache->recent + i) % LWP_CACHE_STREAMS;
        struct lwp_cache_stream *stream = &cache->streams[at];
        int64_t step = (int64_t)(line - stream->line);
        int direction = step > 0 ? 1 : -1;
        if (stream->used && step && step <= STREAM_REACH && step >= -STREAM_REACH &&
            (!stream->step || stream->step == direction)) {
            stream->step = direction;
            stream->line = line;
            stream->used = cache->clock;
            cache->recent = at;
            return ++stream->length >= STREAM_SURE;
        }
        if (stream->used < oldest->used)
            oldest = stream;
    }
    *oldest = (struct lwp_cache_stream){.line = line, .used = cache->clock, .length = 1};
    return false;
}

static unsigned cache_line(struct lwp_cache *cache, uint64_t line, uint8_t *where)
{
    static const struct {
        uint8_t level;
        unsigned cycles;
    } answers[] = {{LWPS_LEVEL_L1, LWP_CACHE_L1_CYCLES}, {LWPS_LEVEL_L2, LWP_CACHE_L2_CYCLES}, {LWPS_LEVEL_L3, LWP_CACHE_L3_CYCLES}};
    for (unsigned i = 0; i < cache->levels; i++)
        if (cache_touch(&cache->level[i], line)) {
            for (unsigned below = i + 1; i && below < cache->levels; below++)
                cache_touch(&cache->level[below], line);
            *where = answers[i].level;
            bool ahead = i && cache_is_ahead(cache, line);
            return ahead && answers[i].cycles > LWP_CACHE_AHEAD_CYCLES ? LWP_CACHE_AHEAD_CYCLES : answers[i].cycles;
        }
    *where = LWPS_LEVEL_MEMORY;
    return cache_is_ahead(cache, line) ? LWP_CACHE_AHEAD_CYCLES : LWP_CACHE_MEMORY_CYCLES;
}

unsigned lwp_cache_access(struct lwp_cache *cache, uint64_t address, unsigned bytes, uint8_t *where)
{
    uint64_t line = address >> cache->line_shift, last = (address + (bytes ? bytes : 1) - 1) >> cache->line_shift;
    unsigned cycles = cache_line(cache, line, where), slowest = cycles;
    while (line++ < last) {
        uint8_t there;
        unsigned more = cache_line(cache, line, &there);
        cycles += more;
        if (more > slowest) {
            slowest = more;
            *where = there;
        }
    }
    return cycles;
}
