/* The ELF images mapped into the program, from load to unload, as Valgrind's debug information reader sees them. */
#ifndef LWP_COLLECTOR_EXACT_PROGRAM_MODULES_H
#define LWP_COLLECTOR_EXACT_PROGRAM_MODULES_H

void lwp_modules_start(void);
/* What was mapped before the process had a file, or is to be told to a new one. */
void lwp_modules_again(void);

#endif
