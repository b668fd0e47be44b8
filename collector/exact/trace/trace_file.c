/* The full trace of windows (--detect locality): each access in program order, into t0.5.lwps of the process (format/trace_code.h).
 * Whole windows only, since reuse distances are computed from it; where the whole run is traced (--window all),
 * a stretch of so many instructions takes a window's part. The file has a bound: the fuller it is, the fewer windows get into it. */
#include "collector/exact/program/blocks.h"
#include "collector/exact/program/calls.h"
#include "collector/exact/program/contexts.h"
#include "collector/exact/program/detector.h"
#include "collector/exact/program/options.h"
#include "collector/exact/program/process.h"
#include "collector/exact/program/thread.h"
#include "collector/exact/program/trace_words.h"
#include "format/trace_code.h"

enum {
    MOST = 512 << 20,    /* bytes of the file */
    STRETCH = 64 << 20,  /* instructions */
};

/* What the trace keeps of a superblock. */
struct lwp_traced {
    struct lwps_trace_block coded;
    uint32_t file; /* generation of the file that it is known in */
    struct traced_home {
        Addr start;
        SizeT size;
        uint32_t pool, blocks; /* blocks: lwp_blocks_changes when this was so */
    } homes[];
};

static struct {
    struct lwps_writer writer;
    struct lwp_context_map contexts;
    bool open, failed;
    uint32_t generation, blocks;
    uint64_t bytes;
} file = {.generation = 1};

static struct lwps_trace_coder coder;
static uint8_t chunk[LWPS_TRACE_BYTES];
static uint8_t *chunk_end = chunk;
static uint32_t chunk_part;
static uint64_t chunk_time;

static uint32_t windows, window_each = 1; /* of so many one is written */
static bool window_begins = true, window_taken; /* begins: with the next superblock */
static uint64_t stretch_left; /* instructions */

static bool trace_file_open(void)
{
    if (!file.open && !file.failed && lwp_exact_process.active) {
        file.open = lwp_exact_process_open(&file.writer, "t0.5", 0);
        file.failed = !file.open;
    }
    return file.open;
}

/* Half of what is left is for as many windows as there were so far, a quarter for twice as many, ... */
static void trace_file_thin(void)
{
    static uint64_t bound = MOST / 2;
    if (file.bytes < bound || file.failed)
        return;
    if (MOST - bound < (uint64_t)MOST >> 8) {
        lwp_exact_process_note("The trace of accesses has grown to its bound: what ran later is not in it.");
        file.failed = true;
        window_taken = false;
        return;
    }
    bound += (MOST - bound) / 2;
    window_each *= 2;
}

static void trace_file_flush(void)
{
    uint32_t size = (uint32_t)(chunk_end - chunk);
    if (!size)
        return;
    chunk_end = chunk;
    lwps_put_trace(&file.writer, &(struct lwps_trace){.window = coder.window, .part = chunk_part++, .tid = lwp_thread_now->tid,
                                                      .time = chunk_time, .bytes = (const char *)chunk, .size = size});
    file.bytes += size;
}

/* Where all is traced for the sake of communication, the file still has windows, in the measure that was asked for. */
static uint64_t trace_file_off(void)
{
    return lwp_trace_all ? lwp_exact_options.window_off : 0;
}

static uint64_t trace_file_length(void)
{
    return trace_file_off() ? lwp_exact_options.window_on : STRETCH;
}

static uint32_t trace_file_each(void)
{
    uint64_t on = lwp_exact_options.window_on;
    return window_each * (on ? (uint32_t)(1 + trace_file_off() / on) : 1);
}

static void trace_file_begin(bool follows_on)
{
    bool before = window_taken;
    window_begins = false;
    trace_file_flush();
    trace_file_thin();
    stretch_left = trace_file_length();
    window_taken = windows++ % trace_file_each() == 0 && trace_file_open() && !file.failed;
    if (!window_taken || (before && follows_on))
        return;
    lwps_trace_window(&coder, coder.window + 1);
    chunk_part = 0;
}

static void trace_file_window(bool opens)
{
    if (!opens)
        return;
    trace_file_flush();
    window_begins = true;
}

static void trace_file_room(uint32_t bytes)
{
    if (chunk_end + bytes > chunk + sizeof chunk)
        trace_file_flush();
    if (chunk_end == chunk)
        chunk_time = lwp_trace_time();
}

