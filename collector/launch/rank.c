#include "collector/launch/rank.h"

#include "base/arena.h"
#include "base/busy.h"
#include "base/path.h"
#include "collector/launch/result.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { RANKS_MAX = 1 << 24, JOIN_TENTHS = 50 };

static bool rank_number(const char *name, unsigned *number)
{
    const char *text = getenv(name);
    char *end;
    if (!text || !*text)
        return false;
    long value = strtol(text, &end, 10);
    if (*end || value < 0 || value >= RANKS_MAX)
        return false;
    *number = (unsigned)value;
    return true;
}

bool lwp_rank_find(struct lwp_rank *rank)
{
    /* A launcher that names its job is asked first. Slurm sets its variables in batch scripts too; those have no step.
     */
    static const struct {
        const char *rank, *size, *job, *part, *needs;
    } launchers[] = {
        {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "PMIX_NAMESPACE", NULL, NULL},
        {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_MCA_ess_base_jobid", NULL, NULL},
        {"SLURM_PROCID", "SLURM_NTASKS", "SLURM_JOB_ID", "SLURM_STEP_ID", "SLURM_STEP_ID"},
        {"PMI_RANK", "PMI_SIZE", "PMI_JOBID", NULL, NULL},
        {"PMI_RANK", "PMI_SIZE", NULL, NULL, NULL},
        {"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE", NULL, NULL, NULL},
    };
    *rank = (struct lwp_rank){.size = 1};
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++) {
        if ((launchers[i].needs && !getenv(launchers[i].needs)) || (launchers[i].job && !getenv(launchers[i].job)) ||
            !rank_number(launchers[i].rank, &rank->rank) || !rank_number(launchers[i].size, &rank->size))
            continue;
        if (launchers[i].job)
            snprintf(rank->job, sizeof rank->job, "%s%s%s", getenv(launchers[i].job), launchers[i].part ? "." : "",
                     launchers[i].part ? getenv(launchers[i].part) : "");
        else /* the launcher on this host */
            snprintf(rank->job, sizeof rank->job, "%d", (int)getppid());
        return rank->size > 1 && rank->rank < rank->size;
    }
    return false;
}

static void rank_pause(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
}

enum rank_owner { RANK_NOBODY, RANK_OURS, RANK_OTHERS };

/* Whose DIR is; nobody's while its maker has not marked it yet. */
static enum rank_owner rank_owner(const char *dir, const struct lwp_rank *rank)
{
    char *path = lwp_format("%s/job", dir), text[sizeof rank->job + 1] = "";
    FILE *file = fopen(path, "re");
    free(path);
    if (!file)
        return RANK_NOBODY;
    size_t length = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    bool ours = length > 0 && text[length - 1] == '\n' && strlen(rank->job) == length - 1 &&
                memcmp(text, rank->job, length - 1) == 0;
    return ours ? RANK_OURS : RANK_OTHERS;
}

static int rank_mark(const char *dir, const struct lwp_rank *rank, struct lwp_error *err)
{
    char path[PATH_MAX], line[sizeof rank->job + 1];
    snprintf(path, sizeof path, "%s/job", dir);
    snprintf(line, sizeof line, "%s\n", rank->job);
    return lwp_path_replace(path, line, err);
}

int lwp_rank_join(struct lwp_rank *rank, const char *dir, bool force, char **own, int *busy, struct lwp_error *err)
{
    struct stat st;
    *busy = -1;
    /* Replacing is for one of them to do: rank 0. The others wait for its mark. */
    bool replaces = force && rank->rank == 0 && stat(dir, &st) == 0 && rank_owner(dir, rank) != RANK_OURS;
    if (replaces ? lwp_result_create(dir, true, busy, err) : mkdir(dir, 0777)) {
        if (replaces)
            return err->status;
        if (errno != EEXIST)
            return lwp_error_errno(err, "cannot make the result directory %s", dir);
        enum rank_owner owner = rank_owner(dir, rank);
        for (int i = 0; i < JOIN_TENTHS && (owner == RANK_NOBODY || (owner == RANK_OTHERS && force)); i++) {
            rank_pause();
            owner = rank_owner(dir, rank);
        }
        if (owner != RANK_OURS)
            return lwp_error_set(err, LWP_ERR_USAGE,
                                 "%s exists already and is not of this job; choose another with -o, or --force to "
                                 "replace it",
                                 dir);
    } else {
        rank->first = true;
        if (*busy < 0)
            *busy = lwp_busy_begin(dir);
        if (rank_mark(dir, rank, err))
            return err->status;
    }
    *own = lwp_format("%s/r%u", dir, rank->rank);
    if (mkdir(*own, 0777) == 0)
        return LWP_OK;
    int why = errno;
    free(*own);
    *own = NULL;
    if (why == EEXIST)
        return lwp_error_set(err, LWP_ERR_USAGE, "rank %u writes into %s already", rank->rank, dir);
    errno = why;
    return lwp_error_errno(err, "cannot make a folder for rank %u in %s", rank->rank, dir);
}

static int rank_process_name(const struct dirent *entry)
{
    return lwp_result_is_process(entry->d_name);
}

json_t *lwp_rank_move_up(const char *dir, const char *own)
{
    struct dirent **entries = NULL;
    int count = scandir(own, &entries, rank_process_name, alphasort);
    json_t *names = json_array();
    for (int i = 0; i < count; i++) {
        const char *name = entries[i]->d_name;
        /* Two hosts may have used one process id: the next number is free for the later one. */
        int pid = (int)strspn(name + 1, "0123456789") + 1;
        unsigned generation = name[pid] == '.' ? (unsigned)strtoul(name + pid + 1, NULL, 10) : 0;
        for (bool moved = false; !moved; generation++) {
            char *from = lwp_format("%s/%s", own, name);
            char *to = generation ? lwp_format("%s/%.*s.%u", dir, pid, name, generation) : lwp_format("%s/%.*s", dir, pid, name);
            bool renamed = rename(from, to) == 0;
            moved = renamed || (errno != EEXIST && errno != ENOTEMPTY);
            if (renamed)
                json_array_append_new(names, json_string(strrchr(to, '/') + 1));
            free(from);
            free(to);
        }
        free(entries[i]);
    }
    free(entries);
    return names;
}

static unsigned rank_present(const char *dir)
{
    DIR *folder = opendir(dir);
    unsigned present = 0;
    for (struct dirent *entry; folder && (entry = readdir(folder));)
        present += lwp_result_is_rank(entry->d_name);
    if (folder)
        closedir(folder);
    return present;
}

unsigned lwp_rank_wait(const char *dir, double seconds)
{
    unsigned present = rank_present(dir);
    for (int i = 0; present && i < seconds * 10; i++) {
        rank_pause();
        present = rank_present(dir);
    }
    return present;
}

void lwp_rank_discard(const char *dir)
{
    static const char *const names[] = {"job", "run.json"};
    DIR *folder = opendir(dir);
    bool used = !folder;
    for (struct dirent *entry; folder && (entry = readdir(folder));)
        used |= lwp_result_is_rank(entry->d_name) || lwp_result_is_process(entry->d_name);
    for (size_t i = 0; !used && i < sizeof names / sizeof *names; i++)
        unlinkat(dirfd(folder), names[i], 0);
    if (!used)
        rmdir(dir);
    if (folder)
        closedir(folder);
}
