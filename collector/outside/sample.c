/* locate -> frames -> charge -> walk ahead -> homes -> write. An address that is not certain is not reported. */
#include "collector/outside/sample.h"

#include "base/random.h"
#include "collector/code/charge.h"
#include "collector/outside/thread_base.h"

#include <asm/perf_regs.h>
#include <string.h>

enum { RED_ZONE = 128, REFRESH_NS = 100000000 };

/* ---- locate ---- */

static void sample_registers(struct lwp_followed *followed, struct lwp_followed_thread *thread, const struct perf_event_attr *attr,
                             const struct lwp_perf_sample *from, struct lwp_registers *registers)
{
    static const uint8_t number_of[16] = {PERF_REG_X86_AX, PERF_REG_X86_CX, PERF_REG_X86_DX,  PERF_REG_X86_BX,  PERF_REG_X86_SP, PERF_REG_X86_BP,
                                          PERF_REG_X86_SI, PERF_REG_X86_DI, PERF_REG_X86_R8,  PERF_REG_X86_R9,  PERF_REG_X86_R10, PERF_REG_X86_R11,
                                          PERF_REG_X86_R12, PERF_REG_X86_R13, PERF_REG_X86_R14, PERF_REG_X86_R15};
    *registers = (struct lwp_registers){0};
    for (unsigned i = 0; i < 16; i++) {
        registers->value[i] = lwp_perf_register(attr, from, number_of[i]);
        if (attr->sample_regs_user >> number_of[i] & 1)
            registers->known = (uint16_t)(registers->known | 1u << i);
    }
    if (!thread->base_known) {
        thread->base = lwp_thread_base(&followed->remote, thread->tid);
        thread->base_known = true;
    }
    registers->fs_base = thread->base;
    registers->fs_known = thread->base != 0;
}

/* A library that was loaded meanwhile, or memory that was mapped. */
static void sample_see(struct lwp_followed *followed, uint64_t ip, uint64_t time)
{
    bool known = lwp_mappings_at(&followed->remote.mappings, ip) != NULL;
    if (followed->stale || (!known && time > followed->refreshed_ns + REFRESH_NS))
        lwp_followed_refresh(followed, time);
}

/* ---- whose memory ---- */

/* The end of the stack that the thread is on. glibc puts a thread's control block at the end of the stack it made for it. */
static uint64_t stack_end(const struct lwp_followed *followed, const struct lwp_followed_thread *thread, uint64_t sp)
{
    const struct lwp_mapping *mapping = lwp_mappings_at(&followed->remote.mappings, sp);
    if (!mapping || !mapping->write)
        return 0;
    return thread->base > sp && thread->base < mapping->end ? thread->base : mapping->end;
}

/* Whether all of it up to `end` is a stack for sure: the main thread's, or one that ends with a control block; else as far as its
 * frames are known. */
static bool stack_is_whole(const struct lwp_followed *followed, const struct lwp_followed_thread *thread, uint64_t sp, uint64_t end)
{
    const struct lwp_mapping *mapping = lwp_mappings_at(&followed->remote.mappings, sp);
    return end == thread->base || (mapping && strncmp(mapping->path, "[stack", 6) == 0);
}

static void sample_home(struct lwp_followed *followed, struct lwp_followed_thread *thread, const struct lwp_remote_frames *frames,
                        struct lwps_access *access)
{
    enum { TO_COME = 4096 };
    uint64_t end = stack_end(followed, thread, frames->sp);
    if (!end || access->address + TO_COME < frames->sp || access->address >= end)
        return;
    uint64_t top = frames->count ? frames->cfas[frames->count - 1] : frames->sp;
    if (!stack_is_whole(followed, thread, frames->sp, end) && access->address >= top)
        return;
    access->home = LWPS_HOME_STACK;
    access->home_base = access->address;
    if (access->address + RED_ZONE < frames->sp) /* a frame to come */
        return;
    for (unsigned i = 0; i < frames->count; i++) {
        if (access->address >= frames->cfas[i] || frames->cfas[i] > end)
            continue;
        access->home_id = lwps_paths_intern(&thread->paths, &frames->ips[i], frames->count + 1 - i);
        access->home_base = frames->cfas[i];
        return;
    }
}

/* ---- the path ---- */

static struct lwp_remote *sample_of; /* whose paths are interned */

static uint64_t sample_function(uint64_t ip)
{
    return lwp_remote_function_start(sample_of, ip);
}

static void sample_look_ahead(struct lwp_followed *followed, const struct lwp_point *point, uint64_t wanted, struct lwps_sample *sample)
{
    struct lwp_forward_walk ahead = {.wanted = wanted};
    if (point->insn.rep_string)
        return;
    ahead.skip = lwp_random_below(&followed->random, LWP_DITHER_MOST);
    lwp_walk_forward(followed->cache, &point->location, &point->registers, point->flags, &ahead, &followed->random);
    if (wanted && ahead.found) {
        sample->access[0].address = ahead.found_address;
        sample->access[0].flags |= LWPS_ACCESS_KNOWN;
        sample->access[0].source = LWPS_SOURCE_FORWARD;
    }
    for (unsigned i = 0; i < ahead.kept_count; i++) {
        struct lwps_access *access = &sample->access[sample->access_count++];
        *access = lwp_access_record(&ahead.kept[i]);
        access->address = ahead.kept[i].address;
        access->flags |= LWPS_ACCESS_KNOWN;
        access->source = LWPS_SOURCE_DITHERED;
    }
}

void lwp_outside_sample(struct lwp_followed *followed, const struct perf_event_attr *attr, const struct lwp_perf_sample *from)
{
    struct lwp_followed_thread *thread = lwp_followed_thread(followed, (pid_t)from->tid, from->time);
    struct lwps_sample sample = {.time = from->time, .weight = from->period, .ip = from->ip};
    struct lwp_remote_frames frames;
    struct lwp_point point;
    if (!thread || !from->registers) {
        followed->lost++;
        return;
    }
    sample_see(followed, from->ip, from->time);
    sample_registers(followed, thread, attr, from, &point.registers);
    point.flags = lwp_perf_register(attr, from, PERF_REG_X86_FLAGS);
    struct lwp_remote *remote = sample_of = &followed->remote;
    remote->stack = from->stack;
    remote->stack_start = point.registers.value[4];
    remote->stack_bytes = from->stack_bytes;
    thread->paths.function = sample_function;
    bool decoded = lwp_point_find(followed->cache, from->ip, &point);
    lwp_unwinder_frames(followed->unwinder, from->ip, &point.registers, &frames);
    sample.context = lwps_paths_intern(&thread->paths, frames.ips + 1, frames.count);
    uint64_t wanted = decoded ? lwp_point_charge(followed->cache, &point, &sample) : 0;
    if (decoded)
        sample_look_ahead(followed, &point, wanted, &sample);
    bool known = false;
    for (unsigned i = 0; i < sample.access_count; i++)
        if (sample.access[i].flags & LWPS_ACCESS_KNOWN) {
            sample_see(followed, sample.access[i].address, from->time);
            sample_home(followed, thread, &frames, &sample.access[i]);
            known = true;
        }
    remote->stack = NULL;
    if (lwps_put_sample(&thread->file, &sample)) {
        followed->lost++;
        return;
    }
    followed->samples++;
    followed->weight_ns += from->period;
    followed->with_address += known;
}