static struct lwp_traced *trace_file_traced(struct lwp_trace_block *block)
{
    struct lwp_traced *traced = block->traced;
    uint32_t count = block->count < LWPS_TRACE_SITES ? block->count : LWPS_TRACE_SITES;
    if (traced)
        return traced;
    block->traced = traced = VG_(calloc)("lwp.traced", 1, sizeof *traced + count * sizeof traced->homes[0]);
    traced->coded.count = count;
    traced->coded.sites = VG_(calloc)("lwp.traced", count, sizeof *traced->coded.sites);
    for (uint32_t i = 0; i < count; i++) {
        traced->coded.sites[i].ip = block->access[i].ip;
        traced->coded.sites[i].bytes = block->access[i].bytes;
        traced->coded.sites[i].flags = block->access[i].flags;
    }
    return traced;
}

static void trace_file_heap(struct traced_home *home, struct lwps_trace_place *place)
{
    if (home->blocks != lwp_blocks_changes || place->address - home->start >= home->size) {
        const struct lwp_block *block = lwp_block_at(place->address);
        *home = (struct traced_home){.start = block ? block->start : place->address, .size = block ? block->size : 1,
                                     .pool = block ? block->pool : 0, .blocks = lwp_blocks_changes};
    }
    if (!home->pool)
        return;
    place->home = LWPS_HOME_POOL;
    place->home_id = home->pool;
    place->home_base = home->start;
}

static struct lwps_trace_place trace_file_place(struct traced_home *home, uint64_t ip, uint64_t address)
{
    const struct lwp_exact_thread *thread = lwp_thread_now;
    struct lwps_trace_place place = {.address = address};
    uint32_t node = 0;
    if (address < thread->stack_low || address >= thread->stack_high) {
        trace_file_heap(home, &place);
        return place;
    }
    place.home = LWPS_HOME_STACK;
    place.home_base = lwp_calls_frame_of(address, ip, &node);
    place.home_id = lwp_context_in_file(&file.contexts, &file.writer, node);
    if (!place.home_base)
        place.home_base = address;
    return place;
}

/* Where all is traced, a stretch of the run is a window. */
static void trace_file_stretch(uint32_t instructions)
{
    if (stretch_left < instructions)
        trace_file_begin(true);
    stretch_left -= instructions;
}

static void trace_file_block(struct lwp_trace_block *block, const ULong *addresses)
{
    if (window_begins)
        trace_file_begin(false);
    if (lwp_trace_all)
        trace_file_stretch(block->instructions);
    if (!window_taken || !block->count)
        return;
    struct lwp_traced *traced = trace_file_traced(block);
    bool is_new = traced->file != file.generation;
    if (is_new) {
        traced->file = file.generation;
        traced->coded.id = file.blocks++;
        traced->coded.window = 0;
    }
    trace_file_room(is_new ? lwps_trace_block_bytes(&traced->coded) : LWPS_TRACE_RUN_BYTES);
    chunk_end = lwps_trace_put_run(&coder, &traced->coded, is_new, chunk_end);
    for (uint32_t i = 0; i < traced->coded.count; i++) {
        struct lwps_trace_place place;
        if (addresses[i])
            place = trace_file_place(&traced->homes[i], block->access[i].ip, addresses[i]);
        trace_file_room(LWPS_TRACE_ACCESS_BYTES);
        chunk_end = lwps_trace_put_access(&traced->coded.sites[i], addresses[i] ? &place : NULL, chunk_end);
    }
}

static void trace_file_words(ULong *begin, ULong *end)
{
    for (const ULong *at = begin; lwp_trace_open && at < end;) {
        struct lwp_trace_block *block = (void *)*at++;
        trace_file_block(block, at);
        at += lwp_trace_length(block);
    }
}

static void trace_file_anew(void)
{
    lwp_context_map_clear(&file.contexts);
    file.generation++;
    file.open = file.failed = false;
    file.blocks = 0;
    file.bytes = 0;
    chunk_end = chunk;
    coder = (struct lwps_trace_coder){0};
    window_taken = false;
    window_begins = true;
}

static void trace_file_finish(void)
{
    trace_file_flush();
    if (file.open)
        lwps_writer_close(&file.writer);
    trace_file_anew();
}

/* In the child of a fork: lets go of the parent's, as nothing is known in the child's yet. */
static void trace_file_reset(void)
{
    if (file.open)
        lwps_writer_abandon(&file.writer);
    trace_file_anew();
}

const struct lwp_detector lwp_trace_file_detector = {
    .option = "trace",
    .needs = LWP_NEEDS_ADDRESSES | LWP_NEEDS_PATHS,
    .finish = trace_file_finish,
    .reset = trace_file_reset,
    .words = trace_file_words,
    .window = trace_file_window,
    .flush = trace_file_flush,
};
