/* The command around synthetic.c. */
#include "bench/synthetic.h"

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    if (argc < 6 || argc > 7) {
        fputs("usage: synthetic DIR PROCESSES THREADS SAMPLES OBJECTS [ACCESSES]\n", stderr);
        return 2;
    }
    struct synthetic wanted = {.dir = argv[1],
                               .processes = (uint32_t)atoi(argv[2]),
                               .threads = (uint32_t)atoi(argv[3]),
                               .samples = strtoull(argv[4], NULL, 10),
                               .objects = (uint32_t)atoi(argv[5]),
                               .accesses = argc > 6 ? (uint32_t)atoi(argv[6]) : 0,
                               .sealed = true};
    if (lwp_synthetic_write(&wanted)) {
        perror("synthetic");
        return 1;
    }
    return 0;
}
