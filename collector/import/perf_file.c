/* In: the bytes of a perf.data file. Out: its records one by one, in the order of the file, which is not that of time.
 *
 * A file has a header, the attributes of its events with the ids that samples are tagged with, records, and after them
 * features (host, command, build ids, names of events). A pipe's file has these as records of their own. Compressed
 * records are one zstd stream; records may lie across their ends.
 * Limits: files of another byte order and directories (perf record --threads) are refused with a sentence. */
#include "collector/import/perf_file.h"

#include "base/hash.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

enum { EVENTS_MAX = 4096, IDS_MAX = 1 << 20, BUILD_IDS_MAX = 1 << 18, TEXT_MAX = 4096, UNPACK_BYTES = 1 << 17 };
enum { HEADER_BYTES = 104, PIPE_HEADER_BYTES = 16, FEATURE_WORDS = 4, RECORD_HEAD = 8 };

/* Records of perf's own, beyond the kernel's (tools/lib/perf/include/perf/event.h). */
enum {
    USER_FIRST = 64,
    USER_ATTR = 64,
    USER_EVENT_TYPE = 65,
    USER_TRACING_DATA = 66,
    USER_BUILD_ID = 67,
    USER_AUXTRACE = 71,
    USER_EVENT_UPDATE = 78,
    USER_FEATURE = 80,
    USER_COMPRESSED = 81,
    USER_LAST = 96,
};

/* Features (tools/perf/util/header.h). */
enum {
    FEATURE_BUILD_ID = 2,
    FEATURE_HOST = 3,
    FEATURE_CPU = 8,
    FEATURE_COMMAND = 11,
    FEATURE_EVENTS = 12,
};

struct perf_build_id {
    uint8_t bytes[20], count;
};

struct perf_file {
    const struct lwp_perf_visitor *visitor;
    void *to;
    struct lwp_perf_about *about;
    struct lwp_perf_event *events;
    char (*names)[128];
    size_t event_count;
    struct lwp_map *ids;       /* sample id -> event */
    struct lwp_map *build_ids; /* hash of a path -> build_id_list */
    struct perf_build_id *build_id_list;
    size_t id_count, build_id_count, build_id_room;
    ZSTD_DStream *unpack;
    uint8_t *unpacked; /* what is not yet read of it */
    size_t unpacked_bytes, unpacked_room;
    uint64_t callers[LWP_PERF_CALLERS_MAX];
};

struct perf_bytes {
    const uint8_t *at;
    size_t size;
};

