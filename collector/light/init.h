/* Start and end of collecting in one process image. */
#ifndef LWP_LIGHT_INIT_H
#define LWP_LIGHT_INIT_H

/* Ends recording in this process and in what it will execute; the note says why. Not for handlers. */
void lwp_process_leave(const char *note);

#endif
