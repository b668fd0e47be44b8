/* Short texts of many lengths, cut, joined and counted: small pieces of code, and strings that lie anywhere. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXTS = 97, ROUNDS = 3000 };

int main(void)
{
    static char *texts[TEXTS];
    size_t length = 0;
    for (int i = 0; i < TEXTS; i++)
        texts[i] = calloc(1, 1);
    for (int i = 0; i < ROUNDS; i++) {
        char number[16];
        const char *from = texts[i % 89];
        sprintf(number, " %d", i);
        char *text = malloc(strlen(from) + strlen(number) + 1);
        strcat(strcpy(text, from), number);
        length += strlen(text);
        if (i % 7 == 0)
            *text = 0;
        free(texts[i % TEXTS]);
        texts[i % TEXTS] = text;
    }
    printf("%zu\n", length);
    return 0;
}
