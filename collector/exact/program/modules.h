/* The ELF images mapped into the program, from load to unload, as Valgrind's debug information reader sees them. */
#ifndef LWP_COLLECTOR_EXACT_PROGRAM_MODULES_H
#define LWP_COLLECTOR_EXACT_PROGRAM_MODULES_H

void lwp_modules_start(void);
/* Into a new file of the process: all that is mapped. */
void lwp_modules_write_all(void);

#endif
