/* The fields of a sample stand in the order of PERF_RECORD_SAMPLE in perf_event.h, each there or not by a bit of the
 * event's sample_type. */
#include "collector/perf/sample.h"

#include <string.h>

struct sample_cursor {
    const uint8_t *at, *end;
    bool short_of;
};

static uint64_t sample_u64(struct sample_cursor *from)
{
    uint64_t value = 0;
    if (from->end - from->at < 8)
        from->short_of = true;
    else
        memcpy(&value, from->at, sizeof value), from->at += sizeof value;
    return value;
}

static uint32_t sample_u32(struct sample_cursor *from)
{
    uint32_t value = 0;
    if (from->end - from->at < 4)
        from->short_of = true;
    else
        memcpy(&value, from->at, sizeof value), from->at += sizeof value;
    return value;
}

static void sample_skip(struct sample_cursor *from, uint64_t bytes)
{
    if ((uint64_t)(from->end - from->at) < bytes)
        from->short_of = true;
    else
        from->at += bytes;
}

static void sample_skip_read(struct sample_cursor *from, uint64_t format)
{
    uint64_t each = 1 + !!(format & PERF_FORMAT_ID);
    each += !!(format & PERF_FORMAT_LOST);
    uint64_t times = !!(format & PERF_FORMAT_TOTAL_TIME_ENABLED) + !!(format & PERF_FORMAT_TOTAL_TIME_RUNNING);
    uint64_t count = 1;
    if (format & PERF_FORMAT_GROUP)
        count = sample_u64(from);
    if (count > 4096)
        from->short_of = true;
    else
        sample_skip(from, 8 * (times + count * each));
}

/* The kernel's part of a call path is left out: lwp speaks of the program. */
static void sample_callers(struct sample_cursor *from, uint64_t ip, uint64_t *callers, struct lwp_perf_sample *sample)
{
    uint64_t count = sample_u64(from);
    bool user = true, first = true;
    if (count > (uint64_t)(from->end - from->at) / 8) {
        from->short_of = true;
        return;
    }
    sample->callers = callers;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t address = sample_u64(from);
        if (address >= (uint64_t)PERF_CONTEXT_MAX) {
            user = address == (uint64_t)PERF_CONTEXT_USER;
            continue;
        }
        if (!user)
            continue;
        if (!(first && address == ip) && sample->caller_count < LWP_PERF_CALLERS_MAX)
            callers[sample->caller_count++] = address - !first;
        first = false;
    }
}

static void sample_registers(struct sample_cursor *from, const struct perf_event_attr *attr, struct lwp_perf_sample *sample)
{
    uint64_t abi = sample_u64(from); /* PERF_SAMPLE_REGS_ABI_ */
    const uint8_t *registers = from->at;
    if (abi == PERF_SAMPLE_REGS_ABI_NONE)
        return;
    sample_skip(from, 8 * (uint64_t)__builtin_popcountll(attr->sample_regs_user));
    if (!from->short_of && abi == PERF_SAMPLE_REGS_ABI_64)
        sample->registers = registers;
}

static void sample_stack(struct sample_cursor *from, struct lwp_perf_sample *sample)
{
    uint64_t room = sample_u64(from);
    const uint8_t *stack = from->at;
    sample_skip(from, room);
    uint64_t used = room ? sample_u64(from) : 0; /* the rest of the room is not filled */
    if (from->short_of)
        return;
    sample->stack = stack;
    sample->stack_bytes = used < room ? used : room;
}

static void sample_weight(struct sample_cursor *from, uint64_t type, struct lwp_perf_sample *sample)
{
    uint64_t value = sample_u64(from);
    sample->has_weight = true;
    sample->weight = value;
    if (type & PERF_SAMPLE_WEIGHT_STRUCT)
        sample->weight = (uint32_t)value; /* var1_dw: the latency; the others are parts of it */
}

uint64_t lwp_perf_register(const struct perf_event_attr *attr, const struct lwp_perf_sample *sample, unsigned number)
{
    uint64_t value, bit = (uint64_t)1 << number;
    if (!sample->registers || !(attr->sample_regs_user & bit))
        return 0;
    memcpy(&value, sample->registers + 8 * (size_t)__builtin_popcountll(attr->sample_regs_user & (bit - 1)), sizeof value);
    return value;
}

