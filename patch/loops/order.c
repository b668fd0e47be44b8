/* Whether the iterations of two loops do the same in the other order: no two use the same memory, one of them writing, of which the one
 * that comes first today comes second when the loops are interchanged. Such two have a distance of (+, -) in the two loops (Allen and
 * Kennedy, "Automatic translation of Fortran programs to vector form", 1987: a dependence of direction (<, >)). */
#include "patch/loops/nest.h"

#include <string.h>

enum { ROWS_MOST = 4 }; /* of a symbolic length, that two indices are apart */

/* How many iterations two elements to the same element are apart. */
struct distance {
    bool never; /* they have none in common */
    bool outer_known, inner_known;
    long long outer, inner;
};

static void learn(struct distance *distance, enum loop loop, long long by)
{
    bool *known = loop == OUTER_LOOP ? &distance->outer_known : &distance->inner_known;
    long long *value = loop == OUTER_LOOP ? &distance->outer : &distance->inner;
    distance->never = distance->never || (*known && *value != by);
    *known = true;
    *value = by;
}

/* FACTOR * distance == rest, with no other counter. */
static void solve_one(struct distance *distance, enum loop loop, const struct form *factor, const struct form *rest)
{
    long long by, number;
    if (!form_is_number(factor, &by) || !form_is_number(rest, &number))
        return;
    if (number % by)
        distance->never = true;
    else
        learn(distance, loop, number / by);
}

/* Whether the column of row * ROW + column stays below ROW because an element beyond its array would be used otherwise: all rows are
 * gone through from the first, and the last one ends where the array does. */
static bool is_within_array(const struct nest *nest, enum loop row_loop, long long row)
{
    const struct head *rows = row_loop == OUTER_LOOP ? &nest->outer : &nest->inner;
    long long first, beyond, factor, number, all;
    if (!rows->by_one || !form_is_number(&rows->least, &first) || first != 0 || !form_is_number(&rows->beyond, &beyond) || beyond <= 0 ||
        row <= 0 || __builtin_mul_overflow(row, beyond, &all))
        return false;
    for (size_t i = 0; i < nest->element_count; i++) {
        const struct element *element = &nest->elements[i];
        const struct form *index = &element->indices[0];
        struct form rest = form_part(index, NO_LOOP), of_row = form_part(index, row_loop),
                    of_column = form_part(index, row_loop == OUTER_LOOP ? INNER_LOOP : OUTER_LOOP);
        if (element->always && element->index_count == 1 && element->bytes > 0 && element->all_bytes > 0 &&
            element->all_bytes / element->bytes <= all && form_is_number(&rest, &number) && number == 0 &&
            form_is_number(&of_row, &factor) && factor == row && form_is_number(&of_column, &factor) && factor == 1)
            return true;
    }
    return false;
}

/* Whether a column stays within the row. */
static bool is_within_row(const struct nest *nest, enum loop row_loop, const struct form *row, const struct head *column)
{
    long long least, spare, length;
    struct form room = form_sum(*row, column->beyond, -1);
    bool known = form_is_number(&column->least, &least);
    if (known ? least < 0 : !column->is_unsigned)
        return false;
    return (known && form_is_number(&room, &spare) && spare >= 0) ||
           (form_is_number(row, &length) && is_within_array(nest, row_loop, length));
}

/* ROW * (distance in one loop) + (distance in the other) == rest, as in row * 600 + column: solved where the second counter stays within
 * a row. */
static bool solve_row(struct distance *distance, const struct nest *nest, enum loop row_loop, const struct form *row,
                      const struct form *rest)
{
    long long left;
    if (!is_within_row(nest, row_loop, row, row_loop == OUTER_LOOP ? &nest->inner : &nest->outer))
        return false;
    struct form difference = *rest;
    for (int i = 0; i < ROWS_MOST; i++)
        difference = form_sum(difference, *row, 1);
    for (long long rows = -ROWS_MOST; rows <= ROWS_MOST; rows++, difference = form_sum(difference, *row, -1))
        if (form_is_number(&difference, &left) && left == 0) {
            learn(distance, row_loop, rows);
            learn(distance, row_loop == OUTER_LOOP ? INNER_LOOP : OUTER_LOOP, 0);
            return true;
        }
    return false;
}

