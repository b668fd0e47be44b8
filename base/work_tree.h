/* The work tree that a folder lies in: the nearest one above with .git. */
#ifndef LWP_BASE_WORK_TREE_H
#define LWP_BASE_WORK_TREE_H

#include <stdbool.h>

/* Cuts the absolute `folder` down to it; false: there is none (never "/"), and `folder` stays. */
bool lwp_work_tree(char *folder);

#endif
