#include "web/preparing.h"

#include "base/arena.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct lwp_preparing {
    pthread_t thread;
    pthread_mutex_t mutex; /* of all below */
    pthread_cond_t ended;
    bool over, left; /* left: the thread frees it */
    int status;
    json_t *made;
    struct lwp_error err;
    lwp_preparing_work *work;
    char dir[];
};

static void preparing_free(struct lwp_preparing *preparing)
{
    pthread_mutex_destroy(&preparing->mutex);
    pthread_cond_destroy(&preparing->ended);
    json_decref(preparing->made);
    free(preparing);
}

static void *preparing_run(void *context)
{
    struct lwp_preparing *preparing = context;
    struct lwp_error err = {0};
    json_t *made = NULL;
    int status = preparing->work(preparing->dir, &made, &err);
    pthread_mutex_lock(&preparing->mutex);
    preparing->status = status;
    preparing->made = made;
    preparing->err = err;
    preparing->over = true;
    bool left = preparing->left;
    pthread_cond_signal(&preparing->ended);
    pthread_mutex_unlock(&preparing->mutex);
    if (left)
        preparing_free(preparing);
    return NULL;
}

int lwp_preparing_start(struct lwp_preparing **made, const char *dir, lwp_preparing_work *work, struct lwp_error *err)
{
    struct lwp_preparing *preparing = lwp_allocated(calloc(1, sizeof *preparing + strlen(dir) + 1));
    *made = NULL;
    pthread_mutex_init(&preparing->mutex, NULL);
    pthread_cond_init(&preparing->ended, NULL);
    preparing->work = work;
    memcpy(preparing->dir, dir, strlen(dir) + 1);
    if (pthread_create(&preparing->thread, NULL, preparing_run, preparing)) {
        preparing_free(preparing);
        return lwp_error_set(err, LWP_ERR_SYSTEM, "cannot start the analysis: no thread for it");
    }
    *made = preparing;
    return 0;
}

bool lwp_preparing_wait(struct lwp_preparing *preparing, int milliseconds)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += milliseconds * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_mutex_lock(&preparing->mutex);
    while (!preparing->over && pthread_cond_clockwait(&preparing->ended, &preparing->mutex, CLOCK_MONOTONIC, &until) != ETIMEDOUT)
        ;
    bool over = preparing->over;
    pthread_mutex_unlock(&preparing->mutex);
    return over;
}

int lwp_preparing_end(struct lwp_preparing *preparing, json_t **made, struct lwp_error *err)
{
    pthread_join(preparing->thread, NULL);
    int status = preparing->status;
    if (made) {
        *made = preparing->made;
        preparing->made = NULL;
    }
    if (err)
        *err = preparing->err;
    preparing_free(preparing);
    return status;
}

void lwp_preparing_leave(struct lwp_preparing *preparing)
{
    if (!preparing)
        return;
    pthread_mutex_lock(&preparing->mutex);
    preparing->left = true;
    bool over = preparing->over;
    if (!over)
        pthread_detach(preparing->thread);
    pthread_mutex_unlock(&preparing->mutex);
    if (over)
        lwp_preparing_end(preparing, NULL, NULL);
}
