/* The profile: all samples, attributed and aggregated.
 * load.c fills it; each analysis reads it and adds its result. Memory is bounded by objects, streams and contexts, not by samples.
 * Everything lives in `arena` unless said otherwise. */
#ifndef LWP_ANALYSIS_PROFILE_PROFILE_H
#define LWP_ANALYSIS_PROFILE_PROFILE_H

#include "analysis/caches/hierarchy.h"
#include "analysis/profile/communication_counts.h"
#include "analysis/profile/concurrent.h"
#include "analysis/profile/locality_counts.h"
#include "analysis/profile/moves.h"
#include "analysis/profile/thread_interaction.h"
#include "analysis/profile/traversals.h"
#include "analysis/profile/watchpoints.h"
#include "analysis/program/code.h"
#include "analysis/program/types/types.h"
#include "analysis/statistics/interrupts.h"
#include "analysis/statistics/object_uses.h"
#include "analysis/statistics/reservoir.h"
#include "analysis/statistics/share.h"
#include "analysis/statistics/stall_profile.h"
#include "analysis/statistics/stride.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/hash.h"
#include "format/detect.h"

#include <jansson.h>
#include <pthread.h>

enum lwp_object_kind { LWP_OBJECT_HEAP, LWP_OBJECT_STATIC, LWP_OBJECT_STACK, LWP_OBJECT_MMAP, LWP_OBJECT_UNKNOWN };

/* The fields of an object's accesses by address and by code (element_agreement.c). */
struct lwp_agreement {
    double looked_at; /* accesses of the program's own code */
    double compared;  /* ... where both name a field */
    double agree;     /* ... the same one */
};

/* All memory of one allocation path (and pool size), or one variable. */
struct lwp_object {
    uint64_t key;
    enum lwp_object_kind kind;
    uint32_t context;        /* where it was allocated (contexts.h), 0: not known */
    uint32_t module;         /* of a static variable */
    uint64_t start;          /* of a static variable: its address in the module's file */
    uint64_t lookup_address; /* static and stack: the address of data or code of its first lookup, */
    int64_t lookup_cfa;      /* stack: and the distance from the frame base */
    uint64_t pool_size;      /* heap: the size requested for each block; 0: single blocks, or various sizes */
    uint64_t bytes;          /* most allocated at one time in one process */
    uint64_t largest;        /* the largest single block */
    uint64_t allocations;
    struct lwp_tally weight;          /* of stalls on it */
    double time_weight;               /* of whole loops, shared by the stalls in them (regions.c) */
    uint64_t accesses, loads, stores; /* seen with their address, weighted or not */
    uint32_t common;                  /* function-level context all its accesses share */
    bool accessed;                   /* a sample or an exact count has an access to it */
    bool looked_at;                  /* an exact count compared its elements: it is named whatever its cost */
    bool spilled;                    /* stack variable: in memory only where there is no register for it */
    uint64_t allocated_ns, freed_ns; /* from its first allocation to its last free (or its process's end), and */
    uint64_t first_ns, last_ns;      /* the first and last access seen; all since the start of their process */

    /* elements.c */
    const char *label;    /* for reports; NULL: not made yet (lwp_objects_name) */
    const char *variable; /* NULL: unknown */
    const struct lwp_type *type;
    bool type_exact;            /* from the object's own declaration or the pointer used, not only from what was in scope */
    uint64_t element_bytes;     /* 0: unknown */
    uint64_t element_spacing;   /* from one element to the next; 0: element_bytes */
    uint64_t element_start;     /* bytes before the first element, or before the one of each block: a header */
    uint64_t around;            /* single: bytes of each block that are not of the element: it is the head of something larger */
    uint64_t element_end;       /* from here on there are none: a table's control bytes; 0: they go on to the end */
    uint64_t element_reach;     /* so far into each block elements are used, about; 0: to its end (element_count.c) */
    double element_probability; /* that element_bytes is right; 0 when it is unknown */
    const char *fields_unknown; /* why; NULL: they are known, or were not looked for */
    bool start_open;            /* nothing says whether a header comes before the elements */
    struct lwp_agreement agreement;
    bool several;               /* different arrays in one block */
    bool single;                /* each block is one element (tree nodes) */
    uint32_t reported;          /* index in analysis.json, LWP_NONE: too small to be listed */
};

enum { LWP_DISTANCES = 40 };

/* A sample of the offsets, in a random order that is always the same; none where the object is not shown. Those of dithered
 * accesses come first, and alone where there are many: stalled accesses are biased towards the starts of cache lines. */
struct lwp_offsets {
    uint64_t *items;
    uint32_t count, fair; /* fair: number of those of dithered accesses */
};

/* One instruction on one object, within one region. Offsets are from the start of the block or variable. */
struct lwp_stream {
    uint32_t object, region;
    uint32_t next_of_object;
    uint32_t common; /* function-level context all its accesses share */
    uint16_t bytes;
    bool vector;
    bool string;       /* by an instruction that goes on by itself, of objects worth the work (elements.c) */
    uint8_t fair_seen; /* dithered accesses; 255: or more */
    uint32_t module;
    uint64_t address; /* of the instruction, in its module's file */
    uint64_t accesses, loads, stores;
    struct lwp_offsets offsets;
    struct lwp_tally weight;
    uint16_t *distances;      /* histogram by log2 of the distance to another access of the same sample on the object; NULL: none */
    struct lwp_stride stride; /* elements.c */
};

