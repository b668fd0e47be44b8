/* The register in which a parameter is handed over holds something else later. Where the compiler does not follow variables
 * (-fno-var-tracking, or a function too large for that), it says of the parameter that register alone. */
#include <stdio.h>

struct owner {
    long count, more[7];
};

__attribute__((noipa)) long sum_places(const struct owner *owner, const unsigned long *places)
{
    register unsigned long place __asm__("rdi");
    long sum = 0, count = owner->count;
    for (long i = 0; i < count; i++) {
        place = places[i];
        __asm__ volatile("" : "+r"(place));
        sum += *(const long *)place;
    }
    return sum;
}

int main(void)
{
    static long values[64];
    static unsigned long places[64];
    struct owner owner = {.count = 64};
    for (long i = 0; i < 64; i++)
        places[i] = (unsigned long)&values[i];
    printf("%ld\n", sum_places(&owner, places));
    return 0;
}