bool lwp_perf_sample_parse(const struct perf_event_attr *attr, uint16_t misc, const uint8_t *bytes, size_t size,
                           uint64_t *callers, struct lwp_perf_sample *sample)
{
    struct sample_cursor from = {bytes, bytes + size, false};
    uint64_t type = attr->sample_type;
    *sample = (struct lwp_perf_sample){.exact_ip = (misc & PERF_RECORD_MISC_EXACT_IP) != 0,
                                       .user = (misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_USER};
    if (type & PERF_SAMPLE_IDENTIFIER)
        sample_u64(&from);
    if (type & PERF_SAMPLE_IP)
        sample->ip = sample_u64(&from);
    if (type & PERF_SAMPLE_TID) {
        sample->pid = sample_u32(&from);
        sample->tid = sample_u32(&from);
    }
    if (type & PERF_SAMPLE_TIME)
        sample->time = sample_u64(&from);
    if (type & PERF_SAMPLE_ADDR) {
        sample->address = sample_u64(&from);
        sample->has_address = sample->address != 0;
    }
    if (type & PERF_SAMPLE_ID)
        sample_u64(&from);
    if (type & PERF_SAMPLE_STREAM_ID)
        sample_u64(&from);
    if (type & PERF_SAMPLE_CPU)
        sample_u64(&from);
    sample->period = type & PERF_SAMPLE_PERIOD ? sample_u64(&from) : attr->freq ? 1 : attr->sample_period;
    if (type & PERF_SAMPLE_READ)
        sample_skip_read(&from, attr->read_format);
    if (type & PERF_SAMPLE_CALLCHAIN)
        sample_callers(&from, sample->ip, callers, sample);
    if (type & PERF_SAMPLE_RAW) {
        uint32_t raw = sample_u32(&from);
        sample_skip(&from, raw);
    }
    if (type & PERF_SAMPLE_BRANCH_STACK) {
        uint64_t branches = sample_u64(&from);
        if (attr->branch_sample_type & PERF_SAMPLE_BRANCH_HW_INDEX)
            sample_u64(&from);
        if (branches > (uint64_t)(from.end - from.at) / 24)
            from.short_of = true;
        else
            sample_skip(&from, branches * 24);
    }
    if (type & PERF_SAMPLE_REGS_USER)
        sample_registers(&from, attr, sample);
    if (type & PERF_SAMPLE_STACK_USER)
        sample_stack(&from, sample);
    if (type & (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT))
        sample_weight(&from, type, sample);
    if (type & PERF_SAMPLE_DATA_SRC) {
        sample->data_source = sample_u64(&from);
        sample->has_data_source = true;
    }
    return !from.short_of;
}

/* Where a sample's first words are, of 8 bytes each; SIZE_MAX: this one is not recorded. */
static size_t sample_at(const struct perf_event_attr *attr, uint64_t word)
{
    static const uint64_t order[] = {PERF_SAMPLE_IDENTIFIER, PERF_SAMPLE_IP,   PERF_SAMPLE_TID,
                                     PERF_SAMPLE_TIME,       PERF_SAMPLE_ADDR, PERF_SAMPLE_ID};
    size_t at = 0;
    if (!(attr->sample_type & word))
        return SIZE_MAX;
    for (const uint64_t *before = order; *before != word; before++)
        at += attr->sample_type & *before ? 8 : 0;
    return at;
}

static uint64_t word_at(const uint8_t *bytes, size_t size, size_t at)
{
    uint64_t word;
    if (at > size || size - at < sizeof word)
        return 0;
    memcpy(&word, bytes + at, sizeof word);
    return word;
}

uint64_t lwp_perf_sample_id(const struct perf_event_attr *attr, const uint8_t *bytes, size_t size)
{
    const bool first = attr->sample_type & PERF_SAMPLE_IDENTIFIER;
    return word_at(bytes, size, sample_at(attr, first ? PERF_SAMPLE_IDENTIFIER : PERF_SAMPLE_ID));
}

struct lwp_perf_trailer lwp_perf_trailer(const struct perf_event_attr *attr)
{
    struct lwp_perf_trailer trailer = {0, SIZE_MAX};
    uint64_t type = attr->sample_type;
    if (!attr->sample_id_all)
        return trailer;
    trailer.bytes += type & PERF_SAMPLE_TID ? 8 : 0;
    if (type & PERF_SAMPLE_TIME) {
        trailer.time = trailer.bytes;
        trailer.bytes += 8;
    }
    trailer.bytes += type & PERF_SAMPLE_ID ? 8 : 0;
    trailer.bytes += type & PERF_SAMPLE_STREAM_ID ? 8 : 0;
    trailer.bytes += type & PERF_SAMPLE_CPU ? 8 : 0;
    trailer.bytes += type & PERF_SAMPLE_IDENTIFIER ? 8 : 0;
    return trailer;
}

uint64_t lwp_perf_record_time(const struct perf_event_attr *attr, uint32_t type, const uint8_t *bytes, size_t size)
{
    if (type == PERF_RECORD_SAMPLE)
        return word_at(bytes, size, sample_at(attr, PERF_SAMPLE_TIME));
    const struct lwp_perf_trailer trailer = lwp_perf_trailer(attr);
    if (trailer.time == SIZE_MAX || trailer.bytes > size)
        return 0;
    return word_at(bytes, size, size - trailer.bytes + trailer.time);
}
