/* locate -> frames -> charge -> walk ahead -> homes. An address that is not certain is not reported. */
#include "collector/outside/process/interpreter.h"

#include "base/arena.h"
#include "base/random.h"
#include "collector/code/charge.h"

#include <asm/perf_regs.h>
#include <stdlib.h>
#include <string.h>

enum { RED_ZONE = 128, RSP = 4, LINKS_OF = 4 /* samples */ };

struct lwp_interpreter *lwp_interpreter_new(pid_t pid)
{
    struct lwp_interpreter *interpreter = lwp_zeroed(1, sizeof *interpreter);
    lwp_remote_init(&interpreter->remote, pid);
    interpreter->random = (uint32_t)pid * 2654435761u | 1;
    interpreter->cache = lwp_code_cache_new(&interpreter->remote.program);
    interpreter->unwinder = lwp_unwinder_new(&interpreter->remote);
    if (interpreter->cache && lwp_insn_init())
        return interpreter;
    lwp_interpreter_free(interpreter);
    return NULL;
}

void lwp_interpreter_free(struct lwp_interpreter *interpreter)
{
    if (!interpreter)
        return;
    lwp_unwinder_free(interpreter->unwinder);
    lwp_code_cache_free(interpreter->cache);
    lwp_remote_fini(&interpreter->remote);
    free(interpreter);
}

void lwp_interpreter_forget(struct lwp_interpreter *interpreter)
{
    lwp_unwinder_forget(interpreter->unwinder);
    lwp_code_cache_forget(interpreter->cache);
}

static void interpret_registers(const struct perf_event_attr *attr, const struct lwp_perf_sample *from, uint64_t thread_base,
                                struct lwp_registers *registers)
{
    static const uint8_t number_of[16] = {PERF_REG_X86_AX,  PERF_REG_X86_CX,  PERF_REG_X86_DX,  PERF_REG_X86_BX,
                                          PERF_REG_X86_SP,  PERF_REG_X86_BP,  PERF_REG_X86_SI,  PERF_REG_X86_DI,
                                          PERF_REG_X86_R8,  PERF_REG_X86_R9,  PERF_REG_X86_R10, PERF_REG_X86_R11,
                                          PERF_REG_X86_R12, PERF_REG_X86_R13, PERF_REG_X86_R14, PERF_REG_X86_R15};
    *registers = (struct lwp_registers){.fs_base = thread_base, .fs_known = thread_base != 0};
    for (unsigned i = 0; i < 16; i++) {
        registers->value[i] = lwp_perf_register(attr, from, number_of[i]);
        if (attr->sample_regs_user >> number_of[i] & 1)
            registers->known = (uint16_t)(registers->known | 1u << i);
    }
}

/* ---- whose memory ---- */

/* The end of the stack that the thread is on: of the main thread's, or where glibc has put the control block of a thread that it made a
 * stack for. Elsewhere a stack is known as far as its frames are. */
static uint64_t stack_end(const struct lwp_remote *remote, uint64_t thread_base, const struct lwp_remote_frames *frames)
{
    const struct lwp_mapping *mapping = lwp_mappings_at(&remote->mappings, frames->sp);
    if (mapping && strncmp(mapping->path, "[stack", 6) == 0)
        return mapping->end;
    if (mapping && thread_base > frames->sp && thread_base < mapping->end)
        return thread_base;
    return frames->count ? frames->cfas[frames->count - 1] : frames->sp;
}

/* The frame and its callers. Which variables the innermost one has depends on where the access is: the thread may have left a scope. */
static uint32_t home_context(struct lwp_remote *remote, struct lwps_paths *paths, struct lwp_remote_frames *frames, unsigned frame,
                             uint64_t ip)
{
    uint64_t interrupted = frames->ips[0];
    if (frame == 0 && lwp_remote_function_start(remote, ip) == lwp_remote_function_start(remote, interrupted))
        frames->ips[0] = ip;
    uint32_t context = lwps_paths_intern(paths, &frames->ips[frame], frames->count + 1 - frame);
    frames->ips[0] = interrupted;
    return context;
}

static void interpret_home(struct lwp_remote *remote, uint64_t thread_base, struct lwps_paths *paths, struct lwp_remote_frames *frames,
                           struct lwps_access *access)
{
    enum { TO_COME = 4096 };
    uint64_t end = stack_end(remote, thread_base, frames);
    if (access->address + TO_COME < frames->sp || access->address >= end)
        return;
    access->home = LWPS_HOME_STACK;
    access->home_base = access->address;
    if (access->address + RED_ZONE < frames->sp) /* a frame to come */
        return;
    for (unsigned i = 0; i < frames->count; i++) {
        if (access->address >= frames->cfas[i] || frames->cfas[i] > end)
            continue;
        access->home_id = home_context(remote, paths, frames, i, access->ip);
        access->home_base = frames->cfas[i];
        return;
    }
}

