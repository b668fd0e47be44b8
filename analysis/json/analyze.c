/* Runs the questions one after the other, and knows when their answer on disk is still good.
 * analysis.json is written aside and renamed, so that no reader ever sees half of it. */
#include "analysis/json/analyze.h"

#include "analysis/advice/locality/huge_pages.h"
#include "analysis/advice/locality/long_lists.h"
#include "analysis/advice/locality/loop_order.h"
#include "analysis/elements/elements.h"
#include "analysis/json/json.h"
#include "analysis/load/load.h"
#include "analysis/measure/here.h"
#include "analysis/profile/objects.h"
#include "analysis/profile/regions.h"
#include "analysis/profile/streams.h"
#include "analysis/ranks/ranks.h"
#include "base/cpu.h"
#include "base/json_file.h"
#include "base/log.h"
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int analyze_path(char path[PATH_MAX], const char *dir, const char *file, struct lwp_error *err)
{
    return snprintf(path, PATH_MAX, "%s/%s", dir, file) < PATH_MAX ? LWP_OK
                                                                   : lwp_error_set(err, LWP_ERR_USAGE, "the path '%s' is too long", dir);
}

static int analyze_write(json_t *root, const char *path, struct lwp_error *err)
{
    char aside[PATH_MAX];
    if (snprintf(aside, sizeof aside, "%s.new.%ld", path, (long)getpid()) >= (int)sizeof aside)
        return lwp_error_set(err, LWP_ERR_USAGE, "the path '%s' is too long", path);
    FILE *file = fopen(aside, "we");
    if (!file)
        return lwp_error_errno(err, "cannot write '%s'", aside);
    bool written = json_dumpf(root, file, JSON_INDENT(1) | JSON_REAL_PRECISION(9)) == 0 && fputc('\n', file) != EOF;
    written = fclose(file) == 0 && written;
    if (!written || rename(aside, path)) {
        int status = lwp_error_errno(err, "cannot write '%s'", path);
        unlink(aside);
        return status;
    }
    return LWP_OK;
}

/* run.json of a merged result: the first's, with what all took, and where they are. */
static int analyze_write_run(const struct lwp_profile *profile, const char *const *dirs, size_t count, const char *out_dir,
                             struct lwp_error *err)
{
    json_t *run = json_deep_copy(profile->run), *merged = json_array();
    char path[PATH_MAX];
    for (size_t i = 0; i < count; i++) {
        char *absolute = realpath(dirs[i], NULL);
        if (!absolute || json_array_append_new(merged, json_string(absolute)))
            lwp_log(LWP_LOG_WARNING, "the name '%s' cannot be kept: %s will not be made anew when it changes", dirs[i], out_dir);
        free(absolute);
    }
    json_object_set_new(run, "merged", merged);
    json_object_set_new(run, "written_s", json_integer(time(NULL)));
    json_object_del(run, "source_roots"); /* each of the merged has its own */
    json_object_del(run, "folders");
    json_object_del(run, "rank");
    int status = analyze_path(path, out_dir, "run.json", err);
    if (!status)
        status = analyze_write(run, path, err);
    json_decref(run);
    return status;
}

/* `made`: it was not there. */
static int analyze_folder(const char *path, bool *made, struct lwp_error *err)
{
    *made = mkdir(path, 0777) == 0;
    return *made || errno == EEXIST ? LWP_OK : lwp_error_errno(err, "cannot make the folder '%s'", path);
}

/* Ctrl-C waits until files are whole. */
static int analyze_write_all(const struct lwp_profile *profile, json_t *root, const char *const *dirs, size_t count, const char *out_path,
                             const char *out_dir, struct lwp_error *err)
{
    sigset_t ends, before;
    sigemptyset(&ends);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGTERM);
    sigaddset(&ends, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &ends, &before);
    bool made;
    int status = out_dir ? analyze_folder(out_dir, &made, err) : LWP_OK;
    if (!status && out_dir)
        status = analyze_write_run(profile, dirs, count, out_dir, err);
    if (!status)
        status = analyze_write(root, out_path, err);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return status;
}

static unsigned analyze_jobs;
static struct lwp_hierarchy_plan analyze_elsewhere;

void lwp_analyze_machine(const struct lwp_hierarchy_plan *plan)
{
    analyze_elsewhere = plan ? *plan : (struct lwp_hierarchy_plan){.cores = 0};
}

static const double measure_seconds = 5; /* for each result */
static enum { MEASURE_AS_COLLECTED, MEASURE_NEVER, MEASURE_ALWAYS } analyze_measure;

void lwp_analyze_measure(bool measure)
{
    analyze_measure = measure ? MEASURE_ALWAYS : MEASURE_NEVER;
}

static bool analyze_measures(const struct lwp_profile *profile)
{
    const json_t *options = json_object_get(profile->run, "options");
    const bool asked = analyze_measure == MEASURE_ALWAYS ||
                       (analyze_measure == MEASURE_AS_COLLECTED && !json_is_true(json_object_get(options, "no-measure")));
    return asked && profile->weight_unit == LWPS_WEIGHT_NS && lwp_measure_is_here(profile->run); /* patterns are timed, not simulated */
}

