/* Reads one thread's file into a shard: every access gets its object, loop and stream. */
#ifndef LWP_ANALYSIS_LOAD_THREAD_FILE_H
#define LWP_ANALYSIS_LOAD_THREAD_FILE_H

#include "analysis/caches/hierarchy.h"
#include "analysis/load/resolver.h"
#include "analysis/load/shard.h"
#include "format/reader.h"

/* One reading thread's own state. */
struct lwp_thread_reader;

/* `machines`: what traces are replayed on (trace_replay.h). Files whose weights are in another unit are not read. */
struct lwp_thread_reader *lwp_thread_reader_new(struct lwp_resolver *resolver, struct lwp_shard *shard, uint8_t weight_unit,
                                                const struct lwp_hierarchy_plan *machines);
void lwp_thread_reader_free(struct lwp_thread_reader *attribution);

/* What the caller needs to know of a file. */
struct lwp_thread_file {
    uint64_t lost_records;
    uint8_t other_unit; /* 0, or what its weights are in */
};

/* Reads t<TID>.lwps of the process in `map`. `number`: of the file among all, deterministic. */
int lwp_thread_reader_read(struct lwp_thread_reader *attribution, struct lwp_address_map *map, uint32_t number, const char *path,
                           struct lwp_thread_file *file, struct lwps_damage *damage, struct lwp_error *err);

#endif
