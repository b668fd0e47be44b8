/* Blocks that a function gives to its caller through a pointer to the caller's own: of a structure's members, a variable of its own, and
 * one on its stack. */
#include <stdio.h>
#include <stdlib.h>

struct signal {
    int count;
    double *samples[4], *window;
};

static double *whole;

__attribute__((noipa)) int make_given(size_t count, double **kept)
{
    double *made = malloc(count * sizeof *made);
    if (!made)
        return 0;
    if (*kept)
        free(*kept);
    for (size_t i = 0; i < count; i++)
        made[i] = (double)i;
    *kept = made;
    return 1;
}

__attribute__((noipa)) int fill(struct signal *signal, size_t count)
{
    return make_given(count, &signal->window) + 1;
}

/* It jumps there. */
__attribute__((noipa)) int fill_window(struct signal *signal, size_t count)
{
    return make_given(count, &signal->window);
}

__attribute__((noipa)) int fill_all(struct signal *signal, size_t count)
{
    int all = 0;
    for (int i = 0; i < signal->count; i++)
        all += make_given(count, &signal->samples[i]);
    return all;
}

__attribute__((noipa)) int fill_whole(size_t count)
{
    return make_given(count, &whole) + 1;
}

__attribute__((noipa)) double fill_own(size_t count)
{
    double *own = NULL;
    return make_given(count, &own) ? own[count / 2] : 0;
}

int main(void)
{
    static struct signal signal = {.count = 4};
    printf("%d %g\n", fill(&signal, 9) + fill_window(&signal, 9) + fill_all(&signal, 9) + fill_whole(9), fill_own(9));
    return 0;
}
