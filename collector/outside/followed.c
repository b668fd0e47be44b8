#include "collector/outside/followed.h"

#include "base/arena.h"
#include "base/clock.h"
#include "collector/outside/process/jit_files.h"
#include "collector/outside/process/tasks.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { PAGE = LWP_REMOTE_PAGE, COMMAND_BYTES = 4096 };

static struct lwps_file followed_head(const struct lwp_followed *followed, uint32_t tid)
{
    return (struct lwps_file){.engine = LWPS_ENGINE_TIMER,
                              .weight_unit = LWPS_WEIGHT_NS,
                              .pid = (uint32_t)followed->pid,
                              .tid = tid,
                              .start_ns = lwp_clock(CLOCK_MONOTONIC),
                              .start_wall_ns = lwp_clock(CLOCK_REALTIME)};
}

/* ---- what is mapped ---- */

static void put_module(struct lwp_followed *followed, size_t index, uint64_t time)
{
    const struct lwp_remote_module *module = &followed->interpreter->remote.modules[index];
    struct lwps_module record = {.id = (uint32_t)index + 1,
                                 .time = time,
                                 .start = module->image.start,
                                 .end = module->image.end,
                                 .bias = module->image.bias,
                                 .build_id_bytes = module->image.build_id_bytes,
                                 .path = module->path};
    memcpy(record.build_id, module->image.build_id, sizeof record.build_id);
    lwps_put_module(&followed->file, &record);
}

static void put_modules(struct lwp_followed *followed, uint64_t since, uint64_t time)
{
    struct lwp_remote *remote = &followed->interpreter->remote;
    bool gone = false;
    followed->modules_ended = lwp_allocated(realloc(followed->modules_ended, remote->module_count + 1));
    for (size_t i = 0; i < followed->modules_written; i++)
        if (remote->modules[i].gone && !followed->modules_ended[i]) {
            lwps_put_module_end(&followed->file, &(struct lwps_module_end){.id = (uint32_t)i + 1, .time = time});
            followed->modules_ended[i] = gone = true;
        }
    for (; followed->modules_written < remote->module_count; followed->modules_written++) {
        put_module(followed, followed->modules_written, since);
        followed->modules_ended[followed->modules_written] = false;
    }
    if (!gone)
        return;
    lwp_interpreter_forget(followed->interpreter);
}

/* Anonymous memory that the kernel has in several pieces, as after madvise, is one mapping. Returns how many. */
static size_t mapping_pieces(const struct lwp_mappings *mappings, size_t index, struct lwp_mapping *whole)
{
    size_t next = index + 1;
    *whole = mappings->items[index];
    while (!whole->path[0] && next < mappings->count && mappings->items[next].start == whole->end && !mappings->items[next].path[0] &&
           mappings->items[next].read && mappings->items[next].write && !mappings->items[next].execute)
        whole->end = mappings->items[next++].end;
    return next - index;
}

/* The heap of brk(); glibc's arenas for threads, 64 MiB, aligned, of which a part at the end is not used yet; Go's, where its runtime asks
 * for memory first. */
static bool mapping_is_heap(const struct lwp_mappings *mappings, const struct lwp_mapping *mapping, size_t next)
{
    enum { ARENA = 64 << 20, GO_ARENAS = 0xc0 };
    if (mapping->path[0])
        return strncmp(mapping->path, "[heap]", 6) == 0 || strncmp(mapping->path, "[anon: Go: heap", 15) == 0;
    if (mapping->start >> 32 == GO_ARENAS)
        return true;
    const struct lwp_mapping *rest = next < mappings->count ? &mappings->items[next] : NULL;
    bool reserved = rest && rest->start == mapping->end && !rest->read && !rest->path[0] && rest->end == mapping->start + ARENA;
    return mapping->start % ARENA == 0 && (reserved || mapping->end == mapping->start + ARENA);
}

static bool mapping_is_data(struct lwp_followed *followed, const struct lwp_mapping *mapping)
{
    if (!mapping->read || mapping->execute ||
        (mapping->path[0] == '[' && strncmp(mapping->path, "[heap]", 6) && strncmp(mapping->path, "[anon", 5)))
        return false;
    const struct lwp_remote_module *module = lwp_remote_module_at(&followed->interpreter->remote, mapping->start);
    if (module && mapping->end <= ((module->image.end + PAGE - 1) & ~(uint64_t)(PAGE - 1)))
        return false; /* a part of the image, its .bss among them */
    return mapping->write || mapping->file;
}

static void put_block(struct lwp_followed *followed, const struct lwp_mapping *mapping, bool heap, uint64_t time)
{
    /* where it was mapped is not known: its address stands for that, so that each is an object of its own */
    uint32_t context = heap ? 0 : lwps_paths_intern(&followed->paths, &mapping->start, 1);
    struct lwp_followed_block block = {mapping->start, mapping->end, ++followed->next_block};
    lwps_put_block(&followed->file, &(struct lwps_block){.id = block.id,
                                                         .kind = heap ? LWPS_BLOCK_HEAP : LWPS_BLOCK_MMAP,
                                                         .context = context,
                                                         .time = time,
                                                         .address = block.start,
                                                         .size = block.end - block.start});
    LWP_PUSH(followed->block, block);
}