/* A source loop, or the body of a function where it is no loop's. */
struct lwp_region {
    bool is_function;
    uint32_t module;
    uint64_t address; /* of its first machine loop's header, or the function, in its module's file */
    const char *function, *file;
    uint32_t first_line, last_line;
    const struct lwp_frame *calls; /* that inlined the function, innermost first; of a loop */
    uint32_t call_count;
    uint32_t parent;         /* region or LWP_NONE */
    uint32_t same_as;        /* the region this one is a version of (itself: none) */
    struct lwp_tally weight; /* all samples in it but not in a nested one */
    double stalled;          /* the part of it that belongs to memory accesses */
    uint64_t first_ns, last_ns; /* when samples saw it, from the process's start; both 0: none that was kept did */
    uint32_t reported;
};

struct lwp_context_node {
    uint32_t parent, module;
    uint64_t address;
    uint32_t depth;
    bool is_function; /* address is a function's start; otherwise that of a call */
};

struct lwp_caches {
    uint64_t line_bytes, l1_bytes, l2_bytes, l3_bytes; /* 0: unknown */
    unsigned streams;                                  /* concurrent streams that prefetchers follow; 0: unknown */
    uint64_t l3_whole; /* as the system says: a virtual machine may have all of it, or a few cores' share, l3_bytes; 0: unknown */
};

struct lwp_process_summary {
    uint32_t pid, threads;
    int32_t rank; /* -1: not one of several */
    const char *command;
};

struct lwp_locations;

struct lwp_profile {
    struct lwp_arena *arena, *code_arena; /* code_arena: what `code` answers; it is asked while other threads use the other one */
    struct lwp_code *code;
    pthread_mutex_t lock; /* of notes, code, locations, objects and contexts while several threads load (load.c) */
    unsigned jobs;        /* threads to load with, 0: as many as there are cores */
    json_t *run;          /* run.json of the first DIR, an empty object when missing; owned */
    json_t *runs;         /* times of each DIR, when several are merged; owned */
    struct lwp_caches machine;
    uint64_t tick_ns; /* of that machine's kernel's clock; 0: not known */
    uint64_t start_ns, page_fault_ns, cycle_ps; /* what a start, a page fault and a cycle take there; 0: not known */
    uint8_t engine, weight_unit;
    double measure_seconds;       /* left for patterns to be run in (advice/gain/measured.h); 0: none are */
    double measure_most;          /* ... allowed in all */
    struct lwp_gain_timed *timed; /* those that were */
    size_t timed_count;

    const char **notes;
    size_t note_count, note_room;

    struct lwp_process_summary *processes;
    size_t process_count, process_room;
    uint64_t user_ns, system_ns, own_ns, samples, samples_with_address, samples_lost;
    uint64_t resident_bytes;                      /* at most at one time, of all processes; 0: not known */
    uint64_t allocations_recorded;
    uint64_t allocations_unrecorded;              /* of small blocks, to keep the overhead low */
    uint64_t instructions, instructions_recorded; /* of the exact engine: run, and inside of windows; 0: not known */
    uint64_t native_instructions, native_ns, native_least_ns, native_most_ns, native_page_faults; /* record.h; 0: none */
    uint64_t starts, page_faults;                 /* of images that were executed; page faults at least; 0: not known */
    struct lwp_tally total, stalled; /* all samples; those whose weight belongs to an access */
    double unknown_weight;           /* of samples that are neither known stalls nor compute */

    struct lwp_object *objects;
    size_t object_count, object_room;
    struct lwp_map *object_index;
    uint32_t *object_streams; /* first stream of each object */
    size_t object_streams_room;

    struct lwp_stream *streams;
    size_t stream_count, stream_room;
    struct lwp_locations *locations;

    struct lwp_traversals traversals;
    struct lwp_moves moves;
    struct lwp_concurrents concurrents;
    struct lwp_watchpoints watchpoints;
    struct lwp_thread_interaction interaction;
    struct lwp_stall_profile stalls;
    struct lwp_interrupts interrupts;
    struct lwp_locality_counts locality;
    struct lwp_object_uses uses;
    struct lwp_hierarchy_plan machines[LWP_MACHINES]; /* what traces are replayed on */
    struct lwp_communication_counts communication;

    struct lwp_region *regions;
    size_t region_count, region_room;
    struct lwp_map *region_index;

    struct lwp_context_node *contexts; /* 0: the root */
    size_t context_count, context_room;
    struct lwp_map *context_index;
    size_t contexts_most;          /* that may be kept */
    uint32_t context_depth;        /* paths are cut to so many frames, outermost first */
    _Atomic bool contexts_refused; /* there were more */
};

void lwp_profile_init(struct lwp_profile *profile);

/* Drops what was loaded and keeps the settings. */
void lwp_profile_reset(struct lwp_profile *profile);

void lwp_profile_fini(struct lwp_profile *profile);

/* Whether run.json says that the detector (format/detect.h) was on; `unsaid`: the answer where it does not say. */
bool lwp_profile_detected(const struct lwp_profile *profile, enum lwp_detect detector, bool unsaid);

/* One sentence for the report; the same one twice is kept once. */
void lwp_profile_note(struct lwp_profile *profile, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Whether there is one that begins so. */
bool lwp_profile_is_noted(const struct lwp_profile *profile, const char *begin);

#endif
