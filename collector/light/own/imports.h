/* What lwp calls is the C library's, whatever the program has under that name. */
#ifndef LWP_COLLECTOR_LIGHT_OWN_IMPORTS_H
#define LWP_COLLECTOR_LIGHT_OWN_IMPORTS_H

/* Binds the functions that the library around `inside` calls to the C library's own: this one, first of all, and those that lwp
 * loaded for itself. */
void lwp_imports_bind(const void *inside);
void lwp_imports_bind_but(const void *inside, const char *but, void *instead); /* one of them to a function of lwp's */

#endif
