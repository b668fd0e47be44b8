#include "patch/loops/form.h"

#include <string.h>

struct form form_of_number(long long number)
{
    return (struct form){true, number != 0, {{number, NO_LOOP, ""}}};
}

struct form form_of_counter(enum loop counter)
{
    return (struct form){true, 1, {{1, counter, ""}}};
}

struct form form_of_symbol(const char *name)
{
    return (struct form){true, 1, {{1, NO_LOOP, name}}};
}

static void add_term(struct form *to, struct term term)
{
    for (unsigned i = 0; i < to->count; i++)
        if (to->terms[i].counter == term.counter && strcmp(to->terms[i].symbols, term.symbols) == 0) {
            if (__builtin_add_overflow(to->terms[i].factor, term.factor, &to->terms[i].factor))
                to->known = false;
            else if (to->terms[i].factor == 0)
                to->terms[i] = to->terms[--to->count];
            return;
        }
    if (to->count == TERMS_MOST)
        to->known = false;
    else
        to->terms[to->count++] = term;
}

struct form form_sum(struct form a, struct form b, int sign)
{
    a.known = a.known && b.known;
    for (unsigned i = 0; i < b.count && a.known; i++) {
        if (__builtin_mul_overflow(b.terms[i].factor, (long long)sign, &b.terms[i].factor))
            a.known = false;
        else
            add_term(&a, b.terms[i]);
    }
    return a;
}

/* In one order, so that n * m and m * n are the same. */
static const char *product_of(struct lwp_arena *arena, const char *a, const char *b)
{
    if (!*a || !*b)
        return *a ? a : b;
    return strcmp(a, b) <= 0 ? lwp_arena_printf(arena, "%s*%s", a, b) : lwp_arena_printf(arena, "%s*%s", b, a);
}

struct form form_product(struct lwp_arena *arena, struct form a, struct form b)
{
    struct form product = {.known = a.known && b.known};
    for (unsigned i = 0; i < a.count && product.known; i++)
        for (unsigned k = 0; k < b.count && product.known; k++) {
            struct term term = {.counter = a.terms[i].counter ? a.terms[i].counter : b.terms[k].counter,
                                .symbols = product_of(arena, a.terms[i].symbols, b.terms[k].symbols)};
            if ((a.terms[i].counter && b.terms[k].counter) || __builtin_mul_overflow(a.terms[i].factor, b.terms[k].factor, &term.factor))
                product.known = false;
            else
                add_term(&product, term);
        }
    return product;
}

struct form form_part(const struct form *form, enum loop counter)
{
    struct form part = {.known = form->known};
    for (unsigned i = 0; i < form->count; i++)
        if (form->terms[i].counter == counter)
            part.terms[part.count++] = (struct term){form->terms[i].factor, NO_LOOP, form->terms[i].symbols};
    return part;
}

bool form_is_number(const struct form *form, long long *number)
{
    if (!form->known || form->count > 1 || (form->count && (form->terms[0].counter || *form->terms[0].symbols)))
        return false;
    *number = form->count ? form->terms[0].factor : 0;
    return true;
}

bool form_is_same(struct form a, struct form b)
{
    struct form difference = form_sum(a, b, -1);
    return difference.known && difference.count == 0;
}
