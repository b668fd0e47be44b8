/* The macros of lwp.h are the same instructions for all requests, after the number of the request was stored into memory. Which one it
 * is is known only when it runs; but those of an allocator run often, and stopping there would cost much. So only places are taken
 * that are close behind the number of a mark in the code. */
#include "collector/outside/marks.h"

#include "base/arena.h"
#include "base/log.h"
#include "collector/lwp.h"
#include "collector/outside/process/tasks.h"
#include "collector/perf/probe.h"

#include <asm/perf_regs.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LWP_MARKS_MOST = 4 /* as many as a processor has debug registers */, PASSES_MOST = 100 };
enum { CHUNK_BYTES = 1 << 20, NEAR_BYTES = 160 };

static const uint8_t sequence[] = {0x48, 0xc1, 0xc7, 0x03, 0x48, 0xc1, 0xc7, 0x0d, 0x48, 0xc1,
                                   0xc7, 0x3d, 0x48, 0xc1, 0xc7, 0x33, 0x48, 0x87, 0xdb};

/* Whether the last request's number before it is a mark's. */
static bool marks_is_near(const uint8_t *code, size_t at)
{
    for (size_t back = sizeof(uint32_t); back <= at && back <= NEAR_BYTES; back++) {
        uint32_t number;
        memcpy(&number, code + at - back, sizeof number);
        if (number >= LWP_REQUEST_BEGIN && number <= LWP_REQUEST_FREE)
            return number <= LWP_REQUEST_END;
    }
    return false;
}

static size_t marks_search(const uint8_t *code, size_t bytes, size_t from, uint64_t address, size_t found, uint64_t *addresses)
{
    const uint8_t *at = code + from;
    while ((at = memmem(at, bytes - (size_t)(at - code), sequence, sizeof sequence))) {
        if (marks_is_near(code, (size_t)(at - code))) {
            if (found < LWP_MARKS_MOST)
                addresses[found] = address + (uint64_t)(at - code);
            found++;
        }
        at += sizeof sequence;
    }
    return found;
}

/* In pieces, each with the end of the one before. */
static size_t marks_in_file(int fd, const struct lwp_mapping *mapping, size_t found, uint64_t *addresses)
{
    uint8_t *code = lwp_zeroed(1, CHUNK_BYTES + NEAR_BYTES);
    size_t kept = 0;
    for (uint64_t at = 0; at < mapping->end - mapping->start;) {
        size_t wanted = mapping->end - mapping->start - at < CHUNK_BYTES ? mapping->end - mapping->start - at : CHUNK_BYTES;
        ssize_t got = pread(fd, code + kept, wanted, (off_t)(mapping->offset + at));
        if (got <= 0)
            break;
        size_t bytes = kept + (size_t)got;
        size_t from = kept > sizeof sequence ? kept - sizeof sequence + 1 : 0; /* what ends before was found then */
        found = marks_search(code, bytes, from, mapping->start + at - kept, found, addresses);
        at += (uint64_t)got;
        kept = bytes < NEAR_BYTES ? bytes : NEAR_BYTES;
        memmove(code, code + bytes - kept, kept);
    }
    free(code);
    return found;
}

/* Of more than LWP_MARKS_MOST only the number. */
static size_t marks_find(struct lwp_remote *remote, uint64_t addresses[LWP_MARKS_MOST])
{
    size_t found = 0;
    for (size_t i = 0; i < remote->mappings.count; i++) {
        const struct lwp_mapping *mapping = &remote->mappings.items[i];
        int fd = mapping->execute && mapping->file ? lwp_remote_open(remote, mapping->path) : -1;
        if (fd < 0)
            continue;
        found = marks_in_file(fd, mapping, found, addresses);
        close(fd);
    }
    return found;
}

/* Until no thread is new: those that are made later by threads with breakpoints inherit them. */
static int marks_open(struct lwp_events *events, struct lwp_remote *remote, pid_t pid, size_t *count, struct lwp_error *err)
{
    uint64_t addresses[LWP_MARKS_MOST];
    int why = 0;
    *count = marks_find(remote, addresses);
    if (*count > LWP_MARKS_MOST)
        return lwp_error_set(
            err, LWP_ERR_LIMIT,
            "collect: process %d has %zu places that say LWP_BEGIN() or LWP_END(), and a processor can watch %d: put them into "
            "functions of their own that are not inlined",
            (int)pid, *count, LWP_MARKS_MOST);
    if (*count && lwp_probe(lwp_probe_breakpoint, NULL) == ENODATA)
        return lwp_error_set(err, LWP_ERR_MISSING,
                             "collect: LWP_BEGIN() and LWP_END() of process %d cannot be followed, as debug registers stop nothing on this "
                             "machine: start the program with lwp collect",
                             (int)pid);
    bool more = *count > 0;
    for (unsigned pass = 0; more && !why && pass < PASSES_MOST; pass++) {
        struct lwp_tasks threads = {0};
        more = false;
        lwp_tasks_of_process(&threads, pid);
        for (size_t i = 0; i < threads.count && !why; i++) {
            more |= !lwp_events_is_marked(events, threads.items[i]);
            why = lwp_events_mark(events, threads.items[i], addresses, *count);
        }
        lwp_tasks_free(&threads);
    }
    errno = why;
    return why ? lwp_error_errno(err, "collect: LWP_BEGIN() and LWP_END() of process %d cannot be followed", (int)pid) : LWP_OK;
}

void lwp_marks_follow(struct lwp_events *events, struct lwp_followed *followed, bool region, bool first)
{
    struct lwp_error err;
    size_t count;
    int status = marks_open(events, &followed->interpreter->remote, followed->pid, &count, &err);
    followed->marks = count > 0;
    followed->outside_region = region && !status;
    if (status)
        lwp_log(LWP_LOG_WARNING, "%s; they are ignored", err.text);
    else if (region && first && !count)
        lwp_log(LWP_LOG_WARNING, "process %d says LWP_BEGIN() nowhere: nothing of it will be recorded", (int)followed->pid);
}

/* The request of lwp.h stands in memory, to which RAX points: on the thread's stack. */
void lwp_marks_see(struct lwp_followed *followed, const struct perf_event_attr *attr, const struct lwp_perf_sample *sample)
{
    uint64_t request, at = lwp_perf_register(attr, sample, PERF_REG_X86_AX) - lwp_perf_register(attr, sample, PERF_REG_X86_SP);
    if (!followed || !sample->stack || at > sample->stack_bytes || sample->stack_bytes - at < sizeof request)
        return;
    memcpy(&request, sample->stack + at, sizeof request);
    if (request == LWP_REQUEST_BEGIN || request == LWP_REQUEST_END)
        followed->outside_region = request == LWP_REQUEST_END;
}
