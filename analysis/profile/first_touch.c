#include "analysis/profile/first_touch.h"

#include "base/arena.h"

#include "base/order.h"

enum { PAGE_BITS = 12 };

void lwp_first_touch_begin(struct lwp_first_touch *touch, const struct lwp_hierarchy_plan machines[LWP_MACHINES])
{
    lwp_first_touch_free(touch);
    for (size_t i = 0; i < LWP_MACHINES && touch->nodes < 2; i++)
        if (machines[i].nodes > 1 && machines[i].nodes <= LWP_TOUCH_NODES && machines[i].cores >= machines[i].nodes) {
            touch->nodes = machines[i].nodes;
            touch->threads = (machines[i].cores + machines[i].nodes - 1) / machines[i].nodes;
        }
}

void lwp_first_touch_free(struct lwp_first_touch *touch)
{
    lwp_map_fini(&touch->index);
    free(touch->pages);
    *touch = (struct lwp_first_touch){.last_page = UINT64_MAX};
}

bool lwp_first_touch_access(struct lwp_first_touch *touch, unsigned thread, uint64_t address, uint32_t object)
{
    unsigned node = thread / touch->threads % touch->nodes;
    if (address >> PAGE_BITS != touch->last_page) {
        uint32_t *at = lwp_map_at(&touch->index, address >> PAGE_BITS);
        if (lwp_number_new(at, touch->count))
            LWP_APPEND(&touch->pages, &touch->count, &touch->room, (struct lwp_touched_page){.object = object, .node = node});
        touch->last = *at;
        touch->last_page = address >> PAGE_BITS;
    }
    struct lwp_touched_page *page = &touch->pages[touch->last];
    page->from[node] += page->from[node] < UINT32_MAX;
    return page->node == node;
}

struct lwp_touched lwp_first_touch_page(const struct lwp_first_touch *touch, size_t i)
{
    const struct lwp_touched_page *page = &touch->pages[i];
    struct lwp_touched touched = {.object = page->object, .local = page->from[page->node]};
    for (unsigned node = 0; node < touch->nodes; node++) {
        touched.accesses += page->from[node];
        LWP_RAISE(touched.best, page->from[node]);
    }
    return touched;
}