static uint16_t perf_u16(const uint8_t *at)
{
    uint16_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

static uint32_t perf_u32(const uint8_t *at)
{
    uint32_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

static uint64_t perf_u64(const uint8_t *at)
{
    uint64_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

/* Text that need not end within its bytes. */
static void perf_text(char *to, size_t room, const uint8_t *from, size_t size)
{
    size_t length = strnlen((const char *)from, size);
    if (length >= room)
        length = room - 1;
    memcpy(to, from, length);
    to[length] = '\0';
}

static struct perf_bytes perf_part(struct perf_bytes of, uint64_t offset, uint64_t size)
{
    if (offset > of.size || !of.at)
        return (struct perf_bytes){NULL, 0};
    if (size > of.size - offset)
        size = of.size - offset;
    return (struct perf_bytes){of.at + offset, (size_t)size};
}

/* ---- events ---- */

static bool perf_add_event(struct perf_file *file, const uint8_t *attr, size_t bytes, const uint8_t *ids,
                           size_t id_bytes)
{
    if (file->event_count == EVENTS_MAX)
        return false;
    struct lwp_perf_event *event = &file->events[file->event_count];
    *event = (struct lwp_perf_event){.name = NULL};
    memcpy(&event->attr, attr, bytes < sizeof event->attr ? bytes : sizeof event->attr);
    for (size_t i = 0; i + 8 <= id_bytes && file->id_count < IDS_MAX; i += 8, file->id_count++)
        *lwp_map_at(file->ids, perf_u64(ids + i)) = (uint32_t)file->event_count;
    file->event_count++;
    return true;
}

static void perf_name_event(struct perf_file *file, size_t index, const uint8_t *text, size_t size)
{
    if (index >= file->event_count)
        return;
    perf_text(file->names[index], sizeof *file->names, text, size);
    file->events[index].name = file->names[index];
}

static const struct lwp_perf_event *perf_event_of(const struct perf_file *file, uint64_t id)
{
    uint32_t index = id ? lwp_map_get(file->ids, id) : LWP_MAP_NONE;
    if (index == LWP_MAP_NONE || index >= file->event_count)
        index = 0; /* one event, or ids not written */
    return file->event_count ? &file->events[index] : NULL;
}

/* ---- features ---- */

/* "u32 length, text". Returns the rest. */
static struct perf_bytes perf_feature_text(struct perf_bytes from, char *to, size_t room)
{
    if (from.size < 4)
        return (struct perf_bytes){NULL, 0};
    struct perf_bytes text = perf_part(from, 4, perf_u32(from.at));
    if (to)
        perf_text(to, room, text.at, text.size);
    return perf_part(from, 4 + text.size, from.size);
}

static void perf_command(struct lwp_perf_about *about, struct perf_bytes from)
{
    uint32_t count = from.size >= 4 ? perf_u32(from.at) : 0;
    from = perf_part(from, 4, from.size);
    about->command_bytes = 0;
    for (uint32_t i = 0; i < count && from.size >= 4; i++) {
        char word[1024];
        from = perf_feature_text(from, word, sizeof word);
        size_t bytes = strlen(word) + 1;
        if (about->command_bytes + bytes > sizeof about->command)
            break;
        memcpy(about->command + about->command_bytes, word, bytes);
        about->command_bytes += bytes;
    }
}

/* nr, attr size, then for each event: attr, number of ids, name, ids. */
static void perf_event_names(struct perf_file *file, struct perf_bytes from)
{
    if (from.size < 8)
        return;
    uint32_t count = perf_u32(from.at), attr_bytes = perf_u32(from.at + 4);
    from = perf_part(from, 8, from.size);
    for (uint32_t i = 0; i < count && i < EVENTS_MAX; i++) {
        from = perf_part(from, attr_bytes, from.size);
        if (from.size < 8)
            return;
        uint32_t ids = perf_u32(from.at);
        from = perf_part(from, 4, from.size);
        struct perf_bytes text = perf_part(from, 4, perf_u32(from.at));
        perf_name_event(file, i, text.at, text.size);
        from = perf_part(from, 4 + text.size, from.size);
        from = perf_part(from, 8 * (uint64_t)ids, from.size);
    }
}

static void perf_add_build_id(struct perf_file *file, uint16_t misc, struct perf_bytes from)
{
    enum { HAS_SIZE = 1 << 15, HEAD = 4 + 24 };
    if (from.size <= HEAD || file->build_id_count >= BUILD_IDS_MAX)
        return;
    struct perf_build_id id = {.count = misc & HAS_SIZE ? from.at[4 + 20] : 20};
    if (id.count > sizeof id.bytes)
        id.count = sizeof id.bytes;
    memcpy(id.bytes, from.at + 4, id.count);
    char path[TEXT_MAX];
    perf_text(path, sizeof path, from.at + HEAD, from.size - HEAD);
    if (file->build_id_count == file->build_id_room) {
        size_t room = file->build_id_room ? file->build_id_room * 2 : 64;
        struct perf_build_id *list = realloc(file->build_id_list, room * sizeof *list);
        if (!list)
            return;
        file->build_id_list = list;
        file->build_id_room = room;
    }
    *lwp_map_at(file->build_ids, lwp_hash_text(path)) = (uint32_t)file->build_id_count;
    file->build_id_list[file->build_id_count++] = id;
}

static void perf_build_ids(struct perf_file *file, struct perf_bytes from)
{
    while (from.size >= RECORD_HEAD) {
        uint16_t size = perf_u16(from.at + 6);
        if (size < RECORD_HEAD || size > from.size)
            return;
        perf_add_build_id(file, perf_u16(from.at + 4), perf_part(from, RECORD_HEAD, size - RECORD_HEAD));
        from = perf_part(from, size, from.size);
    }
}

static void perf_feature(struct perf_file *file, unsigned feature, struct perf_bytes from)
{
    struct lwp_perf_about *about = file->about;
    switch (feature) {
    case FEATURE_BUILD_ID:
        perf_build_ids(file, from);
        break;
    case FEATURE_HOST:
        perf_feature_text(from, about->host, sizeof about->host);
        break;
    case FEATURE_CPU:
        perf_feature_text(from, about->cpu, sizeof about->cpu);
        break;
    case FEATURE_COMMAND:
        perf_command(about, from);
        break;
    case FEATURE_EVENTS:
        perf_event_names(file, from);
        break;
    default:
        break;
    }
}

/* ---- records ---- */

static uint64_t perf_time(const struct perf_file *file, const uint8_t *at, size_t size, size_t *body)
{
    *body = size;
    if (!file->event_count)
        return 0;
    struct lwp_perf_trailer trailer = lwp_perf_trailer(&file->events[0].attr);
    if (trailer.bytes > size)
        return 0;
    *body = size - trailer.bytes;
    return trailer.time == SIZE_MAX ? 0 : perf_u64(at + *body + trailer.time);
}

static void perf_mapping(struct perf_file *file, uint32_t type, uint16_t misc, struct perf_bytes from)
{
    enum { MMAP_HEAD = 32, MMAP2_HEAD = 64, HAS_BUILD_ID = 1 << 14 };
    size_t head = type == PERF_RECORD_MMAP2 ? MMAP2_HEAD : MMAP_HEAD, body;
    if (from.size <= head) {
        file->about->bad_records++;
        return;
    }
    struct lwp_perf_mapping mapping = {.pid = perf_u32(from.at),
                                       .tid = perf_u32(from.at + 4),
                                       .start = perf_u64(from.at + 8),
                                       .bytes = perf_u64(from.at + 16),
                                       .file_offset = perf_u64(from.at + 24),
                                       .data = (misc & PERF_RECORD_MISC_MMAP_DATA) != 0,
                                       .kernel = (misc & PERF_RECORD_MISC_CPUMODE_MASK) != PERF_RECORD_MISC_USER};
    mapping.time = perf_time(file, from.at, from.size, &body);
    char path[TEXT_MAX] = "";
    if (body > head)
        perf_text(path, sizeof path, from.at + head, body - head);
    mapping.path = path;
    if (type == PERF_RECORD_MMAP2) {
        enum { PROT_EXECUTE = 4 };
        mapping.data |= !(perf_u32(from.at + 56) & PROT_EXECUTE);
    }
    uint32_t known = lwp_map_get(file->build_ids, lwp_hash_text(path));
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

static void perf_comm(struct perf_file *file, uint16_t misc, struct perf_bytes from)
{
    size_t body;
    if (from.size < 9) {
        file->about->bad_records++;
        return;
    }
    struct lwp_perf_task task = {
        .pid = perf_u32(from.at), .tid = perf_u32(from.at + 4), .exec = (misc & PERF_RECORD_MISC_COMM_EXEC) != 0};
    task.time = perf_time(file, from.at, from.size, &body);
    char name[64] = "";
    if (body > 8)
        perf_text(name, sizeof name, from.at + 8, body - 8);
    task.name = name;
    if (file->visitor->comm)
        file->visitor->comm(file->to, &task);
}

static void perf_task(struct perf_file *file, uint32_t type, struct perf_bytes from)
{
    if (from.size < 24) {
        file->about->bad_records++;
        return;
    }
    struct lwp_perf_task task = {.pid = perf_u32(from.at),
                                 .parent_pid = perf_u32(from.at + 4),
                                 .tid = perf_u32(from.at + 8),
                                 .time = perf_u64(from.at + 16)};
    void (*visit)(void *, const struct lwp_perf_task *) =
        type == PERF_RECORD_FORK ? file->visitor->fork : file->visitor->exit;
    if (visit)
        visit(file->to, &task);
}

static void perf_sample(struct perf_file *file, uint16_t misc, struct perf_bytes from)
{
    struct lwp_perf_sample sample;
    if (!file->event_count) {
        file->about->bad_records++;
        return;
    }
    uint64_t id = lwp_perf_sample_id(&file->events[0].attr, from.at, from.size);
    const struct lwp_perf_event *event = perf_event_of(file, id);
    if (!lwp_perf_sample_parse(&event->attr, misc, from.at, from.size, file->callers, &sample)) {
        file->about->bad_records++;
        return;
    }
    if (file->visitor->sample)
        file->visitor->sample(file->to, event, &sample);
}

static void perf_attr_record(struct perf_file *file, struct perf_bytes from)
{
    uint32_t bytes = from.size >= 8 ? perf_u32(from.at + 4) : 0; /* perf_event_attr.size */
    if (bytes < PERF_ATTR_SIZE_VER0 || bytes > from.size ||
        !perf_add_event(file, from.at, bytes, from.at + bytes, from.size - bytes))
        file->about->bad_records++;
}

static void perf_update_record(struct perf_file *file, struct perf_bytes from)
{
    enum { UPDATE_NAME = 2 };
    if (from.size > 16 && perf_u64(from.at) == UPDATE_NAME) {
        uint32_t index = lwp_map_get(file->ids, perf_u64(from.at + 8));
        if (index != LWP_MAP_NONE)
            perf_name_event(file, index, from.at + 16, from.size - 16);
    }
}

static size_t perf_records(struct perf_file *file, struct perf_bytes from, bool packed);

static void perf_compressed(struct perf_file *file, struct perf_bytes from)
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
        size_t used = perf_records(file, (struct perf_bytes){file->unpacked, file->unpacked_bytes}, true);
        memmove(file->unpacked, file->unpacked + used, file->unpacked_bytes - used);
        file->unpacked_bytes -= used;
        if (!out.pos && !used && in.pos == 0)
            return; /* no progress: damaged */
    }
}

static void perf_record(struct perf_file *file, uint32_t type, uint16_t misc, struct perf_bytes from, bool packed)
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
    case PERF_RECORD_EXIT:
        perf_task(file, type, from);
        break;
    case PERF_RECORD_SAMPLE:
        perf_sample(file, misc, from);
        break;
    case PERF_RECORD_LOST: /* id, number */
        if (from.size >= 16 && file->visitor->lost)
            file->visitor->lost(file->to, perf_u64(from.at + 8));
        break;
    case PERF_RECORD_LOST_SAMPLES:
        if (from.size >= 8 && file->visitor->lost)
            file->visitor->lost(file->to, perf_u64(from.at));
        break;
    case PERF_RECORD_THROTTLE:
        if (file->visitor->throttled)
            file->visitor->throttled(file->to);
        break;
    case USER_ATTR:
        perf_attr_record(file, from);
        break;
    case USER_BUILD_ID:
        perf_add_build_id(file, misc, from);
        break;
    case USER_EVENT_UPDATE:
        perf_update_record(file, from);
        break;
    case USER_FEATURE:
        if (from.size >= 8)
            perf_feature(file, (unsigned)perf_u64(from.at), perf_part(from, 8, from.size));
        break;
    case USER_COMPRESSED:
        if (!packed)
            perf_compressed(file, from);
        break;
    default:
        file->about->unknown_records += type > USER_LAST;
    }
}

