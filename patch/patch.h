/* From a finding to the patch. */
#ifndef LWP_PATCH_PATCH_H
#define LWP_PATCH_PATCH_H

#include <stdbool.h>

struct lwp_patch_request {
    const char *finding, *database, *command; /* one of the latter two is NULL */
    const char *trial;                        /* BUILD && RUN, or NULL */
    double seconds;                           /* that trying may take */
    bool partial;
};

/* Prints the diff on stdout, refusals and errors on stderr. The exit status. */
int lwp_patch(const struct lwp_patch_request *request, int operand_count, char **operands);

#endif
