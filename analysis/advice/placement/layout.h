/* The fields of one structure and how loops use them: what splitting is decided on. */
#ifndef LWP_ANALYSIS_ADVICE_PLACEMENT_LAYOUT_H
#define LWP_ANALYSIS_ADVICE_PLACEMENT_LAYOUT_H

#include "analysis/profile/profile.h"

enum { LWP_FIELDS_MAX = 128, LWP_LAYOUT_LOOPS_MAX = 256 };

struct lwp_layout_field {
    uint64_t offset, bytes, alignment;
    const char *name;        /* "field_<offset>" without debug info; several, joined by '+', where they overlap */
    const char *declaration; /* C text of the member(s) without the last ';' */
    double observed;         /* cost of the stalls seen on it: goes to the first field touched of each line */
    double weight;           /* its even part of the cost of the loops that use it */
    uint64_t accesses;       /* seen with their address */
    uint64_t seen;           /* bytes of it that accesses with much of the cost were seen to go to */
    bool bits;               /* bit fields of one storage unit: they move together */
    bool flexible;           /* an array up to the block's end: stays last */
    bool of_library;         /* of a base class that is not the program's: stays where it is */
};

struct lwp_layout_loop {
    uint32_t region;
    const struct lwp_layout_loop *search; /* finds the elements that this one uses: both visit them at once. NULL: none does */
    struct lwp_tally weight;
    uint64_t accesses;
    uint64_t stride;    /* most common among its streams; 0: none */
    uint64_t near, far; /* pairs of accesses of one sample: a few elements apart, or anywhere */
    bool uses[LWP_FIELDS_MAX];
    uint32_t used;
    bool descends;              /* it searches (found.h) */
    bool found[LWP_FIELDS_MAX]; /* ... and these are used of the element at which that ends, once each search */
    bool keeps; /* pointers to the elements that it finds, in memory: which other fields are read through them is not known */
};

struct lwp_layout {
    const uint32_t *objects; /* of one type; the heaviest first */
    size_t object_count;
    const struct lwp_type *type;    /* NULL: fields are known by offset only */
    const char *container;          /* of the C++ library, whose nodes they are: "std::map"; NULL: none */
    const struct lwp_type *payload; /* the program's structure in such a node, whose fields only it can move; NULL: none */
    uint64_t element_bytes;
    uint64_t spacing;               /* from one element of a block to the next, and of single ones the size of the block */
    struct lwp_agreement agreement; /* of the fields by address and by code, in all objects */
    bool single;                    /* each block is one element, or */
    uint64_t around;                /* ... has one, and so many bytes of something else */
    uint64_t behind;     /* ... and ends with so many bytes that its type does not have (a key, a name): they stay with the node */
    const char *pointed; /* arrays: who holds pointers to elements (element_pointers.h); NULL: nobody known, or not asked */
    bool linked;         /* arrays: no index leads from one part of an element to the others, pointers must */
    struct lwp_layout_field *fields;
    size_t field_count;
    struct lwp_layout_loop *loops;
    size_t loop_count;
    struct lwp_tally weight;
    uint64_t accesses;
    double vague;       /* weight of vector accesses that span several fields: which are needed is not known */
    double copied;      /* ... of them, by functions of the C library, which no compiler's option changes */
    double probability; /* that the element size is right, from the strides (1 when DWARF says so) */
};

/* NULL when the objects have no structure: element size or start unknown, or plain scalars. */
struct lwp_layout *lwp_layout_make(struct lwp_profile *profile, const uint32_t *objects, size_t count);

/* Elements that the layout's objects hold. */
double lwp_layout_elements(const struct lwp_profile *profile, const struct lwp_layout *layout);

/* Whether the field is the library's, or a key: it stays in the node of the container. */
bool lwp_layout_is_fixed(const struct lwp_layout *layout, const struct lwp_layout_field *field);

/* The type whose declaration would change: of a container's nodes what the program keeps in them. */
const struct lwp_type *lwp_layout_declared(const struct lwp_layout *layout);

/* Bytes of a block that stay with the hot part: before the element (a std::shared_ptr's counters), around and behind it. */
uint64_t lwp_layout_stays(const struct lwp_layout *layout);

/* What Rust's Rc or Arc keeps, behind its counts. */
bool lwp_layout_is_counted(const struct lwp_layout *layout);

/* The compiler's own member: the pointer to the virtual functions. */
bool lwp_layout_is_table(const struct lwp_layout_field *field);

#endif
