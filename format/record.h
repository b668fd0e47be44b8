/* The records of a sample file, decoded: every engine writes them, the analysis reads them. Their layout on disk is in
 * format/layout.h and format/fields.h.
 * Freestanding: used in the preload library's signal handlers and under Valgrind.
 *
 * Ids of contexts are local to their file; ids of pools, blocks and modules are local to a process
 * (they are written to process.lwps). Times are CLOCK_MONOTONIC nanoseconds. Addresses are those of the process. */
#ifndef LWP_FORMAT_RECORD_H
#define LWP_FORMAT_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum lwps_engine { LWPS_ENGINE_TIMER = 1, LWPS_ENGINE_PMU = 2, LWPS_ENGINE_EXACT = 3 };
enum lwps_weight_unit {
    LWPS_WEIGHT_NS = 1,
    LWPS_WEIGHT_CYCLES = 2,
    LWPS_WEIGHT_SIMULATED_CYCLES = 3,
    LWPS_WEIGHT_EVENTS = 4, /* occurrences of what was counted */
};

/* From the file's fixed header. */
struct lwps_file {
    uint16_t version;
    uint8_t engine;      /* enum lwps_engine */
    uint8_t weight_unit; /* enum lwps_weight_unit */
    uint32_t pid, tid;   /* tid is 0 in process.lwps */
    uint64_t start_ns;   /* CLOCK_MONOTONIC when the file was opened */
    uint64_t start_wall_ns; /* CLOCK_REALTIME at the same moment */
    uint64_t lost_records;  /* could not be written: disk full, file limit */
    bool sealed;
    bool complete;       /* the writer was closed in order: no trailer means killed or cut */
};

/* ---- process.lwps ---- */

struct lwps_process {
    uint32_t pid, parent_pid;
    uint64_t time;
    const char *command; /* argv, each argument ended by NUL; `command_bytes` in all */
    uint32_t command_bytes;
};

/* A mapped ELF image, from load to unload. */
struct lwps_module {
    uint32_t id;
    uint64_t time, start, end; /* addresses [start, end) */
    uint64_t bias;             /* address - bias = the ELF file's virtual address */
    uint8_t build_id[32];
    uint8_t build_id_bytes;    /* 0: none */
    const char *path;          /* NUL-ended for callbacks */
};

struct lwps_module_end {
    uint32_t id;
    uint64_t time;
};

/* One node of the calling-context tree: `ip` is an address in the frame's own code, `parent` a node of this file. Who records a
 * frame knows which one: the interrupted instruction of the innermost frame and of one that a signal interrupted, the byte before
 * the return address of all others, as the return address may be the next function's. Who reads it takes it as it is.
 * Node 0 is the root (no frame); ids are dense and ascend. Innermost frame = the node itself. */
struct lwps_context {
    uint32_t id, parent;
    uint64_t ip;
};

/* All small blocks of one calling context and size. Small blocks have no record of their own. */
struct lwps_pool {
    uint32_t id;      /* 1, 2, ... */
    uint32_t context; /* in process.lwps */
    uint64_t size;    /* bytes asked for; 0: various sizes */
};

/* Counts of a pool so far; the last one in the file counts. */
struct lwps_pool_count {
    uint32_t id;
    uint64_t allocations, frees, peak_blocks, bytes; /* bytes: all ever allocated */
};

enum lwps_block_kind { LWPS_BLOCK_HEAP = 1, LWPS_BLOCK_MMAP = 2 };

/* A block at or above the heap threshold, or a mapping. */
struct lwps_block {
    uint32_t id; /* 1, 2, ... */
    uint8_t kind;
    uint32_t context;
    uint64_t time, address, size;
};

struct lwps_block_end {
    uint32_t id;
    uint64_t time;
};

/* Cost and losses of the process, written at exit and periodically before; the last one counts. */
struct lwps_totals {
    uint64_t time;
    uint64_t user_ns, system_ns; /* getrusage(RUSAGE_SELF) */
    uint64_t own_ns;             /* CPU time of the collector, start-up included */
    uint64_t samples, samples_with_address, samples_lost, allocations;
    uint64_t instructions, instructions_recorded; /* run, and of them inside of windows; 0, 0: not counted */
    uint64_t resident_bytes; /* at most at one time, pages of zeros that were never written not among them; 0: not known */
    uint64_t allocations_unrecorded; /* of small blocks, to keep the overhead low; `allocations` are the others */
    uint64_t page_faults; /* at least, of an image that was executed, without what the engine itself touches; 0: not known */
    /* What copies of the process ran natively, too: instructions, their CPU time (the middle one's, the fastest, the slowest), and the page
     * faults that this includes. */
    uint64_t native_instructions, native_ns, native_least_ns, native_most_ns, native_page_faults;
};

