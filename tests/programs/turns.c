/* Threads that meet in every way that threads do: a mutex, a condition, a barrier, pipes, threads that begin and end. Each
 * writes down when it gets somewhere; the order of all that is what the program prints. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { THREADS = 6, ROUNDS = 300, SHORT_LIVED = 40 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static int turn, pipes[THREADS][2];
static unsigned long order = 1469598103934665603u;
static volatile unsigned long work;

static void reached(unsigned long where)
{
    order = (order ^ where) * 1099511628211u;
}

static void compute(unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        work += i;
}

static void *meet(void *given)
{
    unsigned long me = (unsigned long)given;
    for (unsigned i = 0; i < ROUNDS; i++) { /* whoever comes first */
        compute((unsigned)(me * 37 + i * 11) % 500);
        pthread_mutex_lock(&mutex);
        reached(me);
        compute(i % 7 ? 10 : 2000);
        pthread_mutex_unlock(&mutex);
    }
    pthread_barrier_wait(&barrier);
    for (unsigned i = 0; i < ROUNDS / 10; i++) { /* anybody, as many wake at once */
        pthread_mutex_lock(&mutex);
        if (++turn % THREADS)
            pthread_cond_wait(&condition, &mutex);
        else
            pthread_cond_broadcast(&condition);
        reached(me + 100);
        pthread_mutex_unlock(&mutex);
        pthread_barrier_wait(&barrier);
    }
    for (unsigned i = 0; i < ROUNDS / 10; i++) { /* through the kernel */
        char byte = (char)i;
        if (write(pipes[(me + 1) % THREADS][1], &byte, 1) != 1 || read(pipes[me][0], &byte, 1) != 1)
            exit(1);
        pthread_mutex_lock(&mutex);
        reached(me + 200);
        pthread_mutex_unlock(&mutex);
    }
    return NULL;
}

static void *pass(void *given)
{
    compute((unsigned)(unsigned long)given % 5 * 300);
    pthread_mutex_lock(&mutex);
    reached((unsigned long)given + 1000);
    pthread_mutex_unlock(&mutex);
    return NULL;
}

int main(void)
{
    pthread_t threads[SHORT_LIVED];
    pthread_barrier_init(&barrier, NULL, THREADS);
    for (int i = 0; i < THREADS; i++)
        if (pipe(pipes[i]))
            return 1;
    for (unsigned long i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, meet, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (unsigned long i = 0; i < SHORT_LIVED; i++)
        pthread_create(&threads[i], NULL, pass, (void *)i);
    for (int i = 0; i < SHORT_LIVED; i++) {
        pthread_join(threads[i], NULL);
        reached((unsigned long)i + 2000);
    }
    return printf("%016lx\n", order) < 0;
}
