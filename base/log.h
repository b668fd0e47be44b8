/* Messages for the user on stderr, one line each: "lwp: …". Not for the preload library, which has its own. */
#ifndef LWP_BASE_LOG_H
#define LWP_BASE_LOG_H

#include <stdbool.h>

enum lwp_log_level { LWP_LOG_ERROR, LWP_LOG_WARNING, LWP_LOG_NOTE, LWP_LOG_DEBUG };

/* Messages above `level` are dropped; the default is LWP_LOG_NOTE. */
void lwp_log_set_level(enum lwp_log_level level);

/* Control characters in the formatted text are shown as '?': names come from the profiled program. */
void lwp_log(enum lwp_log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A progress line that overwrites itself, from any thread; silent unless stderr is a terminal and notes are shown.
 * `lwp_log_progress(NULL)` clears it. */
void lwp_log_progress(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Whether the line is shown and old enough to be updated. Cheap. */
bool lwp_log_progress_due(void);

#endif