/* Some records are followed by data that their size does not count. */
static uint64_t perf_tail(uint32_t type, struct perf_bytes from)
{
    if (type == USER_TRACING_DATA && from.size >= 4)
        return (perf_u32(from.at) + 7) & ~(uint64_t)7;
    if (type == USER_AUXTRACE && from.size >= 8)
        return perf_u64(from.at);
    return 0;
}

/* Returns how many bytes were whole records. */
static size_t perf_records(struct perf_file *file, struct perf_bytes from, bool packed)
{
    struct perf_bytes all = from;
    while (from.size >= RECORD_HEAD) {
        uint32_t type = perf_u32(from.at);
        uint16_t misc = perf_u16(from.at + 4), size = perf_u16(from.at + 6);
        if (size < RECORD_HEAD) { /* from here on nothing can be told */
            file->about->bad_records++;
            return packed ? all.size : all.size - from.size;
        }
        if (size > from.size)
            break;
        struct perf_bytes body = perf_part(from, RECORD_HEAD, size - RECORD_HEAD);
        perf_record(file, type, misc, body, packed);
        uint64_t tail = packed ? 0 : perf_tail(type, body);
        from = perf_part(from, size, from.size);
        from = perf_part(from, tail, from.size);
    }
    return all.size - from.size;
}

