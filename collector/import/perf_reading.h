/* What is known while a perf.data file is read, and the steps of reading it that need it. */
#ifndef LWP_IMPORT_PERF_READING_H
#define LWP_IMPORT_PERF_READING_H

#include "base/hash.h"
#include "base/unaligned.h"
#include "collector/import/perf_file.h"
#include "collector/perf/batch.h"

#include <zstd.h>

enum { LWP_PERF_EVENTS_MAX = 4096, LWP_PERF_TEXT_MAX = 4096, LWP_PERF_RECORD_HEAD = 8 };

struct lwp_perf_build_id {
    uint8_t bytes[20], count;
};

struct lwp_perf_file {
    const struct lwp_perf_visitor *visitor;
    void *to;
    struct lwp_perf_about *about;
    struct lwp_perf_event *events;
    char (*names)[128];
    size_t event_count;
    struct lwp_map ids;       /* sample id -> event */
    struct lwp_map build_ids; /* hash of a path -> build_id_list */
    struct lwp_perf_build_id *build_id_list;
    size_t id_count, build_id_count, build_id_room;
    ZSTD_DStream *unpack;
    uint8_t *unpacked; /* what is not yet read of it */
    size_t unpacked_bytes, unpacked_room;
    struct lwp_perf_batch waiting; /* records that earlier ones may still follow */
    uint64_t round_end;            /* what was written before the last round came before this */
    uint64_t callers[LWP_PERF_CALLERS_MAX];
};

struct lwp_perf_bytes {
    const uint8_t *at;
    size_t size;
};

/* A part of the bytes, as much of it as there is. */
static inline struct lwp_perf_bytes lwp_perf_part(struct lwp_perf_bytes of, uint64_t offset, uint64_t size)
{
    if (offset > of.size || !of.at)
        return (struct lwp_perf_bytes){NULL, 0};
    if (size > of.size - offset)
        size = of.size - offset;
    return (struct lwp_perf_bytes){of.at + offset, (size_t)size};
}

/* perf_features.c: the description of the recording; adds to the file. */

/* Text that need not end within its bytes. */
void lwp_perf_text(char *to, size_t room, const uint8_t *from, size_t size);

/* false: there are too many. */
bool lwp_perf_add_event(struct lwp_perf_file *file, const uint8_t *attr, size_t bytes, const uint8_t *ids,
                        size_t id_bytes);
void lwp_perf_name_event(struct lwp_perf_file *file, size_t index, const uint8_t *text, size_t size);

/* By the id that samples are tagged with. NULL: there is no event. */
const struct lwp_perf_event *lwp_perf_event_of(const struct lwp_perf_file *file, uint64_t id);
void lwp_perf_add_build_id(struct lwp_perf_file *file, uint16_t misc, struct lwp_perf_bytes from);
void lwp_perf_feature(struct lwp_perf_file *file, unsigned feature, struct lwp_perf_bytes from);

/* perf_records.c: hands records to the visitor, those of tasks and samples once no earlier one can follow. Returns how many bytes
 * were whole records. `packed`: they come out of a compressed record. */
size_t lwp_perf_records(struct lwp_perf_file *file, struct lwp_perf_bytes from, bool packed);

/* No more records follow. */
void lwp_perf_records_end(struct lwp_perf_file *file);

#endif
