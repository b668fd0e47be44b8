/* The records of a perf.data file one by one. Compressed records are one zstd stream; records may lie across their
 * ends. perf writes what is in the CPUs' rings in rounds, ring after ring: a record may be followed by earlier ones of its round and of the
 * next. */
#include "collector/import/perf_reading.h"

#include <stdlib.h>
#include <string.h>

enum { UNPACK_BYTES = 1 << 17, WAITING_BYTES_MOST = 1 << 26 };

/* Records of perf's own, beyond the kernel's (tools/lib/perf/include/perf/event.h). */
enum {
    USER_FIRST = 64,
    USER_ATTR = 64,
    USER_EVENT_TYPE = 65,
    USER_TRACING_DATA = 66,
    USER_BUILD_ID = 67,
    USER_FINISHED_ROUND = 68,
    USER_AUXTRACE = 71,
    USER_EVENT_UPDATE = 78,
    USER_FEATURE = 80,
    USER_COMPRESSED = 81,
};

/* Of a record of this type, which is no sample; `body`: its bytes without the trailer. */
static uint64_t perf_time(const struct lwp_perf_file *file, uint32_t type, struct lwp_perf_bytes from, size_t *body)
{
    *body = from.size;
    if (!file->event_count)
        return 0;
    const struct perf_event_attr *attr = &file->events[0].attr;
    const struct lwp_perf_trailer trailer = lwp_perf_trailer(attr);
    *body -= trailer.bytes <= from.size ? trailer.bytes : 0;
    return lwp_perf_record_time(attr, type, from.at, from.size);
}

static void perf_mapping(struct lwp_perf_file *file, uint32_t type, uint16_t misc, struct lwp_perf_bytes from)
{
    enum { MMAP_HEAD = 32, MMAP2_HEAD = 64, HAS_BUILD_ID = 1 << 14 };
    size_t head = type == PERF_RECORD_MMAP2 ? MMAP2_HEAD : MMAP_HEAD, body;
    if (from.size <= head) {
        file->about->bad_records++;
        return;
    }
    struct lwp_perf_mapping mapping = {.pid = lwp_u32_at(from.at),
                                       .tid = lwp_u32_at(from.at + 4),
                                       .start = lwp_u64_at(from.at + 8),
                                       .bytes = lwp_u64_at(from.at + 16),
                                       .file_offset = lwp_u64_at(from.at + 24),
                                       .data = (misc & PERF_RECORD_MISC_MMAP_DATA) != 0,
                                       .kernel = (misc & PERF_RECORD_MISC_CPUMODE_MASK) != PERF_RECORD_MISC_USER};
    mapping.time = perf_time(file, type, from, &body);
    char path[LWP_PERF_TEXT_MAX] = "";
    if (body > head)
        lwp_perf_text(path, sizeof path, from.at + head, body - head);
    mapping.path = path;
    if (type == PERF_RECORD_MMAP2) {
        enum { PROT_EXECUTE = 4 };
        mapping.data |= !(lwp_u32_at(from.at + 56) & PROT_EXECUTE);
    }
    uint32_t known = lwp_map_get(&file->build_ids, lwp_hash_text(path));
    if (type == PERF_RECORD_MMAP2 && misc & HAS_BUILD_ID) {
        mapping.build_id_bytes = from.at[32] <= sizeof mapping.build_id ? from.at[32] : sizeof mapping.build_id;
        memcpy(mapping.build_id, from.at + 36, mapping.build_id_bytes);
    } else if (known != LWP_MAP_NONE) {
        mapping.build_id_bytes = file->build_id_list[known].count;
        memcpy(mapping.build_id, file->build_id_list[known].bytes, mapping.build_id_bytes);
    }
    if (file->visitor->mapping)
        file->visitor->mapping(file->to, &mapping);
}

static void perf_comm(struct lwp_perf_file *file, uint16_t misc, struct lwp_perf_bytes from)
{
    size_t body;
    if (from.size < 9) {
        file->about->bad_records++;
        return;
    }
    struct lwp_perf_task task = {
        .pid = lwp_u32_at(from.at), .tid = lwp_u32_at(from.at + 4), .exec = (misc & PERF_RECORD_MISC_COMM_EXEC) != 0};
    task.time = perf_time(file, PERF_RECORD_COMM, from, &body);
    char name[64] = "";
    if (body > 8)
        lwp_perf_text(name, sizeof name, from.at + 8, body - 8);
    task.name = name;
    if (file->visitor->comm)
        file->visitor->comm(file->to, &task);
}