static void solve(struct distance *distance, const struct nest *nest, const struct form *a, const struct form *b)
{
    long long number;
    struct form outer = form_part(a, OUTER_LOOP), inner = form_part(a, INNER_LOOP),
                rest = form_sum(form_part(b, NO_LOOP), form_part(a, NO_LOOP), -1);
    if (!a->known || !b->known || !form_is_same(outer, form_part(b, OUTER_LOOP)) || !form_is_same(inner, form_part(b, INNER_LOOP)))
        return;
    if (!outer.count && !inner.count)
        distance->never = distance->never || (form_is_number(&rest, &number) && number != 0);
    else if (!inner.count)
        solve_one(distance, OUTER_LOOP, &outer, &rest);
    else if (!outer.count)
        solve_one(distance, INNER_LOOP, &inner, &rest);
    else if (!form_is_number(&inner, &number) || number != 1 || !solve_row(distance, nest, OUTER_LOOP, &outer, &rest))
        if (form_is_number(&outer, &number) && number == 1)
            solve_row(distance, nest, INNER_LOOP, &inner, &rest);
}

/* Whether two elements to one array may come in the other order. */
static bool order_matters(const struct nest *nest, const struct element *a, const struct element *b)
{
    struct distance distance = {0};
    if (a->index_count != b->index_count)
        return true;
    for (unsigned i = 0; i < a->index_count; i++)
        solve(&distance, nest, &a->indices[i], &b->indices[i]);
    if (distance.never || (distance.outer_known && distance.outer == 0))
        return false;
    if (!nest->is_perfect) /* no two iterations of the outer loop may have one in common */
        return true;
    if (distance.inner_known && distance.inner == 0)
        return false;
    return !distance.outer_known || !distance.inner_known ||
           (distance.outer > 0) != ((distance.inner > 0) == (nest->outer.step == nest->inner.step));
}

static bool may_be_same_type(const char *a, const char *b)
{
    return !*a || !*b || strcmp(a, b) == 0;
}

/* Whether no other variable leads to the element's memory, or none that is of this kind, too. */
static bool is_alone(const struct element *element, const struct memory *memory)
{
    return element->base == BASE_ARRAY || (element->base == BASE_POINTER && memory_is_own(memory, element->variable)) ||
           (element->base == BASE_RESTRICT && memory_values(memory, element->variable) == 1);
}

static bool are_apart(const struct nest *nest, const struct element *a, const struct element *b)
{
    return (!nest->any_type && !may_be_same_type(a->type, b->type)) || (a->alone && b->alone);
}

static void check_pair(struct nest *nest, const struct element *a, const struct element *b)
{
    bool same = a->base != BASE_UNKNOWN && b->base != BASE_UNKNOWN && strcmp(a->variable, b->variable) == 0;
    if (same ? order_matters(nest, a, b) : !are_apart(nest, a, b))
        lwp_refuse(&nest->refusals, same ? LWP_REFUSAL_DEPENDENCE : LWP_REFUSAL_ALIAS, b->source, b->at, NULL);
}

static void check_variable(struct nest *nest, const struct outside *outside, const struct memory *memory)
{
    if (strcmp(outside->variable, nest->outer.variable) == 0 || strcmp(outside->variable, nest->inner.variable) == 0)
        lwp_refuse(&nest->refusals, LWP_REFUSAL_HEAD, outside->source, outside->at, NULL); /* read before it was known as a counter */
    if (outside->writes && (outside->reads || !nest->is_perfect))
        lwp_refuse(&nest->refusals, LWP_REFUSAL_CARRIED, outside->source, outside->at, NULL);
    if (!memory_is_exposed(memory, outside->variable))
        return;
    bool reached = outside->writes;
    for (size_t i = 0; i < nest->element_count; i++)
        reached = reached || (nest->elements[i].writes && (nest->any_type || may_be_same_type(nest->elements[i].type, outside->type)));
    if (reached)
        lwp_refuse(&nest->refusals, LWP_REFUSAL_ALIAS, outside->source, outside->at, NULL);
}

void nest_check_order(struct nest *nest, const struct memory *memory)
{
    const char *counters[] = {nest->outer.variable, nest->inner.variable};
    for (size_t i = 0; i < nest->element_count; i++) {
        struct element *element = &nest->elements[i];
        element->alone = is_alone(element, memory);
        if (element->base == BASE_POINTER)
            element->all_bytes = memory_most_bytes(memory, element->variable);
    }
    for (size_t i = 0; i < nest->element_count; i++)
        for (size_t k = 0; k <= i; k++)
            if (nest->elements[i].writes || nest->elements[k].writes)
                check_pair(nest, &nest->elements[k], &nest->elements[i]);
    for (size_t i = 0; i < nest->outside_count; i++)
        check_variable(nest, &nest->outsides[i], memory);
    if (strcmp(counters[0], counters[1]) == 0)
        lwp_refuse(&nest->refusals, LWP_REFUSAL_COUNTER, nest->source, nest->begin, NULL);
    for (size_t i = 0; i < 2; i++)
        if (memory_is_exposed(memory, counters[i]))
            lwp_refuse(&nest->refusals, LWP_REFUSAL_COUNTER, nest->source, nest->begin, NULL);
}