/* How a note begins that says why nothing is known of redundant stores and loads: nobody has to guess why, then. */
#define LWPS_NOTE_NO_BREAKPOINTS "Debug registers stop nothing on this machine"

/* A sentence for the report's notes ("perf_event_open is not permitted here: ..."). */
struct lwps_note {
    const char *text;
};

/* ---- t<TID>.lwps ---- */

struct lwps_thread {
    uint32_t tid;
    uint64_t time;
    uint64_t stack_low, stack_high; /* 0, 0: unknown */
    const char *name;
    uint64_t pointer; /* below it is its own part of the thread-local variables (FS base); 0: unknown */
};

struct lwps_thread_end {
    uint64_t time;
    uint64_t cpu_ns;
};

enum lwps_access_flag {
    LWPS_ACCESS_LOAD = 1 << 0,
    LWPS_ACCESS_STORE = 1 << 1,   /* both: read-modify-write */
    LWPS_ACCESS_WEIGHTED = 1 << 2, /* the sample's weight belongs to this access (at most one, then it is the first) */
    LWPS_ACCESS_KNOWN = 1 << 3,    /* `address` is certain; without it address is 0 */
    LWPS_ACCESS_VECTOR = 1 << 4,   /* SIMD register: `bytes` may span several elements */
    LWPS_ACCESS_FLOAT = 1 << 5,
    LWPS_ACCESS_APART = 1 << 6, /* a later access: whether others came between it and the one before it here is not known */
};

/* How the address was found. */
enum lwps_source {
    LWPS_SOURCE_NONE = 0,
    LWPS_SOURCE_UNDO = 1,       /* the access just executed, from the saved registers (and memory) */
    LWPS_SOURCE_FORWARD = 2,    /* its next execution, by walking forward */
    LWPS_SOURCE_BREAKPOINT = 3, /* its next execution, by an execution breakpoint */
    LWPS_SOURCE_DITHERED = 4,   /* a random later access: unbiased, without weight */
    LWPS_SOURCE_HARDWARE = 5,   /* PEBS, IBS */
    LWPS_SOURCE_TRACE = 6,      /* exact engine */
    LWPS_SOURCE_LINKS = 7,      /* a later access, along links as memory had them somewhat later: where it goes, not that it was */
};

/* The memory that an access went to, if the collector knew it; otherwise the analysis looks the address up. */
enum lwps_home {
    LWPS_HOME_ADDRESS = 0, /* block, static variable, module, ...: look it up */
    LWPS_HOME_POOL = 1,    /* small block: home_id is the pool, home_base the block's start */
    LWPS_HOME_STACK = 2,   /* stack frame: home_id is the owning frame's context (this file), home_base its CFA
                              (address of its caller's stack pointer before the call's push, as DWARF's CFA);
                              home_id 0: on this thread's stack, frame unknown */
};

struct lwps_access {
    uint64_t ip;      /* the accessing instruction */
    uint64_t address; /* effective address of the lowest byte */
    uint16_t bytes;   /* width; 0: unknown */
    uint8_t flags, source, home;
    uint32_t home_id;
    uint64_t home_base;
    uint8_t level;    /* where the data came from, for engines that know: enum lwps_level; 0: unknown */
};

/* The level byte: which cache answered, and how; all 0: unknown. */
enum lwps_level {
    LWPS_LEVEL_UNKNOWN = 0,
    LWPS_LEVEL_L1 = 1,
    LWPS_LEVEL_BUFFER = 2, /* a line fill buffer: already on its way */
    LWPS_LEVEL_L2 = 3,
    LWPS_LEVEL_L3 = 4,
    LWPS_LEVEL_MEMORY = 5,
    LWPS_LEVEL_OTHER = 6, /* I/O, uncached */
    LWPS_LEVEL_MASK = 7,
    LWPS_LEVEL_REMOTE = 1 << 3,   /* of another socket or node */
    LWPS_LEVEL_MODIFIED = 1 << 4, /* another core had it modified (HITM) */
    LWPS_TLB_SHIFT = 5,           /* two bits: enum lwps_tlb */
    LWPS_LEVEL_LOCKED = 1 << 7,
};
enum lwps_tlb { LWPS_TLB_UNKNOWN = 0, LWPS_TLB_L1 = 1, LWPS_TLB_L2 = 2, LWPS_TLB_WALK = 3 };

