/* Asks again and again which processor it runs on: glibc loads that from where the kernel keeps it, on each way back to the program. */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <time.h>

int main(void)
{
    long sum = 0;
    while (clock() < CLOCKS_PER_SEC)
        for (int i = 0; i < 100000; i++)
            sum += sched_getcpu();
    puts(sum >= 0 ? "done" : "no processor");
    return 0;
}