/* ---- the file ---- */

static int perf_read_file(struct perf_file *file, const char *name, struct perf_bytes all, struct lwp_error *err)
{
    if (all.size < HEADER_BYTES)
        return lwp_error_set(err, LWP_ERR_FORMAT, "%s is cut: its header is not whole", name);
    uint64_t attr_size = perf_u64(all.at + 16);
    struct perf_bytes attrs = perf_part(all, perf_u64(all.at + 24), perf_u64(all.at + 32));
    uint64_t data_offset = perf_u64(all.at + 40), data_size = perf_u64(all.at + 48);
    struct perf_bytes data = perf_part(all, data_offset, data_size ? data_size : all.size);
    if (attr_size < PERF_ATTR_SIZE_VER0 + 16 || attr_size > 4096)
        return lwp_error_set(err, LWP_ERR_FORMAT, "%s is damaged: its events cannot be read", name);
    for (; attrs.size >= attr_size; attrs = perf_part(attrs, attr_size, attrs.size)) {
        const uint8_t *section = attrs.at + attr_size - 16;
        struct perf_bytes ids = perf_part(all, perf_u64(section), perf_u64(section + 8));
        if (!perf_add_event(file, attrs.at, attr_size - 16, ids.at, ids.size))
            break;
    }
    /* A recorder that was killed never wrote how long its data is, nor the features behind it. */
    if (data_size && data_offset + data_size >= data_offset) {
        struct perf_bytes sections = perf_part(all, data_offset + data_size, all.size);
        for (unsigned feature = 0; feature < 64 * FEATURE_WORDS && sections.size >= 16; feature++) {
            if (!(perf_u64(all.at + 72 + feature / 64 * 8) >> feature % 64 & 1))
                continue;
            perf_feature(file, feature, perf_part(all, perf_u64(sections.at), perf_u64(sections.at + 8)));
            sections = perf_part(sections, 16, sections.size);
        }
    }
    file->about->torn = !data_size || data.size < data_size;
    size_t used = perf_records(file, data, false);
    file->about->torn |= used < data.size;
    return LWP_OK;
}