static int block_order(const void *a, const void *b)
{
    const struct lwp_followed_block *x = a, *y = b;
    return (x->start > y->start) - (x->start < y->start);
}

/* Between `since` and `time` they were mapped. */
static void put_blocks(struct lwp_followed *followed, uint64_t since, uint64_t time)
{
    const struct lwp_mappings *mappings = &followed->interpreter->remote.mappings;
    size_t known = followed->block_count, kept = 0;
    bool *seen = lwp_zeroed(known + 1, sizeof *seen);
    for (size_t i = 0, pieces; i < mappings->count; i += pieces) {
        struct lwp_mapping mapping = mappings->items[i];
        pieces = 1;
        if (!mapping_is_data(followed, &mapping))
            continue;
        pieces = mapping_pieces(mappings, i, &mapping);
        const struct lwp_followed_block key = {.start = mapping.start},
                                        *found = bsearch(&key, followed->blocks, known, sizeof key, block_order);
        if (found && found->end == mapping.end)
            seen[found - followed->blocks] = true;
        else
            put_block(followed, &mapping, mapping_is_heap(mappings, &mapping, i + pieces), found ? time : since);
    }
    for (size_t i = 0; i < followed->block_count; i++) {
        if (i < known && !seen[i])
            lwps_put_block_end(&followed->file, &(struct lwps_block_end){.id = followed->blocks[i].id, .time = time});
        else
            followed->blocks[kept++] = followed->blocks[i];
    }
    followed->block_count = kept;
    qsort(followed->blocks, kept, sizeof *followed->blocks, block_order);
    free(seen);
}

/* ---- the process ---- */

static void followed_cpu_time(struct lwp_followed *followed)
{
    char text[LWP_TASKS_STAT];
    uint64_t user, system;
    const char *stat = lwp_tasks_stat(followed->pid, text);
    if (!stat || sscanf(stat, " %*c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %" SCNu64 " %" SCNu64, &user, &system) != 2)
        return;
    uint64_t tick_ns = 1000000000u / (uint64_t)sysconf(_SC_CLK_TCK);
    followed->user_ns = user * tick_ns;
    followed->system_ns = system * tick_ns;
}

static void followed_look(struct lwp_followed *followed, const struct lwp_mappings *recorded, uint64_t time)
{
    uint64_t since = followed->refreshed_ns ? followed->refreshed_ns : time;
    followed->refreshed_ns = time;
    followed->stale = false;
    followed_cpu_time(followed);
    if (!lwp_remote_refresh(&followed->interpreter->remote, recorded))
        return;
    put_modules(followed, since, time);
    put_blocks(followed, since, time);
}

void lwp_followed_refresh(struct lwp_followed *followed, uint64_t time)
{
    uint64_t begun = lwp_clock(CLOCK_MONOTONIC);
    followed_look(followed, NULL, time);
    followed->refresh_took_ns = lwp_clock(CLOCK_MONOTONIC) - begun;
}

/* The process's own calls of mmap() wait for it. */
bool lwp_followed_is_old(const struct lwp_followed *followed, uint64_t time)
{
    static const uint64_t least_ns = 1000000000, times = 200;
    uint64_t between = followed->refresh_took_ns * times;
    return time > followed->refreshed_ns + (between > least_ns ? between : least_ns);
}

static void put_process(struct lwp_followed *followed, uint64_t time)
{
    char path[32], command[COMMAND_BYTES];
    pid_t living = lwp_tasks_living(followed->pid);
    snprintf(path, sizeof path, "/proc/%d/cmdline", (int)(living ? living : followed->pid));
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd >= 0 ? read(fd, command, sizeof command - 1) : 0;
    if (fd >= 0)
        close(fd);
    got = got > 0 ? got : 0;
    command[got] = '\0';
    lwps_put_process(&followed->file, &(struct lwps_process){.pid = (uint32_t)followed->pid,
                                                             .parent_pid = (uint32_t)lwp_tasks_number(followed->pid, "PPid"),
                                                             .time = time,
                                                             .command = command,
                                                             .command_bytes = (uint32_t)got + (got && command[got - 1])});
}

