/* Into which parts is a structure split, and what are they called? */
#ifndef LWP_PATCH_SPLIT_NAMES_H
#define LWP_PATCH_SPLIT_NAMES_H

#include "patch/uses/uses.h"

struct lwp_split_names {
    const char *word;    /* the structure's */
    size_t *part;        /* of each field */
    const char **names;  /* of each part: city_cold; of its structure, too */
    const char **suffix; /* cold */
    size_t count;
    size_t begin, end; /* of the declaration of the structure, with "typedef" and ";" */
};

/* With at most `most` parts: what would be more is cold. False: the way is refused. */
bool lwp_split_names(struct lwp_uses *uses, struct lwp_split_names *names, size_t most, unsigned way);

/* Refuses where the word is used already. */
void lwp_split_check_name(struct lwp_uses *uses, const char *name, unsigned way);

/* The declarations of a part's fields, for free(); NULL: cannot be taken apart. */
char *lwp_split_fields(struct lwp_uses *uses, const struct lwp_split_names *names, size_t part);

/* "struct city_cold { ... };" and an empty line, in the style of the original; for free(), or NULL. */
char *lwp_split_structure(struct lwp_uses *uses, const struct lwp_split_names *names, size_t part);

#endif
