// Wrappers of malloc that keep a header of HEADER bytes before what they return, DEPTH functions deep.
//
/// header0 type=page bytes=120|128 start=0 hot=key@72 path=with_header,checked,cleared,new_page,new_pages,main
///     name=pages,page wrappers=with_header,checked,cleared flags=-DHEADER=0
/// header0 and type=page* bytes=8 path=main name=pages
/// header8 like=header0 bytes=120|128 start=8 flags=-DHEADER=8 must=right
/// header16 like=header0 bytes=120|136 start=16 flags=-DHEADER=16 must=right
/// header24 like=header0 bytes=120|144 start=24 flags=-DHEADER=24 must=right
/// header32 like=header0 bytes=120|152 start=32 flags=-DHEADER=32 must=right
/// header64 like=header0 bytes=120|184 start=64 flags=-DHEADER=64 must=right
/// header8_array like=header0 bytes=120 start=8 flags=-DHEADER=8,-DARRAY must=right
/// header16_array like=header0 bytes=120 start=16 flags=-DHEADER=16,-DARRAY must=right
/// header32_array like=header0 bytes=120 start=32 flags=-DHEADER=32,-DARRAY must=right
/// header8_deep2 like=header0 bytes=120|128 start=8 flags=-DHEADER=8,-DDEPTH=2
/// header16_deep3 like=header0 bytes=120|136 start=16 flags=-DHEADER=16,-DDEPTH=3
/// header24_deep3 like=header0 bytes=120 start=24 flags=-DHEADER=24,-DDEPTH=3,-DARRAY
/// header16_kept like=header0 bytes=120 start=16 path=with_header,store_fill,main name=start flags=-DHEADER=16,-DARRAY must=right
/// header16_threads of=header16_array flags=-fopenmp,-DTHREADS
/// header16_O0 of=header16 flags=-O0
/// header16_O3 of=header16_array flags=-O3
/// header16_clang of=header16_array with=clang
/// header16_stripped of=header16_array strip=1
/// header16_no_debug of=header16 flags=-g0
/// wrappers_names bytes=8 type=double path=vec,main wrappers=vec name=u block=16777216
/// wrappers_names and bytes=8 type=double path=vec,main wrappers=vec name=v block=16777224
/// wrappers_names and bytes=8 type=double path=vec,main wrappers=vec name=w block=16777232
/// wrappers_names and bytes=8 type=double path=vec,main wrappers=vec name=x block=16777240
/// counted type=double bytes=8 start=8 path=counted_alloc,main name=numbers wrappers=counted_alloc must=right
/// env_list type=double bytes=8 start=any path=env_alloc,area_new,main name=val wrappers=env_alloc block=25640 must=right
/// env_list and type=int bytes=4 start=any path=env_alloc,area_new,main name=ind wrappers=env_alloc block=12836
/// env_list and type=area bytes=24 start=32 hot=val@8,ind@16,count@0 path=env_alloc,area_new,main name=area wrappers=env_alloc
/// env_list and type=double bytes=8 name=x block=128
/// env_list_large like=env_list flags=-DVECTORS=3000 block=960040 must=right
/// env_list_large and type=int bytes=4 start=any path=env_alloc,area_new,main name=ind wrappers=env_alloc block=480036
#include "shape.h"

#ifndef HEADER
#define HEADER 0
#endif
enum { N = 1 << 19 };