/* ---- the path ---- */

static struct lwp_remote *interpret_of; /* whose paths are interned */

static uint64_t interpret_function(uint64_t ip)
{
    return lwp_remote_function_start(interpret_of, ip);
}

static void interpret_found(struct lwps_access *access, uint64_t address, enum lwps_source source)
{
    access->address = address;
    access->flags |= LWPS_ACCESS_KNOWN;
    access->source = (uint8_t)source;
}

static void interpret_keep(struct lwps_sample *sample, const struct lwp_insn_access *kept, enum lwps_source source)
{
    struct lwps_access *access = &sample->access[sample->access_count++];
    *access = lwp_access_record(kept);
    interpret_found(access, kept->address, source);
}

/* Where a chain goes: the same way as `sure`, and on from where memory would have to be read, which is as it is now. Some samples tell. */
static void interpret_links(struct lwp_interpreter *interpreter, const struct lwp_point *point, const struct lwp_forward_walk *sure,
                            struct lwps_sample *sample)
{
    struct lwp_forward_walk links = {.skip = sure->skip};
    if (sure->kept_count == LWP_WALK_KEEP || interpreter->remote.past || lwp_random_below(&interpreter->random, LINKS_OF))
        return;
    interpreter->remote.follows_links = true;
    lwp_walk_forward(interpreter->cache, &point->location, &point->registers, point->flags, &links, &interpreter->random);
    interpreter->remote.follows_links = false;
    for (unsigned i = sure->short_of_skip ? 0 : sure->kept_count; !links.short_of_skip && i < links.kept_count; i++)
        interpret_keep(sample, &links.kept[i], LWPS_SOURCE_LINKS);
}

static void interpret_ahead(struct lwp_interpreter *interpreter, const struct lwp_point *point, uint64_t wanted, struct lwps_sample *sample)
{
    struct lwp_forward_walk ahead = {.wanted = wanted};
    if (point->insn.rep_string)
        return;
    ahead.skip = lwp_random_below(&interpreter->random, LWP_DITHER_MOST);
    lwp_walk_forward(interpreter->cache, &point->location, &point->registers, point->flags, &ahead, &interpreter->random);
    if (wanted && ahead.found)
        interpret_found(&sample->access[0], ahead.found_address, LWPS_SOURCE_FORWARD);
    for (unsigned i = 0; i < ahead.kept_count; i++)
        interpret_keep(sample, &ahead.kept[i], LWPS_SOURCE_DITHERED);
    interpret_links(interpreter, point, &ahead, sample);
}

bool lwp_interpret(struct lwp_interpreter *interpreter, const struct perf_event_attr *attr, const struct lwp_perf_sample *from,
                   uint64_t thread_base, struct lwps_paths *paths, struct lwps_sample *sample)
{
    struct lwp_remote *remote = interpret_of = &interpreter->remote;
    struct lwp_remote_frames frames;
    struct lwp_point point;
    interpret_registers(attr, from, thread_base, &point.registers);
    point.flags = lwp_perf_register(attr, from, PERF_REG_X86_FLAGS);
    remote->stack = from->stack;
    remote->stack_start = point.registers.value[RSP];
    remote->stack_bytes = from->stack_bytes;
    paths->function = interpret_function;
    *sample = (struct lwps_sample){.time = from->time, .weight = from->period, .ip = from->ip};
    bool decoded = lwp_point_find(interpreter->cache, from->ip, &point), known = false;
    lwp_unwinder_frames(interpreter->unwinder, from->ip, &point.registers, &frames);
    sample->context = lwps_paths_intern(paths, frames.ips + 1, frames.count);
    if (decoded)
        interpret_ahead(interpreter, &point, lwp_point_charge(interpreter->cache, &point, sample), sample);
    for (unsigned i = 0; i < sample->access_count; i++)
        if (sample->access[i].flags & LWPS_ACCESS_KNOWN) {
            interpret_home(remote, thread_base, paths, &frames, &sample->access[i]);
            known |= sample->access[i].source != LWPS_SOURCE_LINKS;
        }
    remote->stack = NULL;
    return known;
}
