/* What lwp calls is the C library's, whatever the program has under that name. */
#ifndef LWP_COLLECTOR_LIGHT_OWN_IMPORTS_H
#define LWP_COLLECTOR_LIGHT_OWN_IMPORTS_H

/* Binds the functions that this library calls to the C library's own. First of all. */
void lwp_imports_bind(void);

/* The same for a library that lwp loaded for itself; `function`: any one of its own. */
void lwp_imports_bind_of(const void *function);

#endif
