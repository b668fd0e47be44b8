/* A loop over the characters of a text calls a function for each word of eight: it searches a list for it, 100 names on average. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAMES = 199, WORD = 8, WORDS = 3 * NAMES };

struct name {
    struct name *next;
    char text[WORD];
};

static struct name *first;

__attribute__((noinline)) static const struct name *find(struct name *const *list, const char *word)
{
    if (*word == ' ')
        return NULL;
    for (const struct name *at = *list; at; at = at->next)
        if (strncmp(at->text, word, WORD - 1) == 0)
            return at;
    return NULL;
}

int main(void)
{
    static char text[WORDS * WORD + 1];
    static unsigned long seen[256];
    unsigned long sum = 0;
    for (int i = 0; i < NAMES; i++) {
        struct name *name = malloc(sizeof *name);
        snprintf(name->text, sizeof name->text, "n%06d", i);
        name->next = first;
        first = name;
    }
    for (int i = 0; i < WORDS; i++)
        snprintf(text + i * WORD, WORD + 1, "n%06d ", i % NAMES);
    for (const char *at = text; *at; at++)
        if (*at == 'n')
            sum += (unsigned char)find(&first, at)->text[6];
        else
            seen[(unsigned char)*at]++;
    printf("%lu %lu\n", sum, seen['0']);
    return 0;
}
