/* The sample reader. Each input is read three times: as it is, with the checksums of its header and blocks made right,
 * and as records. */
#include "format/reader.h"

#include "tests/fuzz/wrap.h"

static uint64_t seen;

static int on_module(void *to, const struct lwps_module *record)
{
    (void)to;
    seen += strlen(record->path) + record->build_id[record->build_id_bytes % sizeof record->build_id];
    return 0;
}

static int on_process(void *to, const struct lwps_process *record)
{
    (void)to;
    for (uint32_t i = 0; i <= record->command_bytes; i++) /* one NUL behind it is promised */
        seen += (unsigned char)record->command[i];
    return 0;
}

static int on_note(void *to, const struct lwps_note *record)
{
    (void)to;
    seen += strlen(record->text);
    return 0;
}

static int on_thread(void *to, const struct lwps_thread *record)
{
    (void)to;
    seen += strlen(record->name);
    return 0;
}

static int on_sample(void *to, const struct lwps_sample *record)
{
    (void)to;
    if (record->access_count > LWPS_ACCESSES_MAX)
        abort();
    for (unsigned i = 0; i < record->access_count; i++)
        seen += record->access[i].address;
    return 0;
}

static int on_candidates(void *to, const struct lwps_candidates *record)
{
    (void)to;
    seen += record->time + record->weight + record->count + record->ip;
    return 0;
}

static int on_watch(void *to, const struct lwps_watch *record)
{
    (void)to;
    const struct lwps_access *accesses[] = {&record->first, &record->second};
    for (int i = 0; i < 2; i++)
        if (!(accesses[i]->flags & LWPS_ACCESS_KNOWN) && accesses[i]->address)
            abort(); /* an address that is not certain is 0 */
    seen += record->first.address + record->second.address + record->weight + (record->end_time - record->time);
    return 0;
}

static int on_pair(void *to, const struct lwps_pair *record)
{
    (void)to;
    seen += record->first.address + record->second.address + record->use + record->waste + record->time;
    return 0;
}

static void mend(uint8_t *bytes, size_t size)
{
    struct lwps_disk_header header;
    if (size < sizeof header)
        return;
    memcpy(&header, bytes, sizeof header);
    header.crc = lwps_crc32c(0, &header, offsetof(struct lwps_disk_header, lost_records));
    memcpy(bytes, &header, sizeof header);
    struct lwps_disk_block block;
    for (size_t at = header.header_bytes; at <= size && size - at >= sizeof block; at += sizeof block + block.bytes) {
        memcpy(&block, bytes + at, sizeof block);
        if (block.bytes > size - at - sizeof block)
            return;
        uint32_t crc = lwps_crc32c(0, bytes + at + sizeof block, block.bytes);
        block.crc = lwps_crc32c(crc, &block, offsetof(struct lwps_disk_block, crc));
        memcpy(bytes + at, &block, sizeof block);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *input, size_t size)
{
    static const struct lwps_visitor visitor = {.process = on_process, .module = on_module, .note = on_note,
                                                .thread = on_thread, .watch = on_watch, .candidates = on_candidates, .pair = on_pair,
                                                .sample = on_sample};
    struct lwps_damage damage;
    struct lwp_error err;
    lwps_read_memory("fuzz", input, size, &visitor, NULL, &damage, &err);
    uint8_t *mended = malloc(size ? size : 1);
    if (!mended)
        abort();
    memcpy(mended, input, size);
    mend(mended, size);
    lwps_read_memory("fuzz", mended, size, &visitor, NULL, &damage, &err);
    free(mended);
    size_t bytes;
    uint8_t *wrapped = fuzz_wrap(input, size, &bytes);
    lwps_read_memory("fuzz", wrapped, bytes, &visitor, NULL, &damage, &err);
    free(wrapped);
    return 0;
}
