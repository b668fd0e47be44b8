/* Of two lists of one base, the elements of the first have a shape behind it and those of the second a number: only the shape has a
 * variable of its own. */
#include <stdio.h>

struct link {
    struct link *next;
    long kind;
};

struct shape {
    double width, height;
};

struct number {
    struct link base;
    double value;
};

__attribute__((noipa)) double both(const struct link *shapes, const struct link *numbers)
{
    double sum = 0;
    for (; shapes; shapes = shapes->next) {
        const struct shape *shape = (const struct shape *)(shapes + 1);
        sum += shape->width * shape->height;
    }
    for (; numbers; numbers = numbers->next)
        sum += ((const struct number *)numbers)->value;
    return sum;
}

int main(void)
{
    struct {
        struct link base;
        struct shape shape;
    } circle = {.shape = {2, 3}};
    struct number number = {.value = 4};
    printf("%g\n", both(&circle.base, &number.base));
    return 0;
}