int lwp_perf_read_memory(const char *name, const uint8_t *bytes, size_t size, const struct lwp_perf_visitor *visitor,
                         void *to, struct lwp_perf_about *about, struct lwp_error *err)
{
    *about = (struct lwp_perf_about){0};
    if (size >= 8 && memcmp(bytes, "2ELIFREP", 8) == 0)
        return lwp_error_set(err, LWP_ERR_FORMAT, "%s was recorded on a machine of the other byte order", name);
    if (size < PIPE_HEADER_BYTES || memcmp(bytes, "PERFILE2", 8))
        return lwp_error_set(err, LWP_ERR_FORMAT, "%s is not a perf.data file", name);
    struct perf_file file = {.visitor = visitor, .to = to, .about = about};
    file.events = calloc(EVENTS_MAX, sizeof *file.events);
    file.names = calloc(EVENTS_MAX, sizeof *file.names);
    file.ids = lwp_map_new();
    file.build_ids = lwp_map_new();
    int status = LWP_OK;
    struct perf_bytes all = {bytes, size};
    uint64_t header = perf_u64(bytes + 8);
    if (!file.events || !file.names) {
        status = lwp_error_set(err, LWP_ERR_MEMORY, "out of memory");
    } else if (header == PIPE_HEADER_BYTES) {
        struct perf_bytes data = perf_part(all, PIPE_HEADER_BYTES, all.size);
        about->torn = perf_records(&file, data, false) < data.size;
    } else if (header == HEADER_BYTES) {
        status = perf_read_file(&file, name, all, err);
    } else {
        status = lwp_error_set(err, LWP_ERR_FORMAT, "%s has a header of a size that no perf writes", name);
    }
    if (!status && !file.event_count)
        status = lwp_error_set(err, LWP_ERR_FORMAT, "%s holds no event", name);
    ZSTD_freeDStream(file.unpack);
    lwp_map_free(file.ids);
    lwp_map_free(file.build_ids);
    free(file.unpacked);
    free(file.build_id_list);
    free(file.events);
    free(file.names);
    return status;
}

int lwp_perf_read(const char *path, const struct lwp_perf_visitor *visitor, void *to, struct lwp_perf_about *about,
                  struct lwp_error *err)
{
    struct stat info;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT)
        return lwp_error_set(err, LWP_ERR_MISSING, "there is no '%s'; name a file that perf record has written", path);
    if (fd < 0)
        return lwp_error_errno(err, "cannot read '%s'", path);
    int status = LWP_OK;
    if (fstat(fd, &info)) {
        status = lwp_error_errno(err, "cannot read '%s'", path);
    } else if (S_ISDIR(info.st_mode)) {
        status =
            lwp_error_set(err, LWP_ERR_USAGE, "'%s' is a folder (perf record --threads?); record into one file", path);
    } else if (info.st_size == 0) {
        status = lwp_error_set(err, LWP_ERR_FORMAT, "%s is empty", path);
    } else {
        void *bytes = mmap(NULL, (size_t)info.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (bytes == MAP_FAILED) {
            status = lwp_error_errno(err, "cannot read '%s'", path);
        } else {
            status = lwp_perf_read_memory(path, bytes, (size_t)info.st_size, visitor, to, about, err);
            munmap(bytes, (size_t)info.st_size);
        }
    }
    close(fd);
    return status;
}
