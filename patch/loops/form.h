/* An index as a sum of products: 600 * row + column - 1 is {600 * outer, 1 * inner, -1}. Factors that are no numbers are symbols: variables
 * that stay as they are while the loops run. */
#ifndef LWP_PATCH_FORM_H
#define LWP_PATCH_FORM_H

#include "base/arena.h"

enum { TERMS_MOST = 8 };
enum loop { NO_LOOP, OUTER_LOOP, INNER_LOOP };

struct term {
    long long factor;    /* never 0 */
    enum loop counter;   /* that is multiplied by it */
    const char *symbols; /* the others, "" if none */
};

struct form {
    bool known;
    unsigned count;
    struct term terms[TERMS_MOST]; /* no two with the same counter and symbols */
};

struct form form_of_number(long long number);
struct form form_of_counter(enum loop counter);
struct form form_of_symbol(const char *name);
struct form form_sum(struct form a, struct form b, int sign); /* a + sign * b */
struct form form_product(struct lwp_arena *arena, struct form a, struct form b);

/* What is multiplied by a counter (NO_LOOP: by none), as a form without one. */
struct form form_part(const struct form *form, enum loop counter);

bool form_is_number(const struct form *form, long long *number);
bool form_is_same(struct form a, struct form b); /* both known, and equal */

#endif