static void perf_fork(struct lwp_perf_file *file, struct lwp_perf_bytes from)
{
    if (from.size < 24) {
        file->about->bad_records++;
        return;
    }
    struct lwp_perf_task task = {.pid = lwp_u32_at(from.at),
                                 .parent_pid = lwp_u32_at(from.at + 4),
                                 .tid = lwp_u32_at(from.at + 8),
                                 .time = lwp_u64_at(from.at + 16)};
    if (file->visitor->fork)
        file->visitor->fork(file->to, &task);
}

static void perf_sample(struct lwp_perf_file *file, uint16_t misc, struct lwp_perf_bytes from)
{
    struct lwp_perf_sample sample;
    if (!file->event_count) {
        file->about->bad_records++;
        return;
    }
    uint64_t id = lwp_perf_sample_id(&file->events[0].attr, from.at, from.size);
    const struct lwp_perf_event *event = lwp_perf_event_of(file, id);
    if (!lwp_perf_sample_parse(&event->attr, misc, from.at, from.size, file->callers, &sample)) {
        file->about->bad_records++;
        return;
    }
    if (file->visitor->sample)
        file->visitor->sample(file->to, event, &sample);
}

static void perf_attr_record(struct lwp_perf_file *file, struct lwp_perf_bytes from)
{
    uint32_t bytes = from.size >= 8 ? lwp_u32_at(from.at + 4) : 0; /* perf_event_attr.size */
    if (bytes < PERF_ATTR_SIZE_VER0 || bytes > from.size ||
        !lwp_perf_add_event(file, from.at, bytes, from.at + bytes, from.size - bytes))
        file->about->bad_records++;
}

static void perf_update_record(struct lwp_perf_file *file, struct lwp_perf_bytes from)
{
    enum { UPDATE_NAME = 2 };
    if (from.size > 16 && lwp_u64_at(from.at) == UPDATE_NAME) {
        uint32_t index = lwp_map_get(&file->ids, lwp_u64_at(from.at + 8));
        if (index != LWP_MAP_NONE)
            lwp_perf_name_event(file, index, from.at + 16, from.size - 16);
    }
}

static void perf_compressed(struct lwp_perf_file *file, struct lwp_perf_bytes from)
{
    ZSTD_inBuffer in = {from.at, from.size, 0};
    if (!file->unpack && !(file->unpack = ZSTD_createDStream()))
        return;
    while (in.pos < in.size) {
        if (file->unpacked_room - file->unpacked_bytes < UNPACK_BYTES) {
            size_t room = file->unpacked_bytes + 2 * UNPACK_BYTES; /* what is left of a record is below 64 KiB */
            uint8_t *bigger = realloc(file->unpacked, room);
            if (!bigger)
                return;
            file->unpacked = bigger;
            file->unpacked_room = room;
        }
        ZSTD_outBuffer out = {file->unpacked + file->unpacked_bytes, file->unpacked_room - file->unpacked_bytes, 0};
        if (ZSTD_isError(ZSTD_decompressStream(file->unpack, &out, &in))) {
            file->about->bad_records++;
            ZSTD_initDStream(file->unpack);
            file->unpacked_bytes = 0;
            return;
        }
        file->unpacked_bytes += out.pos;
        size_t used = lwp_perf_records(file, (struct lwp_perf_bytes){file->unpacked, file->unpacked_bytes}, true);
        memmove(file->unpacked, file->unpacked + used, file->unpacked_bytes - used);
        file->unpacked_bytes -= used;
        if (!out.pos && !used && in.pos == 0)
            return; /* no progress: damaged */
    }
}

static void perf_record(struct lwp_perf_file *file, uint32_t type, uint16_t misc, struct lwp_perf_bytes from,
                        bool packed)
{
    switch (type) {
    case PERF_RECORD_MMAP:
    case PERF_RECORD_MMAP2:
        perf_mapping(file, type, misc, from);
        break;
    case PERF_RECORD_COMM:
        perf_comm(file, misc, from);
        break;
    case PERF_RECORD_FORK:
        perf_fork(file, from);
        break;
    case PERF_RECORD_SAMPLE:
        perf_sample(file, misc, from);
        break;
    case PERF_RECORD_LOST: /* id, number */
        if (from.size >= 16 && file->visitor->lost)
            file->visitor->lost(file->to, lwp_u64_at(from.at + 8));
        break;
    case PERF_RECORD_LOST_SAMPLES:
        if (from.size >= 8 && file->visitor->lost)
            file->visitor->lost(file->to, lwp_u64_at(from.at));
        break;
    case PERF_RECORD_THROTTLE:
        if (file->visitor->throttled)
            file->visitor->throttled(file->to);
        break;
    case USER_ATTR:
        perf_attr_record(file, from);
        break;
    case USER_BUILD_ID:
        lwp_perf_add_build_id(file, misc, from);
        break;
    case USER_EVENT_UPDATE:
        perf_update_record(file, from);
        break;
    case USER_FEATURE:
        if (from.size >= 8)
            lwp_perf_feature(file, (unsigned)lwp_u64_at(from.at), lwp_perf_part(from, 8, from.size));
        break;
    case USER_COMPRESSED:
        if (!packed)
            perf_compressed(file, from);
        break;
    default: /* of no use here, or of a newer perf */
        break;
    }
}