void lwp_analyze_jobs(unsigned jobs)
{
    analyze_jobs = jobs;
}

/* The questions in an order in which each finds the answers it needs. */
static void analyze_ask(struct lwp_profile *profile, struct lwp_answers *answers)
{
    lwp_communication_counts_locate(profile);
    lwp_interaction_locate(profile);
    lwp_regions_merge(profile);
    const uint32_t unowned = lwp_objects_special(profile, LWP_OBJECT_UNOWNED);
    lwp_streams_on_stacks(profile, unowned);
    double adopted = lwp_streams_adopt(profile, unowned);
    if (adopted > 0.02 * profile->total.weight)
        lwp_profile_note(profile,
                         "%.0f %% of the cost is on small blocks that were not recorded one by one; it was given to the "
                         "pool which the same instructions use otherwise.",
                         100 * adopted / profile->total.weight);
    lwp_regions_share_time(profile);
    lwp_streams_link(profile);
    lwp_streams_decode(profile);
    lwp_elements_find(profile);
    lwp_elements_notes(profile);
    lwp_split_advise(profile, &answers->splits);
    lwp_regroup_advise(profile, &answers->splits, &answers->regroups);
    lwp_conflicts_find(profile, &answers->conflicts);
    lwp_layout_replay(profile, &answers->splits, &answers->regroups, &answers->conflicts);
    lwp_redundancy_find(profile, &answers->redundancies);
    lwp_counted_communication_find(profile, &answers->threads.counted);
    lwp_communication_advise(profile, &answers->threads.counted, &answers->threads.tips);
    lwp_sampled_communication_find(profile, &answers->threads.sampled);
    lwp_sharing_find(profile, &answers->threads.sharings);
    lwp_locality_find(profile, &answers->locality);
    lwp_locality_notes(profile);
    lwp_locality_advise(profile, &answers->locality, lwp_regroup_members(profile, &answers->regroups), &answers->tips);
    if (!answers->locality.measured)
        lwp_locality_sampled_find(profile, &answers->sampled);
    lwp_loop_order_advise(profile, &answers->sampled, &answers->tips);
    lwp_huge_pages_advise(profile, &answers->sampled, &answers->tips);
    lwp_long_lists_advise(profile, &answers->sampled, &answers->tips);
    lwp_findings_rank(profile, answers);
    lwp_findings_notes(profile, answers);
}

/* `out_dir`: NULL, or the folder whose run.json is to name `dirs`. */
static int analyze_all(const char *const *dirs, size_t count, const char *out_path, const char *out_dir, struct lwp_error *err)
{
    struct lwp_profile profile;
    struct lwp_answers answers = {0};
    char path[PATH_MAX];
    int status = out_path ? LWP_OK : analyze_path(path, dirs[0], "analysis.json", err);
    if (status)
        return status;
    out_path = out_path ? out_path : path;
    lwp_profile_init(&profile);
    profile.jobs = analyze_jobs;
    profile.machines[LWP_MACHINE_ELSEWHERE] = analyze_elsewhere;
    status = lwp_load(&profile, dirs, count, err);
    if (status || !lwp_ranks_first())
        goto out;
    lwp_log_progress("analysing");
    profile.measure_seconds = count == 1 && analyze_measures(&profile) ? measure_seconds : 0;
    profile.measure_most = profile.measure_seconds;
    if (profile.measure_seconds > 0 && !profile.page_fault_ns)
        profile.page_fault_ns = (uint64_t)lwp_cpu_page_fault_ns(profile.resident_bytes / 4096);
    analyze_ask(&profile, &answers);
    json_t *root = lwp_json_build(&profile, &answers);
    lwp_regroup_free(&answers.regroups);
    lwp_log_progress(NULL);
    status = analyze_write_all(&profile, root, dirs, count, out_path, out_dir, err);
    json_decref(root);
out:
    lwp_profile_fini(&profile);
    return lwp_ranks_status(status, err);
}

int lwp_analyze(const char *const *dirs, size_t count, const char *out_path, struct lwp_error *err)
{
    return analyze_all(dirs, count, out_path, NULL, err);
}

/* ---- merged results ---- */

/* What a merged result was made of: an array of paths, owned by the caller. NULL: DIR is no merged result. */
static json_t *analyze_merged_of(const char *dir)
{
    char path[PATH_MAX];
    if (analyze_path(path, dir, "run.json", NULL))
        return NULL;
    json_t *run = lwp_json_read(path, 0, NULL), *merged = json_object_get(run, "merged");
    bool sound = json_is_array(merged) && json_array_size(merged) > 0;
    for (size_t i = 0; sound && i < json_array_size(merged); i++)
        sound = json_is_string(json_array_get(merged, i));
    merged = sound ? json_incref(merged) : NULL;
    json_decref(run);
    return merged;
}

