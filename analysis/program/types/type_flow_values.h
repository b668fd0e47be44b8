/* Values of registers in type_flow.c and what can be said of sums and choices of them. */
#ifndef LWP_ANALYSIS_PROGRAM_TYPES_TYPE_FLOW_VALUES_H
#define LWP_ANALYSIS_PROGRAM_TYPES_TYPE_FLOW_VALUES_H

#include "analysis/program/types/type_members.h"

enum flow_kind { FLOW_NONE, FLOW_NUMBER, FLOW_ADDRESS };

/* A number, or so many bytes from where something begins; known up to multiples of the modulus. */
struct flow_value {
    uint8_t kind;
    uint32_t source; /* of an address: what it leads to, index in the sources */
    int64_t offset;
    uint64_t modulus; /* 0: exactly `offset`; 1: of a number, unknown */
};

extern const struct flow_value flow_unknown;

/* What the addresses of one function lead to. */
struct flow_sources {
    struct code_pointee *items;
    size_t count, capacity;
    struct lwp_map *index; /* made with the first; freed when no more come */
};

uint32_t flow_source(struct flow_sources *sources, const struct code_pointee *pointee);
bool flow_same_source(const struct flow_sources *sources, uint32_t a, uint32_t b);

struct flow_value flow_address(uint32_t source, int64_t offset);
bool flow_equal(const struct flow_value *a, const struct flow_value *b);
struct flow_value flow_add(const struct flow_value *a, const struct flow_value *b);
struct flow_value flow_scaled(const struct flow_value *value, int64_t scale);

/* What is known of a value that is one or the other. */
struct flow_value flow_join(const struct flow_sources *sources, const struct flow_value *a, const struct flow_value *b);

/* Whether an `inner` that is `inner_offset` bytes before the address is a part of the `outer` that it leads to. */
bool flow_holds(const struct code_pointee *outer, const struct flow_value *value, const struct code_pointee *inner,
                int64_t inner_offset);

#endif
