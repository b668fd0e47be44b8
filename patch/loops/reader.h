/* What the files that read an iteration share. */
#ifndef LWP_PATCH_READER_H
#define LWP_PATCH_READER_H

#include "patch/loops/nest.h"

enum { TEMPORARIES_MOST = 64, SCOPES_MOST = 64 };

/* A variable that an iteration gives a value before it reads it. */
struct temporary {
    const char *variable;
    struct form value; /* unless it is given more than one */
    unsigned scope;    /* 0: declared in the body */
};

struct reader {
    struct nest *nest;
    struct walk *walk;
    CXCursor body;
    bool in_head;
    struct temporary temporaries[TEMPORARIES_MOST];
    size_t temporary_count;
    unsigned scopes[SCOPES_MOST], scope_depth, last_scope; /* statements around, by number */
    unsigned breakable;                                    /* loops around, in the body */
    unsigned perhaps;                                      /* expressions around whose operands are not always evaluated */
};

/* ---- values.c ---- */

void reader_refuse(struct reader *reader, enum lwp_refusal reason, CXCursor at);
bool reader_is_variable(CXCursor declaration);
bool reader_is_in_body(struct reader *reader, CXCursor declaration);
CXCursor reader_bare(CXCursor expression); /* without parentheses and conversions that the compiler adds */

void reader_use(struct reader *reader, CXCursor declaration, CXCursor use, bool reads, bool writes);
/* `x = value;` as a statement: from here to the end of the statement around it, x has a value of this iteration. */
void reader_assign(struct reader *reader, CXCursor declaration, CXCursor use, struct form value);
bool reader_is_temporary(struct reader *reader, const char *variable); /* has one here */

struct form reader_form(struct reader *reader, CXCursor expression);

#endif
