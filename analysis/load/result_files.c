/* Finds DIR/p<PID>[.<n>]/ with process.lwps and t<TID>.lwps in each DIR, and in DIR/r<RANK>/ what ranks that were
 * killed or still run have not moved up. Reads run.json, run.<RANK>.json of each rank, and makes one of all: times are
 * summed over runs; of the ranks of one run the longest time is the run's, and the first that failed is its end.
 * Everything is in an order that is always the same: ranks by their numbers, processes and threads as they were made. */
#include "analysis/load/result_files.h"

#include "analysis/caches/hierarchy.h"
#include "base/hash.h"
#include "base/json_file.h"
#include "base/order.h"
#include "base/path.h"
#include "base/text.h"
#include "format/reader.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PROCESSES_MAX = 1 << 16 };

static bool input_digits(const char *text)
{
    return *text && text[strspn(text, "0123456789")] == '\0';
}

static int input_thread_name(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name);
    return entry->d_name[0] == 't' && length > 6 && strcmp(entry->d_name + length - 5, ".lwps") == 0;
}

static int input_process_name(const struct dirent *entry)
{
    return entry->d_name[0] == 'p' && entry->d_name[1] >= '0' && entry->d_name[1] <= '9';
}

static int input_rank_name(const struct dirent *entry)
{
    return entry->d_name[0] == 'r' && input_digits(entry->d_name + 1);
}

static int input_rank_run_name(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name);
    if (length < 10 || strncmp(entry->d_name, "run.", 4) != 0 || strcmp(entry->d_name + length - 5, ".json") != 0)
        return false;
    return strspn(entry->d_name + 4, "0123456789") == length - 9;
}

/* ---- run.json ---- */

static double input_seconds(const json_t *run, const char *key)
{
    const json_t *value = json_object_get(run, key);
    return json_is_number(value) && json_number_value(value) > 0 ? json_number_value(value) : 0;
}

/* A virtual machine sees the whole last-level cache though it has a few cores' share of it: no processor has more per thread. */
static uint64_t input_last_cache(uint64_t bytes, uint64_t threads)
{
    static const uint64_t most_each = 16 << 20;
    return threads && bytes / threads > most_each ? threads * most_each : bytes;
}

static void input_machine(const json_t *run, struct lwp_caches *caches)
{
    const json_t *machine = json_object_get(run, "machine");
    const char *cpu = json_string_value(json_object_get(machine, "cpu"));
    *caches = (struct lwp_caches){.line_bytes = lwp_json_natural(machine, "line_bytes")};
    /* By examples/stencil, 27 at a time: joining them paid on the AMD machines this was first measured on (1.19), and cost a
     * quarter on Sapphire Rapids. */
    if (cpu && strstr(cpu, "AMD"))
        caches->streams = 12;
    else if (cpu && strstr(cpu, "Intel"))
        caches->streams = 32;
    const json_t *last = lwp_machine_cache(machine, 3);
    caches->l1_bytes = lwp_json_natural(lwp_machine_cache(machine, 1), "bytes");
    caches->l2_bytes = lwp_json_natural(lwp_machine_cache(machine, 2), "bytes");
    caches->l3_whole = lwp_json_natural(last, "bytes");
    caches->l3_bytes = input_last_cache(caches->l3_whole, lwp_json_natural(last, "shared_by"));
}

static json_t *input_json(const char *dir, const char *name)
{
    char path[4096];
    if (snprintf(path, sizeof path, "%s/%s", dir, name) >= (int)sizeof path)
        return NULL;
    json_t *root = lwp_json_read(path, 0, NULL);
    if (json_is_object(root))
        return root;
    json_decref(root);
    return NULL;
}

static bool input_failed(const json_t *run)
{
    const json_t *end = json_object_get(run, "exit");
    return json_is_integer(json_object_get(end, "signal")) || json_integer_value(json_object_get(end, "code")) != 0;
}

static void input_add_seconds(json_t *run, const char *key, double seconds)
{
    if (seconds > 0)
        json_object_set_new(run, key, json_real(input_seconds(run, key) + seconds));
}

static void input_add_notes(json_t *run, const json_t *one)
{
    json_t *notes = json_object_get(one, "notes");
    if (!json_is_array(json_object_get(run, "notes")))
        json_object_set_new(run, "notes", json_array());
    if (json_is_array(notes))
        json_array_extend(json_object_get(run, "notes"), notes);
}