enum lwps_sample_class {
    LWPS_SAMPLE_UNKNOWN = 0, /* the instruction before ip is not known */
    LWPS_SAMPLE_STALL = 1,   /* weight belongs to access[0] */
    LWPS_SAMPLE_COMPUTE = 2, /* weight is compute time of the code at ip */
    LWPS_SAMPLE_STORE = 3,   /* store-bound: weight belongs to access[0], a store */
};

/* What a watchpoint on an access can show; a mask. */
enum lwps_verdict {
    LWPS_VERDICT_DEAD_STORE = 1 << 0,   /* first: a store; decided by the thread's next access to its bytes */
    LWPS_VERDICT_SILENT_STORE = 1 << 1, /* first: a store; decided by the thread's next store to its bytes */
    LWPS_VERDICT_SILENT_LOAD = 1 << 2,  /* first: a load; decided by the thread's next load of its bytes */
    LWPS_VERDICT_SHARING = 1 << 3,      /* first: an access of another thread; decided by this thread's next access */
    /* Of struct lwps_pair and lwps_contribution only, which have one verdict each: more may be any other number. */
    LWPS_VERDICT_COMPUTATION = 1 << 4, /* second computes what first has computed */
    LWPS_VERDICT_REGISTER = 1 << 5,    /* second writes to a register what first has left there */
    LWPS_VERDICT_SPATIAL = 1 << 6,     /* elements of an array have one value; first and second: who stored them last, or asked; times: of
                                          elements that equal the one before, again: of those that only nearly do */
    LWPS_VERDICT_OVERWRITTEN = 1 << 7, /* another thread's second stores over what first has stored and nobody has loaded */
};

enum lwps_watch_end {
    LWPS_WATCH_DECIDED = 1,      /* `second` is the access that decided */
    LWPS_WATCH_NOT_WATCHED = 2,  /* no register was free for it, or the reservoir did not take it */
    LWPS_WATCH_EVICTED = 3,      /* another candidate took its register */
    LWPS_WATCH_MISPREDICTED = 4, /* the chosen access did not come */
    LWPS_WATCH_OVERWRITTEN = 5,  /* too many stores that do not decide; `second` is the last one */
    LWPS_WATCH_FREED = 6,        /* its block was freed, its mapping went away */
    LWPS_WATCH_FRAME_DIED = 7,   /* its stack frame returned */
    LWPS_WATCH_KERNEL = 8,       /* a system call may have used the bytes */
    LWPS_WATCH_FOREIGN = 9,      /* memory that other processes or unsampled threads may use: that cannot be observed */
    LWPS_WATCH_UNKNOWN = 10,     /* the trapping instruction is not known */
    LWPS_WATCH_ENDED = 11,       /* the thread or the recording ended first */
};

enum lwps_value {
    LWPS_VALUE_UNKNOWN = 0,
    LWPS_VALUE_SAME = 1,
    LWPS_VALUE_CLOSE = 2, /* floating point, within 1 % */
    LWPS_VALUE_OTHER = 3,
};

/* The outcome of one access chosen for a watchpoint. Each candidate leaves one record for each of its verdicts (several in one
 * record when they end together), written when it ends, or is part of a struct lwps_candidates: those never watched count
 * too, as the denominator of shares. A store published to other threads has a record of its own, with
 * LWPS_VERDICT_SHARING alone and without first_tid. */
struct lwps_watch {
    uint64_t time, end_time; /* chosen; decided or given up */
    uint64_t weight;         /* of the sample's, its instruction's part of what the sample looked at; in the file's unit */
    uint8_t verdicts;        /* enum lwps_verdict, mask */
    uint8_t end;             /* enum lwps_watch_end */
    uint8_t value;           /* enum lwps_value */
    uint16_t overlap;        /* bytes of `first` that `second` touches; 0: other bytes of its line, or no second */
    uint32_t first_tid;      /* whose access `first` was, 0: this thread's. Its contexts are those of that thread's file */
    uint32_t first_context, second_context; /* callers of the access's function, as in a sample */
    struct lwps_access first, second;
    uint64_t watched_ns; /* from the one access to the other, without what the collector did at both; 0: not known */
};

/* Undecided candidates of one instruction and calling context since the last record of either kind: `count` of them were
 * chosen for a watchpoint, and then got none, or were evicted. */
struct lwps_candidates {
    uint64_t time;    /* the last one chosen */
    uint64_t weight;  /* of all, in the file's unit */
    uint32_t count;
    uint8_t verdicts; /* enum lwps_verdict, mask; of this thread's own accesses */
    uint32_t context;
    uint64_t ip; /* the accessing instruction */
};

