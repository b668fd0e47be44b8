/* Four threads in a ring: thread i fills a mailbox for thread i + 1, which reads each word once and then gives the mailbox
 * back. So a quarter of all communication is in each cell (i, i + 1) of the matrix and nothing but flags anywhere else. With
 * -DWEIGHTS the mailbox of thread i is (i + 1) quarters full: shares of 1, 2, 3 and 4 tenths. With -DBARRIER all threads meet at a
 * barrier of the C library instead, after few words: its own words are read by everybody, and take most of the time.
 * Each thread and the next are on different processors.
 * ring [CPU-SECONDS]; see handover.h. */
#include "handover.h"

#ifdef BARRIER
enum { THREADS = 4, SIZE = 512 };
#else
enum { THREADS = 4, SIZE = 8192 };
#endif
enum { EMPTY, FULL, ENDED };

struct mailbox {
    _Alignas(128) atomic_int state;
    _Alignas(128) unsigned long words[SIZE];
};

static struct mailbox mailboxes[THREADS];
static unsigned long received[THREADS], sums[THREADS];
static int numbers[THREADS];
static double seconds = 2;

static int words_of(int thread)
{
#ifdef WEIGHTS
    return (thread + 1) * SIZE / THREADS;
#else
    (void)thread;
    return SIZE;
#endif
}

#ifdef BARRIER
static pthread_barrier_t barrier;

static void *work(void *given)
{
    int self = (int)(long)given, before = (self + THREADS - 1) % THREADS;
    static atomic_int ended;
    numbers[self] = gettid();
    stay_on(self);
    for (unsigned long round = 1; !atomic_load(&ended); round++) {
        make_words(mailboxes[self].words, SIZE, round);
        pthread_barrier_wait(&barrier);
        sums[self] += add_words(mailboxes[before].words, SIZE);
        received[self] += SIZE;
        pthread_barrier_wait(&barrier);
        if (self == 0 && round % 64 == 0)
            atomic_store(&ended, seconds_spent() > seconds);
        pthread_barrier_wait(&barrier);
    }
    return NULL;
}
#else
static void *work(void *given)
{
    int self = (int)(long)given, before = (self + THREADS - 1) % THREADS;
    struct mailbox *out = &mailboxes[self], *in = &mailboxes[before];
    numbers[self] = gettid();
    stay_on(self);
    for (unsigned long round = 1; wait_for(&out->state, EMPTY, ENDED); round++) {
        make_words(out->words, words_of(self), round);
        tell(&out->state, FULL);
        if (!wait_for(&in->state, FULL, ENDED))
            break;
        sums[self] += add_words(in->words, words_of(before));
        received[self] += (unsigned long)words_of(before);
        if (round % 64 == 0 && seconds_spent() > seconds)
            break;
        tell(&in->state, EMPTY);
    }
    tell(&out->state, ENDED);
    tell(&in->state, ENDED);
    return NULL;
}
#endif

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    if (argc > 1)
        seconds = atof(argv[1]);
#ifdef BARRIER
    pthread_barrier_init(&barrier, NULL, THREADS);
#endif
    for (long i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++)
        printf("%d %d %lu\n", numbers[(i + THREADS - 1) % THREADS], numbers[i], received[i]);
    return 0;
}
