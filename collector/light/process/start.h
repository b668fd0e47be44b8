/* Start and end of collecting in one process image. */
#ifndef LWP_COLLECTOR_LIGHT_PROCESS_START_H
#define LWP_COLLECTOR_LIGHT_PROCESS_START_H

/* Ends recording in this process and in what it will execute; the note says why. Not for handlers. */
void lwp_process_leave(const char *note);

#endif