/* Replaces merged results among `dirs` by their parts. The texts live as long as *parts. */
static const char **analyze_parts(const char *const *dirs, size_t *count, json_t **parts)
{
    const char **all = NULL;
    size_t made = 0, room = 0, given = *count;
    *parts = json_array();
    for (size_t i = 0; i < given; i++) {
        json_t *merged = analyze_merged_of(dirs[i]), *one;
        size_t k;
        json_array_foreach(merged, k, one) {
            LWP_GROW(&all, made, &room);
            all[made++] = json_string_value(one);
        }
        if (!merged) {
            LWP_GROW(&all, made, &room);
            all[made++] = dirs[i];
        }
        json_array_append_new(*parts, merged ? merged : json_null());
    }
    *count = made;
    return all;
}

static bool analyze_holds_samples(const char *dir)
{
    DIR *folder = opendir(dir);
    struct dirent *entry;
    bool holds = false;
    while (folder && !holds && (entry = readdir(folder)))
        holds = strchr("pr", entry->d_name[0]) && entry->d_name[1] >= '0' && entry->d_name[1] <= '9';
    if (folder)
        closedir(folder);
    return holds;
}

int lwp_analyze_merge(const char *const *dirs, size_t count, const char *out_dir, struct lwp_error *err)
{
    char path[PATH_MAX];
    json_t *parts;
    int status = analyze_path(path, out_dir, "analysis.json", err);
    if (status)
        return status;
    if (analyze_holds_samples(out_dir))
        return lwp_error_set(err, LWP_ERR_USAGE, "'%s' holds samples of its own; name another folder to merge into", out_dir);
    const char **all = analyze_parts(dirs, &count, &parts);
    bool made = false;
    status = lwp_ranks_first() ? analyze_folder(out_dir, &made, err) : LWP_OK; /* better known now than after all the work */
    if (!status && made)
        rmdir(out_dir);
    status = lwp_ranks_status(status, err);
    if (!status)
        status = analyze_all(all, count, path, out_dir, err);
    if (status && made)
        rmdir(out_dir); /* stays when something is in it */
    free(all);
    json_decref(parts);
    return status;
}

/* ---- is the answer on disk still good? ---- */

static bool analyze_newer(const struct stat *a, const struct stat *b)
{
    return a->st_mtim.tv_sec != b->st_mtim.tv_sec ? a->st_mtim.tv_sec > b->st_mtim.tv_sec : a->st_mtim.tv_nsec >= b->st_mtim.tv_nsec;
}

/* Whether something that ends in .lwps in `dir`, or run.json, is newer than the answer. */
static bool analyze_input_newer(const char *dir, const struct stat *answer, int depth)
{
    DIR *folder = opendir(dir);
    struct dirent *entry;
    bool newer = false;
    while (folder && !newer && (entry = readdir(folder))) {
        char path[PATH_MAX];
        struct stat info;
        size_t length = strlen(entry->d_name);
        if (entry->d_name[0] == '.' || length < 2 || analyze_path(path, dir, entry->d_name, NULL) || stat(path, &info))
            continue;
        if (S_ISDIR(info.st_mode))
            newer = depth < 2 && strchr("pr", entry->d_name[0]) && analyze_input_newer(path, answer, depth + 1);
        else if (length > 5 && ((strncmp(entry->d_name, "run.", 4) == 0 && strcmp(entry->d_name + length - 5, ".json") == 0) ||
                                strcmp(entry->d_name + length - 5, ".lwps") == 0))
            newer = analyze_newer(&info, answer);
    }
    if (folder)
        closedir(folder);
    return newer;
}

static bool analyze_is_good(const char *dir, const char *path)
{
    struct stat answer, self;
    if (stat(path, &answer) || analyze_input_newer(dir, &answer, 0))
        return false;
    if (stat("/proc/self/exe", &self) == 0 && analyze_newer(&self, &answer)) /* another build of lwp */
        return false;
    json_t *root = lwp_json_read(path, 0, NULL);
    const char *version = json_string_value(json_object_get(root, "lwp_version"));
    bool good = version && strcmp(version, LWP_VERSION) == 0 && json_is_array(json_object_get(root, "findings"));
    json_decref(root);
    return good;
}

int lwp_analyze_directory(const char *dir, bool force, bool *made, struct lwp_error *err)
{
    char path[PATH_MAX];
    int status = analyze_path(path, dir, "analysis.json", err);
    if (status)
        return status;
    json_t *merged = analyze_merged_of(dir), *one;
    bool good = !force && lwp_ranks_first() && analyze_is_good(dir, path), gone = false;
    struct stat answer, part;
    size_t i;
    json_array_foreach(merged, i, one) {
        gone |= stat(json_string_value(one), &part) != 0;
        good = good && (gone || stat(path, &answer) || !analyze_input_newer(json_string_value(one), &answer, 0));
    }
    if (merged && gone && !force && stat(path, &answer) == 0) /* all that is left */
        good = true;
    good = lwp_ranks_agree(good);
    if (made)
        *made = !good;
    if (!good)
        status = merged ? lwp_analyze_merge(&dir, 1, dir, err) : lwp_analyze(&dir, 1, path, err);
    json_decref(merged);
    return status;
}
