/* The edits that make a change, once nothing forbids it. Each adds refusals to its own way where the text turns out not to allow it. */
#ifndef LWP_PATCH_REWRITE_H
#define LWP_PATCH_REWRITE_H

#include "patch/uses/uses.h"

/* Which group each field belongs to: 0 the first hot one, ...; the number of groups for the cold ones. Fields that the advice does not
 * name are cold. Writes uses->type.field_count numbers; answers how many parts there are, the cold one included if it has any. */
size_t lwp_rewrite_parts(const struct lwp_uses *uses, size_t *part);

/* The text of a field's declaration with its comments: [*begin, *end) of the source, so that all of them together are what lies
 * between the braces. */
void lwp_rewrite_chunk(const struct lwp_type *type, size_t field, size_t *begin, size_t *end);

/* The fields' declarations in the order given (indices). NULL: a declaration of several cannot be taken apart. */
char *lwp_rewrite_fields(struct lwp_uses *uses, const size_t *order, size_t count);

/* The field that lies at an offset, or that it lies in; field_count: none. */
size_t lwp_rewrite_field_at(const struct lwp_type *type, long long offset);

/* Initialisers by order get the names of their fields. */
void lwp_rewrite_initialisers(struct lwp_uses *uses);

void lwp_rewrite_reorder(struct lwp_uses *uses);
void lwp_rewrite_pad(struct lwp_uses *uses);
void lwp_rewrite_pool(struct lwp_uses *uses, unsigned way); /* IN_POOL: hot and cold parts; IN_NODES: elements as they are */
void lwp_rewrite_arrays(struct lwp_uses *uses);

#endif
