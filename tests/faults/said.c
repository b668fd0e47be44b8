/* A child that says what it was started with. Also for the musl C library. */
#include <stdio.h>
#include <stdlib.h>

int main(int count, char **words)
{
    const char *preload = getenv("LD_PRELOAD");
    printf("%s of %d, LD_PRELOAD %s\n", words[count - 1], count, preload ? preload : "unset");
    return 7;
}
