/* In: the bytes of a perf.data file. Out: its records one by one, those of tasks and samples in the order of time.
 *
 * A file has a header, the attributes of its events with the ids that samples are tagged with, records
 * (perf_records.c), and after them features (perf_features.c). A pipe's file has these as records of their own.
 * Limits: files of another byte order and directories (perf record --threads) are refused with a sentence. */
#include "collector/import/perf_reading.h"

#include "base/arena.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HEADER_BYTES = 104, PIPE_HEADER_BYTES = 16, FEATURE_WORDS = 4 };

static int perf_read_file(struct lwp_perf_file *file, const char *name, struct lwp_perf_bytes all,
                          struct lwp_error *err)
{
    if (all.size < HEADER_BYTES)
        return lwp_error_set(err, LWP_ERR_FORMAT, "%s is cut: its header is not whole", name);
    uint64_t attr_size = lwp_u64_at(all.at + 16);
    struct lwp_perf_bytes attrs = lwp_perf_part(all, lwp_u64_at(all.at + 24), lwp_u64_at(all.at + 32));
    uint64_t data_offset = lwp_u64_at(all.at + 40), data_size = lwp_u64_at(all.at + 48);
    struct lwp_perf_bytes data = lwp_perf_part(all, data_offset, data_size ? data_size : all.size);
    if (attr_size < PERF_ATTR_SIZE_VER0 + 16 || attr_size > 4096)
        return lwp_error_set(err, LWP_ERR_FORMAT, "%s is damaged: its events cannot be read", name);
    for (; attrs.size >= attr_size; attrs = lwp_perf_part(attrs, attr_size, attrs.size)) {
        const uint8_t *section = attrs.at + attr_size - 16;
        struct lwp_perf_bytes ids = lwp_perf_part(all, lwp_u64_at(section), lwp_u64_at(section + 8));
        if (!lwp_perf_add_event(file, attrs.at, attr_size - 16, ids.at, ids.size))
            break;
    }
    /* A recorder that was killed never wrote how long its data is, nor the features behind it. */
    if (data_size && data_offset + data_size >= data_offset) {
        struct lwp_perf_bytes sections = lwp_perf_part(all, data_offset + data_size, all.size);
        for (unsigned feature = 0; feature < 64 * FEATURE_WORDS && sections.size >= 16; feature++) {
            if (!(lwp_u64_at(all.at + 72 + feature / 64 * 8) >> feature % 64 & 1))
                continue;
            lwp_perf_feature(file, feature, lwp_perf_part(all, lwp_u64_at(sections.at), lwp_u64_at(sections.at + 8)));
            sections = lwp_perf_part(sections, 16, sections.size);
        }
    }
    file->about->torn = !data_size || data.size < data_size;
    size_t used = lwp_perf_records(file, data, false);
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
    struct lwp_perf_file file = {.visitor = visitor, .to = to, .about = about};
    file.events = lwp_zeroed(LWP_PERF_EVENTS_MAX, sizeof *file.events);
    file.names = lwp_zeroed(LWP_PERF_EVENTS_MAX, sizeof *file.names);
    int status = LWP_OK;
    struct lwp_perf_bytes all = {bytes, size};
    uint64_t header = lwp_u64_at(bytes + 8);
    if (header == PIPE_HEADER_BYTES) {
        struct lwp_perf_bytes data = lwp_perf_part(all, PIPE_HEADER_BYTES, all.size);
        about->torn = lwp_perf_records(&file, data, false) < data.size;
    } else if (header == HEADER_BYTES) {
        status = perf_read_file(&file, name, all, err);
    } else {
        status = lwp_error_set(err, LWP_ERR_FORMAT, "%s has a header of a size that no perf writes", name);
    }
    lwp_perf_records_end(&file);
    if (!status && !file.event_count)
        status = lwp_error_set(err, LWP_ERR_FORMAT, "%s holds no event", name);
    ZSTD_freeDStream(file.unpack);
    lwp_perf_batch_free(&file.waiting);
    lwp_map_fini(&file.ids);
    lwp_map_fini(&file.build_ids);
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
