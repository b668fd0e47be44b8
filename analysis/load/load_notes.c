#include "analysis/load/load_internal.h"

#include "base/arena.h"
#include "base/order.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void load_note(struct load_notes *notes, uint32_t number, uint32_t sequence, const char *format, ...)
{
    char *text;
    va_list arguments;
    va_start(arguments, format);
    int length = vasprintf(&text, format, arguments);
    va_end(arguments);
    if (length < 0)
        return;
    pthread_mutex_lock(&notes->lock);
    LWP_APPEND(&notes->items, &notes->count, &notes->room, (struct load_note){number, sequence, text});
    pthread_mutex_unlock(&notes->lock);
}

/* What an unclosed file means. An image that exec replaced never closes its own, and all it wrote is there: no note. */
static void load_note_open_end(struct load_notes *notes, uint32_t number, const struct lwp_input *input, const char *path)
{
    if (input->ended && !input->replaced)
        load_note(notes, number, LOAD_NOTES_KEPT + 4,
                  "%s has no end: the program ended without its exit handlers (as with _exit), or executed another one that was too "
                  "short to be recorded; what it wrote until then is used.",
                  path);
    else if (!input->replaced)
        load_note(notes, number, LOAD_NOTES_KEPT + 4, "%s has no end: the process was killed or ended without its exit handlers, or the file was cut.", path);
}

void load_note_damage(struct load_notes *notes, uint32_t number, const struct lwp_input *input, const char *path,
                      const struct lwps_damage *damage)
{
    if (damage->unknown_blocks)
        load_note(notes, number, LOAD_NOTES_KEPT + 1, "%s: %llu blocks of a newer lwp were skipped.", path,
                  (unsigned long long)damage->unknown_blocks);
    if (damage->bad_blocks)
        load_note(notes, number, LOAD_NOTES_KEPT + 2, "%s: %llu damaged blocks were skipped; the rest was used.", path,
                  (unsigned long long)damage->bad_blocks);
    if (damage->torn_bytes)
        load_note(notes, number, LOAD_NOTES_KEPT + 3, "%s: the last %llu bytes are no whole block and were left out.", path,
                  (unsigned long long)damage->torn_bytes);
    else if (damage->incomplete)
        load_note_open_end(notes, number, input, path);
}

static int load_note_compare(const void *a, const void *b)
{
    const struct load_note *x = a, *y = b;
    return LWP_COMPARE(x->number, y->number) ?: LWP_COMPARE(x->sequence, y->sequence);
}

void load_notes_finish(struct load_notes *notes, struct lwp_profile *profile)
{
    LWP_SORT(notes->items, notes->count, load_note_compare);
    for (size_t i = 0; i < notes->count; i++)
        lwp_profile_note(profile, "%s", notes->items[i].text);
}

void load_notes_free(struct load_notes *notes)
{
    for (size_t i = 0; i < notes->count; i++)
        free(notes->items[i].text);
    free(notes->items);
    pthread_mutex_destroy(&notes->lock);
}
