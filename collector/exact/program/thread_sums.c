#include "collector/exact/program/thread_sums.h"

struct lwp_thread_sums *lwp_thread_sums_of(struct lwp_thread_sums **list, struct lwp_thread_sums **of_thread)
{
    if (!*of_thread) {
        *of_thread = VG_(calloc)("lwp.sums", 1, sizeof **of_thread);
        (*of_thread)->number = *list ? (*list)->number + 1 : 1;
        (*of_thread)->next = *list;
        *list = *of_thread;
    }
    return *of_thread;
}

void lwp_thread_sums_clear(struct lwp_thread_sums *list)
{
    for (; list; list = list->next)
        VG_(memset)(list->sum, 0, sizeof list->sum);
}

static uint64_t sums_number(const struct lwp_thread_sums *sums, int which)
{
    return which < 0 ? 0 : sums->sum[which];
}

void lwp_thread_sums_write(const struct lwp_thread_sums *list, struct lwps_writer *file, const struct lwp_thread_sums_record *what)
{
    for (; list; list = list->next) {
        struct lwps_contribution record = {.verdict = what->verdict,
                                           .moves = what->moves,
                                           .thread = list->number,
                                           .all = sums_number(list, what->all),
                                           .waste = sums_number(list, what->waste),
                                           .close = sums_number(list, what->close)};
        if (record.all || record.waste || record.close)
            lwps_put_contribution(file, &record);
    }
}
