/* tree.c after following the advice: what the tour uses of a city is a small structure, the rest lies at the same index of
 * another array. Usage: see example.h. */
#include "example.h"

enum { CITIES = 1200000, NEAR = 4 };

struct city_cold {
    int size;
    struct city *left, *right;
    struct city *prev;
    char name[40];
};

struct city {
    double x, y;
    struct city *next;
};

static struct city *tour[EXAMPLE_MAX_THREADS]; /* each thread's first city */
static struct city *root[EXAMPLE_MAX_THREADS];
static struct city *cities;
static struct city_cold *colds;

static const struct example_loop loops[] = {{"tour_length", "city", "x,y,next"}, {"farthest", "city", "x,y,next"}};
enum { TOUR_LENGTH, FARTHEST, LOOPS };

static double distance(double x1, double y1, double x2, double y2)
{
    return __builtin_fabs(x1 - x2) + __builtin_fabs(y1 - y2);
}

EXAMPLE_LOOP static double tour_length(const struct city *first)
{
    double length = 0;
    double x = first->x, y = first->y;
    for (const struct city *city = first->next; city; city = city->next) {
        length += distance(x, y, city->x, city->y);
        x = city->x;
        y = city->y;
    }
    return length;
}

EXAMPLE_LOOP static double farthest(const struct city *first, double x, double y)
{
    double most = 0;
    for (const struct city *city = first; city; city = city->next) {
        double far = distance(x, y, city->x, city->y);
        if (far > most)
            most = far;
    }
    return most;
}

static struct city_cold *cold(const struct city *city)
{
    return &colds[city - cities];
}

static struct city *new_city(size_t number)
{
    struct city *city = &cities[number];
    cold(city)->size = 1;
    city->x = (double)(number * 7919 % 100003);
    city->y = (double)(number * 104729 % 100003);
    city->next = NULL;
    cold(city)->left = cold(city)->right = cold(city)->prev = NULL;
    snprintf(cold(city)->name, sizeof cold(city)->name, "city %zu", number);
    return city;
}

/* Makes the cities, and links them to a tour that goes through each neighbourhood of NEAR cities in disorder. */
EXAMPLE_LOOP static void build(struct example_thread *thread)
{
    struct city *near[NEAR], *last = NULL;
    for (size_t start = thread->first; start < thread->end; start += NEAR) {
        size_t count = thread->end - start < NEAR ? thread->end - start : NEAR;
        for (size_t i = 0; i < count; i++)
            near[i] = new_city(start + i);
        for (size_t i = count; i > 1; i--) {
            size_t other = (start + i) * 2654435761u % i;
            struct city *city = near[i - 1];
            near[i - 1] = near[other];
            near[other] = city;
        }
        for (size_t i = 0; i < count; i++) {
            struct city *city = near[i];
            cold(city)->left = near[i / 2];
            cold(city)->right = near[(i + count) / 2 % count];
            cold(city)->prev = last;
            if (last)
                last->next = city;
            else
                tour[thread->number] = root[thread->number] = city;
            last = city;
        }
    }
}

static void *work(void *argument)
{
    struct example_thread *thread = argument;
    build(thread);
    const struct city *first = tour[thread->number];
    for (unsigned round = 0; round < thread->rounds; round++) {
        double far = 0;
        EXAMPLE_TIME(thread, TOUR_LENGTH, thread->checksum += tour_length(first));
        for (unsigned corner = 0; corner < 3; corner++)
            EXAMPLE_TIME(thread, FARTHEST, far += farthest(first, round * 100, corner * 5000));
        thread->checksum += far;
    }
    return NULL;
}

int main(int argc, char **argv)
{
    static struct example example;
    example_arguments(&example, argc, argv, 90);
    cities = example_allocate(CITIES, sizeof *cities);
    colds = example_allocate(CITIES, sizeof *colds);
    example_run(&example, CITIES, work);
    example_report(&example, loops, LOOPS);
    return (int)cold(root[0])->name[0] == 0; /* the cities live to the end */
}