struct lwp_followed *lwp_followed_new(const char *dir, pid_t pid, const struct lwp_mappings *recorded, bool born, struct lwp_error *err)
{
    struct lwp_followed *followed = lwp_zeroed(1, sizeof *followed);
    uint64_t time = lwp_clock(CLOCK_MONOTONIC);
    followed->pid = pid;
    followed->interpreter = lwp_interpreter_new(pid);
    const struct lwps_file head = followed_head(followed, 0);
    if (!followed->interpreter)
        lwp_error_set(err, LWP_ERR_MEMORY, "out of memory");
    else if (!(followed->folder = lwp_thread_files_folder(dir, pid)))
        lwp_error_errno(err, "cannot make a folder in %s", dir);
    else if (!lwp_thread_files_open(&followed->file, followed->folder, "process.lwps", &head))
        lwp_error_errno(err, "cannot write %s/process.lwps", followed->folder);
    if (!followed->file.header) {
        lwp_followed_close(followed, time, 0);
        return NULL;
    }
    followed->paths.file = &followed->file;
    followed->looked_ns = time;
    put_process(followed, time);
    followed_look(followed, recorded, time);
    followed->began = lwp_jit_files_process_began(pid);
    lwp_jit_files_keep(followed->folder, pid, followed->began);
    followed->user_first_ns = born ? 0 : followed->user_ns;
    followed->system_first_ns = born ? 0 : followed->system_ns;
    return followed;
}

void lwp_followed_note(struct lwp_followed *followed, const char *text)
{
    lwps_put_note(&followed->file, &(struct lwps_note){.text = text});
}

/* ---- threads ---- */

static void thread_put(struct lwp_followed *followed, struct lwp_thread_file *thread, uint64_t time)
{
    char path[64], name[64] = "";
    snprintf(path, sizeof path, "/proc/%d/task/%d/comm", (int)followed->pid, (int)thread->tid);
    FILE *comm = fopen(path, "re");
    if (comm && fgets(name, sizeof name, comm))
        name[strcspn(name, "\n")] = '\0';
    if (comm)
        fclose(comm);
    lwps_put_thread(&thread->file, &(struct lwps_thread){.tid = (uint32_t)thread->tid, .time = time, .name = name});
}

struct lwp_thread_file *lwp_followed_thread(struct lwp_followed *followed, pid_t tid, uint64_t time)
{
    const struct lwps_file head = followed_head(followed, (uint32_t)tid);
    bool fresh;
    struct lwp_thread_file *thread = lwp_thread_files_use(&followed->threads, (uint64_t)tid, followed->folder, &head, &fresh);
    if (fresh)
        thread_put(followed, thread, time);
    return thread;
}

void lwp_followed_thread_end(struct lwp_followed *followed, pid_t tid, uint64_t time)
{
    followed->threads_ended++;
    struct lwp_thread_file *thread = lwp_thread_files_find(&followed->threads, (uint64_t)tid);
    if (!thread)
        return;
    if (thread->open)
        lwps_put_thread_end(&thread->file, &(struct lwps_thread_end){.time = time});
    lwp_thread_files_close(&followed->threads, thread);
    thread->base = thread->base_tries = 0; /* another one may get the number */
}

uint64_t lwp_followed_user_ns(const struct lwp_followed *followed)
{
    uint64_t seen =
        followed->user_ns - followed->user_first_ns; /* when it was last looked at; it may have ended long before the next look */
    return seen > followed->weight_ns ? seen : followed->weight_ns;
}

/* A thread's first sample comes a whole period after its begin: those that end sooner have none, and others less than their share. */
static void followed_note_unseen(struct lwp_followed *followed, size_t threads)
{
    enum { THREADS_MANY = 16 };
    static const uint64_t user_least_ns = 500000000;
    uint64_t user_ns = lwp_followed_user_ns(followed);
    double seen = (double)followed->weight_ns / (double)(user_ns ? user_ns : 1);
    char text[300];
    if (followed->marks || (threads < THREADS_MANY && followed->threads_ended < THREADS_MANY) || user_ns < user_least_ns || seen > .85)
        return;
    snprintf(text, sizeof text,
             "The samples stand for %.0f %% of the time that the process ran: from outside, the beginning of each thread is not seen, and "
             "many of its threads lived shortly. Sample more often (-F), or start the program with lwp collect.",
             seen * 100);
    lwp_followed_note(followed, text);
}

void lwp_followed_close(struct lwp_followed *followed, uint64_t time, uint64_t own_ns)
{
    size_t threads = followed->threads.thread_count;
    lwp_thread_files_free(&followed->threads);
    if (followed->file.header) {
        lwp_jit_files_keep(followed->folder, followed->pid, followed->began);
        followed_note_unseen(followed, threads);
        lwps_put_totals(&followed->file, &(struct lwps_totals){.time = time,
                                                               .user_ns = lwp_followed_user_ns(followed),
                                                               .system_ns = followed->system_ns - followed->system_first_ns,
                                                               .own_ns = own_ns,
                                                               .samples = followed->samples,
                                                               .samples_with_address = followed->with_address,
                                                               .samples_lost = followed->lost});
        lwps_paths_free(&followed->paths);
        lwps_writer_close(&followed->file);
    }
    lwp_interpreter_free(followed->interpreter);
    free(followed->blocks);
    free(followed->modules_ended);
    free(followed->folder);
    free(followed);
}
