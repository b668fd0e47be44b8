/* Counts in the sample files as they are; what a thread has not yet handed over to its file is not seen. */
#include "analysis/load/progress.h"

#include "format/reader.h"

#include <errno.h>
#include <fts.h>
#include <string.h>
#include <sys/stat.h>

struct progress {
    json_int_t processes, threads, samples, bytes;
};

static int progress_on_sample(void *to, const struct lwps_sample *sample)
{
    (void)sample;
    ((struct progress *)to)->samples++;
    return 0;
}

static void progress_file(struct progress *progress, const FTSENT *entry)
{
    static const struct lwps_visitor visitor = {.sample = progress_on_sample};
    struct lwps_damage damage;
    struct lwp_error ignored; /* a live file may be half made */
    size_t length = strlen(entry->fts_name);
    progress->bytes += (json_int_t)entry->fts_statp->st_blocks * 512;
    if (length < 5 || strcmp(entry->fts_name + length - 5, ".lwps"))
        return;
    progress->processes += strcmp(entry->fts_name, "process.lwps") == 0;
    progress->threads += entry->fts_name[0] == 't' && strncmp(entry->fts_name, "t0.", 3) != 0; /* of no thread */
    lwps_read(entry->fts_path, &visitor, progress, &damage, &ignored);
}

int lwp_progress_read(const char *dir, json_t **json, struct lwp_error *err)
{
    enum { DEPTH = 3 }; /* r<RANK>/p<PID>/t<TID>.lwps */
    struct progress progress = {0};
    *json = NULL;
    FTS *walk = fts_open((char *[]){(char *)(uintptr_t)dir, NULL}, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    if (!walk)
        return lwp_error_errno(err, "cannot open %s", dir);
    for (FTSENT *entry; (entry = fts_read(walk));) {
        if (entry->fts_info == FTS_F)
            progress_file(&progress, entry);
        else if (entry->fts_info == FTS_D && entry->fts_level >= DEPTH)
            fts_set(walk, entry, FTS_SKIP);
    }
    fts_close(walk);
    *json = json_pack("{s:I, s:I, s:I, s:I}", "processes", progress.processes, "threads", progress.threads, "samples", progress.samples,
                      "bytes", progress.bytes);
    return *json ? LWP_OK : lwp_error_set(err, LWP_ERR_MEMORY, "out of memory");
}
