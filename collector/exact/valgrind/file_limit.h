/* How many files the program may have open (RLIMIT_NOFILE). */
#ifndef LWP_COLLECTOR_EXACT_VALGRIND_FILE_LIMIT_H
#define LWP_COLLECTOR_EXACT_VALGRIND_FILE_LIMIT_H

/* Before Valgrind opens files of its own but the program's. */
void lwp_file_limit_start(void);

/* What is executed inherits the program's limits, not Valgrind's; after an exec that failed they are Valgrind's again. */
void lwp_file_limit_before_exec(void);
void lwp_file_limit_after_exec(void);

#endif
