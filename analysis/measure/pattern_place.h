/* Where a round of a pattern finds its elements: the registers of its code, and the place of each array's element. */
#ifndef LWP_ANALYSIS_MEASURE_PATTERN_PLACE_H
#define LWP_ANALYSIS_MEASURE_PATTERN_PLACE_H

#include "analysis/measure/pattern_values.h"

enum { CODE_MULTIPLIER = 1566083941 }; /* Waterman's, for 32 bits (Knuth, The Art of Computer Programming 2, 3.3.4) */

/* Not RBP: some processors fetch little ahead of what is found by it, as they take it for the stack (28 % more of a stream's time). */
static const ZydisRegister code_arrays[LWP_PATTERN_ARRAYS] = {ZYDIS_REGISTER_RBX, ZYDIS_REGISTER_R14, ZYDIS_REGISTER_RSI,
                                                              ZYDIS_REGISTER_R8,  ZYDIS_REGISTER_R9,  ZYDIS_REGISTER_R10,
                                                              ZYDIS_REGISTER_R11, ZYDIS_REGISTER_R12};
static const ZydisRegister code_order = ZYDIS_REGISTER_R13, code_first = ZYDIS_REGISTER_R12 /* the last array's, which is not there then */,
                           code_index = ZYDIS_REGISTER_RDX;

/* Whether an index leads to some accesses; those to all arrays, which go on by the same step. */
bool code_by_index(const struct lwp_pattern *pattern);

/* The register that goes over the array; with an index there is one beside that of the array's beginning. */
ZydisRegister code_cursor(const struct lwp_pattern *pattern, size_t array);

/* Where the array's element of this round is; of arrays that are gone over step by step that of `ahead` rounds before. *spacing: what
 * code_address is a multiple of the index by, 0: none. */
struct emit_place code_element(struct emit_buffer *code, const struct lwp_pattern *pattern, size_t array, unsigned ahead,
                               uint64_t *spacing);

/* Chains that end are begun again at the element that the list of indices has. */
bool code_searches(const struct lwp_pattern *pattern);

/* Searches of many elements that come to few of them each. */
bool code_descends(const struct lwp_pattern *pattern);

/* Whether `code_first` says where searches begin, or by halves where what is left of this one does. */
bool code_begins(const struct lwp_pattern *pattern);

/* The register of what is drawn: the last of an array that is not there then. */
ZydisRegister code_drawn(const struct lwp_pattern *pattern);

/* ---- pattern_search.c ---- */

/* A tree: on to one of two elements, by a jump or without. Where that is the root a search has ended: processors do not know before it is
 * there. */
void code_descend(struct emit_buffer *code, const struct lwp_pattern *pattern);

/* By halves: half of what is left, `code_order`, on from where that begins. */
void code_middle(struct emit_buffer *code);

/* ... and one of the halves is next: a jump that is guessed right does not wait to know which. */
void code_halve(struct emit_buffer *code, const struct lwp_pattern *pattern, uint64_t *spacing);

#endif
