#include "base/cache.h"

#include <emmintrin.h>

enum { LINE_MAX_SHIFT = 12, STREAM_REACH = 2, STREAM_SURE = 3 };
_Static_assert(LWP_CACHE_STREAMS == 32, "a bit each, and all of them");

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
        if (!ways || ways > 1024 || line < LWP_CACHE_LINE_LEAST || line > 1 << LINE_MAX_SHIFT || line & (line - 1) || bytes < ways * line ||
            bytes > (uint64_t)1 << 40)
            return false;
        cache->line_shift = (unsigned)__builtin_ctzll(line);
        uint32_t sets = (uint32_t)(bytes / line / ways);
        cache->level[cache->levels++] = (struct lwp_cache_level){
            .bytes = bytes, .ways = (uint32_t)ways, .sets = sets, .mask = sets & (sets - 1) ? 0 : sets - 1, .reciprocal = UINT64_MAX / sets};
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

/* Moves the tag to the front of its set, in LRU order; false: a miss, which evicted the last. Four ways at a time. */
static bool cache_to_front(uint32_t *set, uint32_t ways, uint32_t tag)
{
    __m128i wanted = _mm_set1_epi32((int)tag), before = _mm_cvtsi32_si128((int)tag);
    uint32_t way = 0;
    for (; way + 4 <= ways; way += 4) {
        __m128i here = _mm_loadu_si128((const __m128i *)(set + way)), equal = _mm_cmpeq_epi32(here, wanted);
        __m128i moved = _mm_or_si128(_mm_slli_si128(here, 4), before);
        if (_mm_movemask_epi8(equal)) {
            __m128i behind = _mm_or_si128(_mm_slli_si128(equal, 4), _mm_or_si128(_mm_slli_si128(equal, 8), _mm_slli_si128(equal, 12)));
            moved = _mm_or_si128(_mm_and_si128(behind, here), _mm_andnot_si128(behind, moved));
            _mm_storeu_si128((__m128i *)(set + way), moved);
            return true;
        }
        _mm_storeu_si128((__m128i *)(set + way), moved);
        before = _mm_srli_si128(here, 12);
    }
    uint32_t last = (uint32_t)_mm_cvtsi128_si32(before);
    for (; way < ways; way++) {
        uint32_t here = set[way];
        set[way] = last;
        if (here == tag)
            return true;
        last = here;
    }
    return false;
}

/* Whether the line hits; it is the most recent one afterwards. */
static bool cache_touch(struct lwp_cache_level *level, uint64_t line)
{
    uint32_t *set = lwp_cache_set(level, line), tag = lwp_cache_tag(line);
    return set[0] == tag || cache_to_front(set, level->ways, tag);
}

/* A mask of the streams that are at most STREAM_REACH lines away. */
static uint32_t cache_near(const struct lwp_cache_streams *streams, uint32_t line)
{
    uint32_t near = 0;
    __m128i here = _mm_set1_epi32((int)(line + STREAM_REACH)), below = _mm_set1_epi32(-1),
            above = _mm_set1_epi32(2 * STREAM_REACH + 1);
    for (unsigned i = 0; i < LWP_CACHE_STREAMS; i += 4) {
        __m128i step = _mm_sub_epi32(here, _mm_loadu_si128((const __m128i *)(streams->line + i)));
        __m128i is = _mm_and_si128(_mm_cmpgt_epi32(step, below), _mm_cmpgt_epi32(above, step));
        near |= (uint32_t)_mm_movemask_ps(_mm_castsi128_ps(is)) << i;
    }
    return near;
}

static bool cache_goes_on(struct lwp_cache_streams *streams, unsigned at, uint32_t line)
{
    int32_t step = (int32_t)(line - streams->line[at]);
    int8_t direction = step > 0 ? 1 : -1;
    if (!step || !streams->length[at] || (streams->step[at] && streams->step[at] != direction))
        return false;
    streams->step[at] = direction;
    streams->line[at] = line;
    streams->length[at]++;
    streams->advanced |= 1u << at;
    streams->recent = at;
    return true;
}

/* Whether the line was prefetched: it continues a stream that is long enough. A line of no stream begins one, in place of a
 * stream that has not advanced lately (clock). */
static bool cache_is_ahead(struct lwp_cache_streams *streams, uint32_t line)
{
    unsigned recent = streams->recent;
    if ((uint32_t)(line - streams->line[recent] + STREAM_REACH) <= 2 * STREAM_REACH && cache_goes_on(streams, recent, line))
        return streams->length[recent] >= STREAM_SURE;
    uint32_t near = cache_near(streams, line);
    for (near = near >> recent | near << (-recent & 31); near; near &= near - 1) {
        unsigned at = (recent + (unsigned)__builtin_ctz(near)) % LWP_CACHE_STREAMS;
        if (cache_goes_on(streams, at, line))
            return streams->length[at] >= STREAM_SURE;
    }
    unsigned hand = streams->hand;
    for (; streams->advanced >> hand & 1; hand = (hand + 1) % LWP_CACHE_STREAMS)
        streams->advanced &= ~(1u << hand);
    streams->line[hand] = line;
    streams->length[hand] = 1;
    streams->step[hand] = 0;
    streams->hand = (hand + 1) % LWP_CACHE_STREAMS;
    return false;
}

bool lwp_cache_first(struct lwp_cache *cache, uint64_t line)
{
    return cache_touch(&cache->level[0], line);
}

unsigned lwp_cache_beyond(struct lwp_cache *cache, uint64_t line, uint8_t *where)
{
    static const unsigned cycles[LWP_CACHE_LEVELS] = {LWP_CACHE_L1_CYCLES, LWP_CACHE_L2_CYCLES, LWP_CACHE_L3_CYCLES};
    unsigned level = 1;
    while (level < cache->levels && !cache_touch(&cache->level[level], line))
        level++;
    bool ahead = cache_is_ahead(&cache->streams, (uint32_t)line);
    *where = (uint8_t)(level < cache->levels ? level : LWP_CACHE_MEMORY);
    unsigned most = level < cache->levels ? cycles[level] : LWP_CACHE_MEMORY_CYCLES;
    return ahead && most > LWP_CACHE_AHEAD_CYCLES ? LWP_CACHE_AHEAD_CYCLES : most;
}

static unsigned cache_line(struct lwp_cache *cache, uint64_t line, uint8_t *where)
{
    *where = LWP_CACHE_L1;
    return lwp_cache_first(cache, line) ? LWP_CACHE_L1_CYCLES : lwp_cache_beyond(cache, line, where);
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

void lwp_cache_drop(struct lwp_cache_level *level, uint64_t line)
{
    uint32_t *set = lwp_cache_set(level, line), tag = lwp_cache_tag(line);
    uint32_t way = 0;
    while (way < level->ways && set[way] != tag)
        way++;
    for (; way < level->ways; way++)
        set[way] = way + 1 < level->ways ? set[way + 1] : 0;
}
