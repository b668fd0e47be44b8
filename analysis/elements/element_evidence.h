/* What elements.c decides from: the strides and offsets of an object's streams, and the types that DWARF offers. */
#ifndef LWP_ANALYSIS_ELEMENTS_ELEMENT_EVIDENCE_H
#define LWP_ANALYSIS_ELEMENTS_ELEMENT_EVIDENCE_H

#include "analysis/elements/elements.h"

/* ---- the streams of one object (element_size.c) ---- */

enum { LWP_ELEMENT_STREAMS = 512 };
#define LWP_ELEMENT_SURE        0.95 /* a stride of this probability is believed */
#define LWP_ELEMENT_PART_COUNTS 0.01 /* streams with a smaller share of the accesses are ignored */

struct lwp_element_stream {
    const struct lwp_stream *stream;
    uint64_t low, high; /* of its offsets, without the outermost few: those may be strays */
};

struct lwp_element_streams {
    struct lwp_element_stream items[LWP_ELEMENT_STREAMS]; /* by `low` */
    size_t count;
    double accesses;
};

/* ---- loops inside of elements (element_walk.c) ---- */

/* The size of an element whose inner array is traversed by `stride`, when another field of it is used, too; else 0, and *open says
 * whether there is such a traversal. */
uint64_t lwp_element_walk_around(const struct lwp_element_streams *streams, uint64_t stride, bool *open);

/* The bytes that the stream's loop goes on each time round, where it passes over elements of this size; 0: it does not, or that is not
 * known. An unrolled loop has an access for each element. */
uint64_t lwp_element_walk_past(const struct lwp_profile *profile, const struct lwp_stream *stream, uint64_t bytes);

/* Whether most accesses are of loops that pass over elements of this size each time round: then what their addresses have in common is no
 * element, as where arrays of larger ones begin at other multiples. */
bool lwp_element_walk_passes(const struct lwp_profile *profile, uint32_t index, uint64_t bytes);

/* The probability that no loop traverses an array inside of larger elements. A loop that fills or copies whole elements hides, among
 * all accesses, what another one leaves out: so each loop is tested alone. Elements of many parts are expected less than of few:
 * their tests weigh 1 / parts^2 (weighted Bonferroni). */
double lwp_element_walk_none(const struct lwp_element_streams *streams, uint64_t stride);

/* ---- what each loop touches within one stride: several elements, as unrolled and vectorised loops do? (element_covers.c) ---- */

enum { LWP_ELEMENT_PARTS = 512 }; /* at most, in one stride */

struct lwp_element_covers {
    uint64_t stride;
    struct element_cover *items; /* own, one a loop */
    size_t count;
};

/* From the streams that step by `stride` or a multiple of it, and the code beside them. */
void lwp_element_covers_find(struct lwp_profile *profile, const struct lwp_element_streams *streams, uint64_t stride,
                             struct lwp_element_covers *covers);
void lwp_element_covers_free(struct lwp_element_covers *covers);

/* Whether every loop may be one over elements of `size`. */
bool lwp_element_covers_repeat(const struct lwp_element_covers *covers, uint64_t size);

/* Whether the equal parts of `size` are such as nobody would write down as one structure: several fields of different
 * widths over and over, or four and more times the same field with gaps between. */
bool lwp_element_covers_plainly_repeat(const struct lwp_element_covers *covers, uint64_t size);

/* ---- the size by addresses alone (element_size.c) ---- */

struct lwp_element_evidence {
    struct lwp_profile *profile;
    uint32_t object;
    uint64_t stride;                  /* what nearly all accesses step by, or a multiple of it; 0: nothing in common */
    double probability;               /* that it is no multiple of what they step by */
    uint64_t bytes;                   /* element size by the addresses alone; 0: they leave it open */
    bool several;                     /* parts of the block have different strides: it holds several arrays */
    bool bytewise;                    /* most accesses are one byte wide */
    struct lwp_element_covers covers; /* own */
};

/* After the streams have their strides. Thread safe: code is looked up under the
 * profile's lock. */
void lwp_element_evidence_find(struct lwp_profile *profile, uint32_t object, struct lwp_element_evidence *evidence);

/* Whether elements of this size (of a type that may be it) can give these addresses. */
bool lwp_element_evidence_allows(const struct lwp_element_evidence *evidence, uint64_t bytes);

/* ---- whether the accesses agree with a size and type (element_fit.c) ---- */

/* The share of a stream's offsets that are at one place, from which it is said to keep to it. */
#define LWP_ELEMENT_KEEPS_TO 0.8

struct lwp_element_try {
    uint64_t size; /* from one element to the next */
    const struct lwp_type *type;
    bool exact;          /* else every access must keep to one place */
    bool gaps;           /* what lies between elements is of something else */
    uint64_t start, end; /* what lies before or behind is not asked; end 0: nothing does */
};

/* The share of the object's accesses that agree with such elements; below 0: no evidence. */
double lwp_element_fit(const struct lwp_profile *profile, uint32_t index, const struct lwp_element_try *try);

/* ---- where elements begin, without a type (element_start.c) ---- */

/* Sets element_start of an object whose element size is known, or start_open and fields_unknown. */
void lwp_element_start_of_single(struct lwp_profile *profile, uint32_t index);
void lwp_element_start_of_array(struct lwp_profile *profile, uint32_t index);

/* ---- the types that DWARF offers (element_votes.c) ---- */

/* Where the elements of a table of Rust's library (hashbrown's RawTable<T>) lie in a block of so many bytes. False: no
 * such table has that many. */
bool lwp_element_table(uint64_t block_bytes, uint64_t element_bytes, uint64_t *start, uint64_t *end);

enum { LWP_ELEMENT_CANDIDATES_MAX = 48 };

struct lwp_element_candidate {
    const struct lwp_type *type;
    const char *variable;
    double score, variable_score;
    bool exact, variable_exact;
    bool made;       /* the allocation says so */
    bool table;      /* the allocation says so, and that a table's control bytes follow */
    bool allocator;  /* an allocator's function says so that may have been merged with others */
    bool derived;    /* it is the head of another one, which the blocks are */
    double accessed; /* accesses through pointers to it */
};

struct lwp_element_votes {
    struct lwp_element_candidate candidates[LWP_ELEMENT_CANDIDATES_MAX];
    size_t count;
    const struct lwp_type *large;    /* a structure that is no element (LWP_TYPE_ELEMENT_MAX): the block, if it has its size; NULL: none */
    double exact;                    /* accesses through pointers whose type is known */
    uint64_t table_start, table_end; /* of the elements of a table; 0: it is none */
    const char *holder;              /* the variable or member that keeps the block; NULL: unknown */
    bool header;                     /* the block only begins with what its allocator says: no candidate has the holder's name */
    struct lwp_element_inside {
        const char *name; /* the variable or member that keeps a pointer into the block; NULL: none is known */
        int64_t at;       /* how many bytes into it that points */
    } inside;
};

/* Ends in a flexible array member: each block is one struct and as many elements as were allocated. */
bool lwp_element_is_flexible(const struct lwp_type *type);

/* `votes` is empty before; candidates come in no order. Asks for no more than the first streams of many. */
void lwp_element_votes_collect(struct lwp_profile *profile, uint32_t index, struct lwp_element_votes *votes);

#endif