/* How often two accesses followed each other at the same bytes, and what that showed, counted by an engine that sees all
 * accesses. Numbers are bytes of `first`; the pairs that are no waste may be counted together, as of `first` alone. */
struct lwps_pair {
    uint8_t verdict;             /* one of enum lwps_verdict */
    uint64_t use, waste, close;  /* close: waste, but the values are only within 1 % */
    uint64_t open;               /* never decided: freed, its frame died, or the program ended first */
    uint64_t times;              /* of waste and close: each access counts once for 8 bytes */
    uint64_t again;              /* times where the pair's last one was */
    uint64_t time;               /* when the pair was first seen, for `first`'s address */
    uint32_t first_context, second_context; /* callers of the access's function, as in a sample */
    struct lwps_access first, second;       /* one of them; ip 0: unknown, or not one */
};

/* Register writes of a process, of one class: sums over its pairs of LWPS_VERDICT_REGISTER, and their totals. */
struct lwps_registers {
    uint8_t flags;            /* LWPS_ACCESS_LOAD: loaded, else computed or copied; LWPS_ACCESS_FLOAT: floating point */
    uint64_t bytes;           /* all of the class */
    uint64_t same, close;     /* written where the value was there already, or one within --approx */
    uint64_t instructions;    /* whose first value was such */
    uint64_t of_instructions; /* all of the process, of whatever class */
};

/* What one thread contributed to the sums over all pairs of one verdict: it made the second access. */
struct lwps_contribution {
    uint8_t verdict; /* one of enum lwps_verdict */
    uint8_t moves;   /* of LWPS_VERDICT_COMPUTATION: LWPS_ACCESS_LOAD or _STORE: instructions that only load or store; 0: computations */
    uint32_t thread; /* 1, 2, ... in the order they ran first */
    uint64_t all;    /* of moves: how many there were, wasted or not */
    uint64_t waste, close;
};

/* How the communication between threads that follows was counted: once for a file, before it. */
struct lwps_flows {
    uint32_t granule_bytes;     /* tracked at this granularity */
    uint64_t alone_bytes;       /* the most memory in use at a time that one thread each had used */
    uint32_t thinned;           /* not 0: to keep below a bound, counts were estimated from some cache lines, in the end one in 2^n */
    uint32_t distances_thinned; /* the same of distances, and elements */
    uint64_t accesses;          /* all of the run, whatever they read or wrote */
};

/* A thread in flows: thread ids of the kernel are reused. */
struct lwps_party {
    uint32_t number, tid;
    const char *name;
};

/* How often an instruction read what another thread wrote. */
struct lwps_flow {
    uint64_t time, ip;       /* when it first did; the instruction */
    uint32_t bytes;          /* of one read */
    uint32_t writer, reader; /* parties */
    uint64_t first, again;   /* true communication: for the first time since it was written; reuse */
};

/* Of the reads of an instruction that were not the first of their element: how many other elements its function read from
 * the same writer in the same thread since the one before, which was that of the instruction `before`. A bucket of the
 * histogram: 0 to 15 have one each, higher distances share one for each eighth of a power of two; `up_to` is the largest
 * seen in it. */
struct lwps_flow_distance {
    uint64_t time, ip;
    uint64_t up_to, count;
    uint64_t before;
};

/* The contiguous pieces of memory that an instruction's first reads of others' stores lie in: a piece continues while each
 * read is at most eight lines from the one before. */
struct lwps_flow_pieces {
    uint64_t time, ip;
    uint64_t count, lines, bytes; /* of all pieces: how many, of how many lines, and what was read of these */
    uint64_t even; /* by so many more than all others together, pieces begin `step` bytes after the one before */
    int64_t step;
};

/* ---- t0.5.lwps ---- */

/* Consecutive accesses of one thread in a window, encoded by trace_code.h. Blocks and modules did not change meanwhile. */
struct lwps_trace {
    uint32_t window; /* 1, 2, ...: what is in one follows on without a gap */
    uint32_t part;   /* 0, 1, ... in the window */
    uint32_t tid;
    uint64_t time;   /* not after the first access */
    const char *bytes;
    uint32_t size;
};

enum { LWPS_ACCESSES_MAX = 8 };

struct lwps_sample {
    uint64_t time;
    uint64_t weight;   /* in the file's unit */
    uint64_t ip;       /* as interrupted */
    uint32_t context;  /* callers of ip's function, innermost first, without ip itself; 0: none known */
    uint8_t kind;      /* enum lwps_sample_class */
    uint8_t access_count;
    struct lwps_access access[LWPS_ACCESSES_MAX];
};

#endif