#if defined shape_env_list || defined shape_env_list_large
/* Numbers behind the header of an allocator that lists all its blocks. Vectors of the area are used in parts of it. */
#ifndef VECTORS
#define VECTORS 80
#endif
struct header {
    struct header *previous, *next;
    size_t bytes, more;
};
static struct {
    long count;
    struct header *blocks;
} env;
struct area {
    long count;
    double *val;
    int *ind;
};
struct factors {
    long id;
    struct area *area;
};
NI static void *env_alloc(size_t bytes)
{
    struct header *header = malloc(sizeof *header + bytes);
    memset(header, 0, sizeof *header + bytes);
    header->bytes = bytes, header->next = env.blocks;
    if (env.blocks)
        env.blocks->previous = header;
    env.blocks = header, env.count++;
    return header + 1;
}
NI static struct area *area_new(long count)
{
    struct area *area = env_alloc(sizeof *area);
    area->count = count;
    area->val = env_alloc((1 + count) * sizeof *area->val);
    area->ind = env_alloc((1 + count) * sizeof *area->ind);
    return area;
}
NI static double walk(const struct factors *factors, double *x)
{
    double sum = 0;
    for (long v = VECTORS - VECTORS / 3; v < VECTORS; v++) {
        const double *val = &factors->area->val[1 + 40 * v];
        const int *ind = &factors->area->ind[1 + 40 * v];
        for (long i = 0; i < 5 + v % 20; i++)
            sum += val[i] * x[ind[i]];
    }
    return sum;
}
int main(int argc, char **argv)
{
    struct factors factors = {1, area_new(VECTORS * 40)};
    static double x[16];
    for (long i = 1; i <= factors.area->count; i++)
        factors.area->val[i] = 1, factors.area->ind[i] = (int)i % 16;
    REPEAT(walk(&factors, x));
    return 0;
}
#elif defined shape_counted
// A count before the numbers that is as large as one of them.
NI static void *counted_alloc(size_t bytes)
{
    size_t *counted = malloc(sizeof *counted + bytes);
    if (!counted)
        abort();
    *counted = bytes;
    return counted + 1;
}
NI static double walk(double *numbers, size_t n)
{
    double sum = 0;
    EACH(i, n) sum += numbers[i], numbers[i] = sum;
    return sum;
}
int main(int argc, char **argv)
{
    double *numbers = counted_alloc(4 * N * sizeof *numbers);
    memset(numbers, 0, 4 * N * sizeof *numbers);
    REPEAT(walk(numbers, 4 * N));
    return 0;
}
#elif defined shape_wrappers_names
NI static double *vec(size_t n)
{
    double *p = malloc(n * sizeof *p);
    if (!p)
        abort();
    memset(p, 0, n * sizeof *p);
    return p;
}
NI static double walk(const double *u, const double *v, const double *w, double *x, size_t n)
{
    double sum = 0;
    EACH(i, n) sum += u[i] * v[i] + w[i], x[i] = sum;
    return sum;
}
int main(int argc, char **argv)
{
    double *u = vec(4 * N), *v = vec(4 * N + 1), *w = vec(4 * N + 2), *x = vec(4 * N + 3);
    REPEAT(walk(u, v, w, x, 4 * N));
    return 0;
}
#else
struct mutex { // few and cold, of the same size
    long words[15];
};
struct page {
    double data[9];
    long key, next, more[4];
};

NI static void *with_header(size_t bytes)
{
    char *h = malloc(bytes + HEADER);
    if (!h)
        abort();
    if (HEADER)
        memcpy(h, &bytes, sizeof bytes);
    return h + HEADER;
}
#if DEPTH >= 3
NI static void *checked(size_t bytes)
{
    void *p = with_header(bytes);
    if (!p)
        abort();
    BAR;
    return p;
}
#else
#define checked with_header
#endif
#if DEPTH >= 2
NI static void *cleared(size_t bytes)
{
    void *p = checked(bytes);
    memset(p, 0, bytes);
    return p;
}
#else
#define cleared checked
#endif
NI static struct mutex *new_mutex(long at)
{
    struct mutex *m = cleared(sizeof *m);
    memset(m, 0, sizeof *m);
    m->words[0] = at;
    return m;
}
#ifdef ARRAY
NI static double walk(const struct page *p, size_t n)
{
    double sum = 0;
    EACH(i, n) sum += (double)p[i].key;
    return sum;
}
#ifdef shape_header16_kept // by a member without a type
static struct {
    void *start;
    size_t pages;
} store;
NI static void store_fill(size_t n)
{
    store.start = with_header(n * sizeof(struct page));
    store.pages = n;
    struct page *at = store.start;
    memset(at, 0, n * sizeof *at);
    for (size_t i = 0; i < n; i++, at++)
        at->key = (long)i;
}
#else
NI static struct page *new_pages(size_t n)
{
    struct page *pages = cleared(n * sizeof *pages);
    memset(pages, 0, n * sizeof *pages);
    for (size_t i = 0; i < n; i++)
        pages[i].key = (long)i;
    return pages;
}
#endif
#else
NI static double walk(struct page *const *pages, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (double)pages[i]->key;
    return sum;
}
NI static struct page *new_page(size_t key)
{
    struct page *page = cleared(sizeof *page);
    memset(page, 0, sizeof *page);
    page->key = (long)key;
    return page;
}
#endif
int main(int argc, char **argv)
{
    struct mutex *mutexes[4];
    for (int i = 0; i < 4; i++)
        mutexes[i] = new_mutex(i);
#if defined shape_header16_kept
    store_fill(N);
    struct page *pages = store.start;
#elif defined ARRAY
    struct page *pages = new_pages(N);
#else
    struct page **pages = malloc(N * sizeof *pages);
    for (size_t i = 0; i < N; i++)
        pages[PLACE(i, N)] = new_page(i);
#endif
    REPEAT(walk(pages, N));
    return mutexes[2]->words[1] != 0;
}
#endif
