/* A master makes tasks of TASK words, one after the other, for three workers, and each worker answers with as many. Worker
 * 1 gets 4 of 7 rounds, worker 2 gets 2, worker 3 gets 1: of all words read from another thread, 4, 2 and 1 of 14 go from
 * the master to the workers, and as many back. With -DUNEVEN worker 2 answers with half as many words and worker 3 with a
 * quarter: its way back is one of 49.
 * The workers share a processor and the master has another one.
 * master_worker [CPU-SECONDS]; see handover.h. */
#include "handover.h"

enum { WORKERS = 3, TASK = 4096 };
enum { IDLE, ASKED, ANSWERED, ENDED };

struct desk {
    _Alignas(128) atomic_int state;
    _Alignas(128) unsigned long task[TASK];
    _Alignas(128) unsigned long answer[TASK];
    _Alignas(128) unsigned long read, answers_read;
    int number;
};

static struct desk desks[WORKERS];
static unsigned long sums;

static int answer_of(int worker)
{
#ifdef UNEVEN
    return TASK >> worker;
#else
    (void)worker;
    return TASK;
#endif
}

static void *work(void *given)
{
    int self = (int)(long)given;
    struct desk *desk = &desks[self];
    desk->number = gettid();
    stay_on(1);
    for (unsigned long round = 1; wait_for(&desk->state, ASKED, ENDED); round++) {
        desk->read += TASK;
        unsigned long sum = add_words(desk->task, TASK);
        make_words(desk->answer, answer_of(self), round ^ sum);
        tell(&desk->state, ANSWERED);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    static const int order[] = {0, 1, 0, 2, 0, 1, 0};
    double seconds = argc > 1 ? atof(argv[1]) : 2;
    pthread_t threads[WORKERS];
    for (long i = 0; i < WORKERS; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    stay_on(0); /* what they have taken over is the whole of the processors */
    for (unsigned long round = 0; seconds_spent() < seconds; round++)
        for (int i = 0; i < 7; i++) {
            struct desk *desk = &desks[order[i]];
            make_words(desk->task, TASK, round + (unsigned long)i);
            tell(&desk->state, ASKED);
            wait_for(&desk->state, ANSWERED, ENDED);
            sums += add_words(desk->answer, answer_of(order[i]));
            desk->answers_read += (unsigned long)answer_of(order[i]);
        }
    for (int i = 0; i < WORKERS; i++)
        tell(&desks[i].state, ENDED);
    for (int i = 0; i < WORKERS; i++) {
        pthread_join(threads[i], NULL);
        printf("%d %d %lu\n%d %d %lu\n", gettid(), desks[i].number, desks[i].read, desks[i].number, gettid(),
               desks[i].answers_read);
    }
    return sums == 1;
}