/* ---- in order of time ---- */

/* Returns the latest time of those that have been waiting; 0: none has. */
static uint64_t perf_hand_over(struct lwp_perf_file *file, uint64_t until)
{
    struct lwp_perf_batch *waiting = &file->waiting;
    size_t count = 0;
    lwp_perf_batch_sort(waiting);
    const uint64_t latest = waiting->record_count ? waiting->records[waiting->record_count - 1].time : 0;
    for (; count < waiting->record_count && waiting->records[count].time <= until; count++) {
        const uint8_t *record = waiting->bytes + waiting->records[count].at;
        struct lwp_perf_bytes body = {record + LWP_PERF_RECORD_HEAD, lwp_u16_at(record + 6) - (size_t)LWP_PERF_RECORD_HEAD};
        perf_record(file, lwp_u32_at(record), lwp_u16_at(record + 4), body, false);
    }
    lwp_perf_batch_drop(waiting, count);
    return latest;
}

static void perf_round(struct lwp_perf_file *file)
{
    const uint64_t latest = perf_hand_over(file, file->round_end);
    file->round_end = latest > file->round_end ? latest : file->round_end;
}

/* False: this record needs no order, or there is none yet. */
static bool perf_wait(struct lwp_perf_file *file, uint32_t type, const uint8_t *record, struct lwp_perf_bytes body)
{
    const bool sample = type == PERF_RECORD_SAMPLE;
    if (!file->event_count ||
        !(sample || type == PERF_RECORD_MMAP || type == PERF_RECORD_MMAP2 || type == PERF_RECORD_COMM || type == PERF_RECORD_FORK))
        return false;
    const struct perf_event_attr *attr = &file->events[0].attr;
    if (sample)
        attr = &lwp_perf_event_of(file, lwp_perf_sample_id(attr, body.at, body.size))->attr;
    memcpy(lwp_perf_batch_room(&file->waiting), record, LWP_PERF_RECORD_HEAD + body.size);
    lwp_perf_batch_keep(&file->waiting, attr);
    if (file->waiting.byte_count > WAITING_BYTES_MOST) /* a file without rounds */
        lwp_perf_records_end(file);
    return true;
}

void lwp_perf_records_end(struct lwp_perf_file *file)
{
    perf_hand_over(file, UINT64_MAX);
}

/* Some records are followed by data that their size does not count. */
static uint64_t perf_tail(uint32_t type, struct lwp_perf_bytes from)
{
    if (type == USER_TRACING_DATA && from.size >= 4)
        return (lwp_u32_at(from.at) + 7) & ~(uint64_t)7;
    if (type == USER_AUXTRACE && from.size >= 8)
        return lwp_u64_at(from.at);
    return 0;
}

size_t lwp_perf_records(struct lwp_perf_file *file, struct lwp_perf_bytes from, bool packed)
{
    struct lwp_perf_bytes all = from;
    while (from.size >= LWP_PERF_RECORD_HEAD) {
        uint32_t type = lwp_u32_at(from.at);
        uint16_t misc = lwp_u16_at(from.at + 4), size = lwp_u16_at(from.at + 6);
        if (size < LWP_PERF_RECORD_HEAD) { /* where the next record begins is not known */
            file->about->bad_records++;
            return packed ? all.size : all.size - from.size;
        }
        if (size > from.size)
            break;
        struct lwp_perf_bytes body = lwp_perf_part(from, LWP_PERF_RECORD_HEAD, size - LWP_PERF_RECORD_HEAD);
        if (type == USER_FINISHED_ROUND)
            perf_round(file);
        else if (!perf_wait(file, type, from.at, body))
            perf_record(file, type, misc, body, packed);
        uint64_t tail = packed ? 0 : perf_tail(type, body);
        from = lwp_perf_part(from, size, from.size);
        from = lwp_perf_part(from, tail, from.size);
    }
    return all.size - from.size;
}
