/* Settings of a program, in a list, looked up by name: with strcmp(), or with a function of the program's own, all linear
 * searches; and with one that counts how often it is asked, of which nobody knows what else would change. Or by value, where all that is
 * loaded is loaded by functions that are inlined. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SETTINGS = 400 };

struct setting {
    struct setting *next;
    const char *name;
    long value;
};

static long asked;

__attribute__((noinline)) static int same(const char *a, const char *b)
{
    return strlen(a) == strlen(b) && strcmp(a, b) == 0;
}

__attribute__((noinline)) static int counted(const char *a, const char *b)
{
    asked++;
    return strcmp(a, b) == 0;
}

/* The first letter is looked at before the rest, as pugixml does: compilers make two nested loops of it, along one list. */
__attribute__((noinline)) static long find_nested(const struct setting *at, const char *key)
{
    for (; at; at = at->next) {
        const char *name = at->name;
        if (name && *name == *key && strcmp(name, key) == 0)
            return at->value;
    }
    return -1;
}

#define FIND(name, compares)                                                                                                               \
    __attribute__((noinline)) static long name(const struct setting *at, const char *key)                                                  \
    {                                                                                                                                      \
        for (; at; at = at->next)                                                                                                          \
            if (compares)                                                                                                                  \
                return at->value;                                                                                                          \
        return -1;                                                                                                                         \
    }
FIND(find_library, strcmp(at->name, key) == 0)
FIND(find_own, same(at->name, key))
FIND(find_counted, counted(at->name, key))

static inline const struct setting *next_of(const struct setting *at)
{
    return at->next;
}

static inline long value_of(const struct setting *at)
{
    return at->value;
}

__attribute__((noinline)) static long find_inlined(const struct setting *at, long value)
{
    for (; at; at = next_of(at))
        if (value_of(at) == value)
            return value;
    return -1;
}

int main(int argc, char **argv)
{
    static struct setting settings[SETTINGS];
    struct setting *first = NULL;
    unsigned long state = 1, sum = 0;
    const char *how = argc > 1 ? argv[1] : "library";
    for (int i = 0; i < SETTINGS; i++) {
        char name[32];
        snprintf(name, sizeof name, "%d.setting", i);
        settings[i] = (struct setting){first, strdup(name), i};
        first = &settings[i];
    }
    for (int i = 0; i < 1500; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        const char *key = settings[(state >> 33) % SETTINGS].name;
        sum += (unsigned long)(*how == 'l'   ? find_library(first, key)
                               : *how == 'n' ? find_nested(first, key)
                               : *how == 'o' ? find_own(first, key)
                               : *how == 'i' ? find_inlined(first, (long)((state >> 33) % SETTINGS))
                                             : find_counted(first, key));
    }
    printf("%lu %ld\n", sum, asked);
}
