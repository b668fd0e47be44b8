/* One process: the modules, blocks and pools of its process.lwps, and what it says of itself. */
#include "analysis/load/load_internal.h"

#include <stdio.h>
#include <string.h>

/* What a visitor of process.lwps is given. */
struct load_visit {
    struct load *load;
    struct load_process *process;
    struct lwps_file file;
    uint32_t notes;
};

static int load_process_file(void *to, const struct lwps_file *file)
{
    struct load_visit *visit = to;
    visit->file = *file;
    lwp_address_map_start(visit->process->map, file->start_ns);
    return 0;
}

static int load_process_record(void *to, const struct lwps_process *record)
{
    struct load_visit *visit = to;
    struct lwp_profile *profile = visit->load->profile;
    size_t size = record->command_bytes;
    pthread_mutex_lock(&profile->lock);
    char *command = lwp_arena_alloc(profile->arena, size + 1, 1);
    pthread_mutex_unlock(&profile->lock);
    memcpy(command, record->command, size);
    while (size && command[size - 1] == '\0')
        size--;
    for (size_t i = 0; i < size; i++)
        if (command[i] == '\0')
            command[i] = ' ';
    visit->process->summary->command = command;
    visit->process->summary->pid = record->pid;
    return 0;
}

#define LOAD_INTO_MAP(record)                                                                                                              \
    static int load_##record(void *to, const struct lwps_##record *of)                                                                     \
    {                                                                                                                                      \
        lwp_address_map_##record(((struct load_visit *)to)->process->map, of);                                                             \
        return 0;                                                                                                                          \
    }

LOAD_INTO_MAP(module)
LOAD_INTO_MAP(module_end)
LOAD_INTO_MAP(context)
LOAD_INTO_MAP(pool)
LOAD_INTO_MAP(pool_count)
LOAD_INTO_MAP(block)
LOAD_INTO_MAP(block_end)

static int load_totals(void *to, const struct lwps_totals *record)
{
    struct load_process *process = ((struct load_visit *)to)->process;
    process->totals = *record;
    process->has_totals = true;
    lwp_address_map_left_out(process->map, record->allocations, record->allocations_unrecorded);
    return 0;
}

static int load_note_record(void *to, const struct lwps_note *record)
{
    struct load_visit *visit = to;
    if (visit->notes < LOAD_NOTES_KEPT)
        load_note(&visit->load->notes, visit->process->input->number, visit->notes++, "%s", record->text);
    return 0;
}

static const struct lwps_visitor process_visitor = {.file = load_process_file, .process = load_process_record,
                                                    .module = load_module, .module_end = load_module_end,
                                                    .context = load_context, .pool = load_pool,
                                                    .pool_count = load_pool_count, .block = load_block,
                                                    .block_end = load_block_end, .totals = load_totals,
                                                    .note = load_note_record};

void load_open(struct load *load, size_t index, struct lwp_resolver *resolver)
{
    struct load_process *process = &load->processes[index];
    struct load_visit visit = {.load = load, .process = process};
    char path[4096], shown[LOAD_PATH_TEXT];
    struct lwps_damage damage = {0};
    struct lwp_error err = {0};
    process->map = lwp_address_map_new(load->profile, (uint32_t)index);
    snprintf(path, sizeof path, "%s/process.lwps", process->input->path);
    snprintf(shown, sizeof shown, "%s/process.lwps", process->input->shown);
    if (lwps_read(path, &process_visitor, &visit, &damage, &err))
        load_note(&load->notes, process->input->number, LOAD_NOTES_KEPT, "Not used: %s", err.text);
    load_note_damage(&load->notes, process->input->number, process->input, shown, &damage);
    process->lost = visit.file.lost_records;
    if (lwp_address_map_refused(process->map))
        load_note(&load->notes, process->input->number, LOAD_NOTES_KEPT, "%s: %llu modules and heap blocks are too many and were left out.",
                  shown, (unsigned long long)lwp_address_map_refused(process->map));

    lwp_address_map_jit(process->map, process->input->path);
    pthread_mutex_lock(&load->lock);
    while (load->modules != index)
        pthread_cond_wait(&load->changed, &load->lock);
    pthread_mutex_unlock(&load->lock);
    lwp_address_map_modules(process->map);
    pthread_mutex_lock(&load->lock);
    load->modules++;
    pthread_cond_broadcast(&load->changed);
    pthread_mutex_unlock(&load->lock);
    lwp_address_map_objects(process->map, resolver);
}