/* One run.json for all ranks, and which folder was whose. */
static json_t *input_ranks(const char *dir, json_t *ranks)
{
    struct dirent **entries = NULL;
    int count = scandir(dir, &entries, input_rank_run_name, versionsort);
    json_t *run = input_json(dir, "run.json"), *total = NULL;
    for (int i = 0; i < count; i++) {
        json_t *one = input_json(dir, entries[i]->d_name), *folder;
        size_t k;
        json_array_foreach(json_object_get(one, "folders"), k, folder) {
            if (json_is_string(folder))
                json_object_set_new(ranks, json_string_value(folder), json_integer(strtol(entries[i]->d_name + 4, NULL, 10)));
        }
        if (one && !total) {
            total = json_deep_copy(run ? run : one);
            json_object_set(total, "exit", json_object_get(one, "exit"));
            json_object_del(total, "cpu_s");
            json_object_del(total, "wall_s");
            json_object_del(total, "overhead_percent");
        }
        if (one) {
            input_add_notes(total, one);
            input_add_seconds(total, "cpu_s", input_seconds(one, "cpu_s"));
            if (input_seconds(one, "wall_s") > input_seconds(total, "wall_s"))
                json_object_set(total, "wall_s", json_object_get(one, "wall_s"));
            if (input_failed(one) && !input_failed(total))
                json_object_set(total, "exit", json_object_get(one, "exit"));
        }
        json_decref(one);
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
    if (!total)
        return run;
    json_decref(run);
    return total;
}

static const char *input_program(const json_t *run)
{
    return lwp_path_last(json_string_value(json_array_get(json_object_get(run, "command"), 0)));
}

static bool input_same_caches(const struct lwp_caches *a, const struct lwp_caches *b)
{
    return a->line_bytes == b->line_bytes && a->l1_bytes == b->l1_bytes && a->l2_bytes == b->l2_bytes && a->l3_bytes == b->l3_bytes &&
           a->l3_whole == b->l3_whole && a->streams == b->streams;
}

/* What a further DIR adds to the run. */
static void input_add_run(struct lwp_profile *profile, const json_t *run)
{
    struct lwp_caches caches;
    const char *first = input_program(profile->run), *program = input_program(run);
    if (first && program && strcmp(first, program) != 0)
        lwp_profile_note(profile,
                         "These are results of different programs (%s and %s among them): shares are of the time of all "
                         "together.",
                         first, program);
    input_machine(run, &caches);
    if (caches.line_bytes && profile->machine.line_bytes && !input_same_caches(&caches, &profile->machine))
        lwp_profile_note(profile, "The runs were made on machines with different caches; those of the first are used.");
    json_object_del(profile->run, "overhead_percent");
    input_add_seconds(profile->run, "cpu_s", input_seconds(run, "cpu_s"));
    input_add_seconds(profile->run, "wall_s", input_seconds(run, "wall_s"));
    if (input_failed(run) && !input_failed(profile->run))
        json_object_set(profile->run, "exit", json_object_get(run, "exit"));
}

static void input_run(struct lwp_profile *profile, const char *dir, const char *prefix, json_t *ranks)
{
    json_t *run = input_ranks(dir, ranks);
    if (!run) {
        lwp_profile_note(profile, "%srun.json is missing or damaged: command, host and machine are not known.", prefix);
        run = json_object();
    }
    const json_t *cpu = json_object_get(run, "cpu_s"), *wall = json_object_get(run, "wall_s");
    char *shown = lwp_utf8_clean(dir);
    json_array_append_new(profile->runs,
                          json_pack("{s:s,s:o,s:o}", "dir", shown ? shown : "", "cpu_s", cpu ? json_deep_copy(cpu) : json_null(), "wall_s",
                                    wall ? json_deep_copy(wall) : json_null()));
    free(shown);
    size_t i;
    json_t *note;
    json_array_foreach(json_object_get(run, "notes"), i, note)
        if (json_is_string(note))
            lwp_profile_note(profile, "%s", json_string_value(note));
    if (!profile->run) {
        profile->run = run;
        input_machine(run, &profile->machine);
        const json_t *machine = json_object_get(run, "machine");
        profile->tick_ns = lwp_json_natural(machine, "tick_ns");
        profile->start_ns = lwp_json_natural(machine, "start_ns");
        profile->page_fault_ns = lwp_json_natural(machine, "page_fault_ns");
        profile->cycle_ps = lwp_json_natural(machine, "cycle_ps");
        return;
    }
    input_add_run(profile, run);
    json_decref(run);
}

/* ---- folders ---- */

/* A folder p<PID>[.<n>] or a file t<TID>[.<n>].lwps. */
struct input_entry {
    const char *name;
    uint32_t id, again; /* again: n */
    uint32_t age;       /* what was made before has less */
    int32_t rank;
};

static int input_by_age(const void *a, const void *b)
{
    const struct input_entry *x = a, *y = b;
    return LWP_COMPARE(x->rank, y->rank) ?: LWP_COMPARE(x->age, y->age) ?: LWP_COMPARE(x->again, y->again) ?: strcmp(x->name, y->name);
}

/* What scandir() found, without ages; NULL: nothing. */
static struct input_entry *input_entries(struct lwp_arena *arena, struct dirent **found, int count)
{
    struct input_entry *entries = count > 0 ? lwp_arena_alloc(arena, (size_t)count, sizeof *entries) : NULL;
    for (int i = 0; i < count; i++) {
        char *end;
        const char *name = lwp_arena_strdup(arena, found[i]->d_name);
        entries[i] = (struct input_entry){.name = name, .id = (uint32_t)strtoul(name + 1, &end, 10), .rank = -1};
        entries[i].again = *end == '.' ? (uint32_t)strtoul(end + 1, NULL, 10) : 0;
        free(found[i]);
    }
    if (count >= 0)
        free(found);
    return entries;
}

static void input_process(struct lwp_profile *profile, struct lwp_inputs *inputs, const char *dir, const char *shown,
                          const struct input_entry *process)
{
    struct dirent **found = NULL;
    if (inputs->count >= PROCESSES_MAX)
        return;
    struct lwp_input *input = LWP_APPEND(&inputs->items, &inputs->count, &inputs->room,
                                         (struct lwp_input){.path = lwp_arena_printf(profile->arena, "%s/%s", dir, process->name),
                                                            .shown = shown, .pid = process->id,
                                                            .number = inputs->files, .rank = process->rank});
    int count = scandir(input->path, &found, input_thread_name, alphasort);
    struct input_entry *files = input_entries(profile->arena, found, count);
    /* The first thread has the number of the process; smaller ones were given after the greatest. */
    for (int i = 0; i < count; i++)
        files[i].age = files[i].id ? files[i].id - input->pid + 1 : 0;
    if (count > 0) {
        qsort(files, (size_t)count, sizeof *files, input_by_age);
        input->files = lwp_arena_alloc(profile->arena, (size_t)count, sizeof *input->files);
    }
    for (int i = 0; i < count; i++) {
        input->threads += files[i].id != 0;
        input->files[input->file_count++] = files[i].name;
    }
    inputs->files += 1 + (uint32_t)input->file_count;
}

static int input_stop(void *to, const struct lwps_file *file)
{
    *(struct lwps_file *)to = *file;
    return 1;
}

bool lwp_input_header(const char *path, struct lwps_file *file)
{
    static const struct lwps_visitor visitor = {.file = input_stop};
    struct lwp_error err;
    return lwps_read(path, &visitor, file, NULL, &err) == 1;
}

/* Whether x was opened before y. The exact engine tells the wall time only. */
static bool input_is_before(const struct lwps_file *x, const struct lwps_file *y)
{
    return x->start_ns != y->start_ns ? x->start_ns < y->start_ns : x->start_wall_ns < y->start_wall_ns;
}

/* When the first process of several began. */
static struct lwps_file input_began(const char *dir, const struct input_entry *entries, int count)
{
    struct lwps_file first = {.start_ns = UINT64_MAX, .start_wall_ns = UINT64_MAX};
    for (int i = 0; i < count; i++) {
        char path[4096];
        struct lwps_file file;
        if (snprintf(path, sizeof path, "%s/%s/process.lwps", dir, entries[i].name) < (int)sizeof path
            && lwp_input_header(path, &file) && input_is_before(&file, &first))
            first = file;
    }
    return first;
}

/* Process ids ascend, and after the greatest come small ones that are free: those beyond a wide gap are older if they began first.
 * (Who began first says nothing where there is no such gap: two that are made together begin in any order.) `entries` of one rank. */
static void input_rotate(const char *dir, struct input_entry *entries, int count)
{
    int gap = 0;
    for (int i = 1; i < count; i++)
        if (!gap || entries[i].id - entries[i - 1].id > entries[gap].id - entries[gap - 1].id)
            gap = i;
    if (!gap || entries[gap].id - entries[gap - 1].id <= entries[count - 1].id / 2)
        return;
    const struct lwps_file low = input_began(dir, entries, gap), high = input_began(dir, entries + gap, count - gap);
    uint32_t first = input_is_before(&high, &low) ? entries[gap].id : 0;
    for (int i = 0; i < count; i++)
        entries[i].age = entries[i].id - first;
    qsort(entries, (size_t)count, sizeof *entries, input_by_age);
}

/* Returns how many processes there are in it, or -1. */
static int input_folder(struct lwp_profile *profile, struct lwp_inputs *inputs, const char *dir, const char *prefix, const json_t *ranks,
                        int32_t rank)
{
    struct dirent **found = NULL;
    int count = scandir(dir, &found, input_process_name, alphasort), last;
    struct input_entry *entries = input_entries(profile->arena, found, count);
    for (int i = 0; i < count; i++) {
        const json_t *known = json_object_get(ranks, entries[i].name);
        entries[i].age = entries[i].id;
        entries[i].rank = json_is_integer(known) ? (int32_t)json_integer_value(known) : rank;
    }
    if (count > 0)
        qsort(entries, (size_t)count, sizeof *entries, input_by_age);
    for (int i = 0; i < count; i = last) {
        for (last = i + 1; last < count && entries[last].rank == entries[i].rank;)
            last++;
        input_rotate(dir, entries + i, last - i);
    }
    for (int i = 0; i < count; i++)
        input_process(profile, inputs, dir, lwp_arena_printf(profile->arena, "%s%s", prefix, entries[i].name), &entries[i]);
    return count;
}

/* How the processes of one folder ended, as far as that is known. An image that exec replaces closes no files. */
static void input_ends(const struct lwp_profile *profile, struct lwp_inputs *inputs, size_t first)
{
    const json_t *end = json_array_size(profile->runs) == 1 ? json_object_get(profile->run, "exit") : NULL;
    bool normal = json_is_integer(json_object_get(end, "code")) && !json_is_integer(json_object_get(end, "signal"));
    struct lwp_map images = {0}; /* a process -> the first image seen of it */
    for (size_t i = first; i < inputs->count; i++) {
        struct lwp_input *input = &inputs->items[i];
        uint32_t *known = lwp_map_at(&images, lwp_hash_mix(input->pid, (uint32_t)input->rank));
        if (*known == LWP_MAP_NONE)
            *known = (uint32_t)i;
        else
            input->replaced = inputs->items[*known].replaced = true;
    }
    for (size_t i = first; i < inputs->count; i++)
        inputs->items[i].ended = normal && images.count == 1;
    lwp_map_fini(&images);
}

static int input_directory(struct lwp_profile *profile, struct lwp_inputs *inputs, const char *dir, bool several, struct lwp_error *err)
{
    struct dirent **entries = NULL;
    json_t *ranks = json_object();
    const char *prefix = several ? lwp_arena_printf(profile->arena, "%s/", dir) : "";
    int status = LWP_OK, count = scandir(dir, &entries, input_rank_name, versionsort);
    if (count < 0) {
        if (errno == ENOENT)
            status = lwp_error_set(err, LWP_ERR_MISSING, "there is no '%s'; name a folder that 'lwp collect' has written", dir);
        else if (errno == ENOTDIR)
            status = lwp_error_set(err, LWP_ERR_USAGE, "'%s' is a file; name the folder that 'lwp collect' has written", dir);
        else
            status = lwp_error_errno(err, "cannot read the folder '%s'", dir);
        goto out;
    }
    size_t before = inputs->count;
    input_run(profile, dir, prefix, ranks);
    input_folder(profile, inputs, dir, prefix, ranks, -1);
    for (int i = 0; i < count; i++) {
        char path[4096];
        if (snprintf(path, sizeof path, "%s/%s", dir, entries[i]->d_name) < (int)sizeof path)
            input_folder(profile, inputs, path, lwp_arena_printf(profile->arena, "%s%s/", prefix, entries[i]->d_name), NULL,
                         (int)strtol(entries[i]->d_name + 1, NULL, 10));
        free(entries[i]);
    }
    free(entries);
    input_ends(profile, inputs, before);
    if (inputs->count == before)
        status = lwp_error_set(err, LWP_ERR_MISSING, "'%s' holds no recorded process; record one with: lwp collect -o DIR -- PROGRAM", dir);
out:
    json_decref(ranks);
    return status;
}

int lwp_inputs_find(struct lwp_profile *profile, const char *const *dirs, size_t count, struct lwp_inputs *inputs, struct lwp_error *err)
{
    int status = LWP_OK;
    profile->runs = json_array();
    for (size_t i = 0; i < count && !status; i++)
        status = input_directory(profile, inputs, dirs[i], count > 1, err);
    return status;
}

void lwp_inputs_free(struct lwp_inputs *inputs)
{
    free(inputs->items);
    *inputs = (struct lwp_inputs){0};
}
