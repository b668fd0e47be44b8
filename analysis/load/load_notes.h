/* What files said besides, and what was wrong with them: in an order that does not depend on who read what when. */
#ifndef LWP_ANALYSIS_LOAD_LOAD_NOTES_H
#define LWP_ANALYSIS_LOAD_LOAD_NOTES_H

#include "analysis/profile/profile.h"
#include "format/reader.h"

#include <pthread.h>

enum { LOAD_NOTES_KEPT = 1 << 12 }; /* of what one file says itself; what is said about it has numbers from there on */

struct load_note {
    uint32_t number, sequence; /* of the file, and in it */
    char *text;
};

struct load_notes {
    pthread_mutex_t lock;
    struct load_note *items;
    size_t count, room;
};

/* Any thread may. */
void load_note(struct load_notes *notes, uint32_t number, uint32_t sequence, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

void load_note_damage(struct load_notes *notes, uint32_t number, const char *path, const struct lwps_damage *damage);

/* To the profile, sorted. */
void load_notes_finish(struct load_notes *notes, struct lwp_profile *profile);

void load_notes_free(struct load_notes *notes);

#endif
