// Allocates small blocks in every way there is, churns them, writes down where each lies in the end, and then walks them.
// The file given gets "BEGIN SIZE LINE" of each live block and the time from which on nothing is moved any more.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <malloc.h>
#include <pthread.h>
#include <utility>
#include <vector>

struct block {
    volatile uint64_t *at;
    size_t size;
    int line;
};

static std::vector<block> blocks;
static uint64_t random_state = 88172645463325252u;

static uint64_t random_next()
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    return random_state ^= random_state << 17;
}

struct ball { uint64_t words[7]; };

// Whose blocks they are, its callers tell.
static __attribute__((noinline)) ball *make_ball()
{
    ball *made = new ball;
    made->words[0] = random_state;
    return made;
}

// More places than the dictionary of 64 KiB has entries.
template <int place> static __attribute__((noinline)) void *make_at()
{
    void *made = malloc(48);
    *(volatile int *)made = place;
    return made;
}

template <int... places> static void *make_at_one(std::integer_sequence<int, places...>, unsigned which)
{
    static void *(*const all[])() = {make_at<places>...};
    return all[which % sizeof...(places)]();
}

static block make(unsigned kind)
{
    size_t size = 8 + random_next() % 40 * 8;
    void *at;
    switch (kind) {
    case 0: at = malloc(40); return {(volatile uint64_t *)at, 40, __LINE__};
    case 1: at = calloc(3, 16); return {(volatile uint64_t *)at, 48, __LINE__};
    case 2: at = new ball; return {(volatile uint64_t *)at, sizeof(ball), __LINE__};
    case 3: at = new uint64_t[9]; return {(volatile uint64_t *)at, 72, __LINE__};
    case 11: at = make_ball(); return {(volatile uint64_t *)at, sizeof(ball), __LINE__};
    case 12: at = make_ball(); return {(volatile uint64_t *)at, sizeof(ball), __LINE__};
    case 4: at = aligned_alloc(64, 128); return {(volatile uint64_t *)at, 128, __LINE__};
    case 5: if (posix_memalign(&at, 32, 96)) abort(); return {(volatile uint64_t *)at, 96, __LINE__};
    case 6: at = realloc(malloc(24), 56); return {(volatile uint64_t *)at, 56, __LINE__};
    case 7: at = realloc(realloc(nullptr, 600), 32); return {(volatile uint64_t *)at, 32, __LINE__};
    case 8: at = strdup("twenty-three characters"); return {(volatile uint64_t *)at, 24, __LINE__};
    case 13: at = make_at_one(std::make_integer_sequence<int, 400>(), (unsigned)random_next()); return {(volatile uint64_t *)at, 48, __LINE__};
    case 14: size *= 100; at = malloc(size); return {(volatile uint64_t *)at, size, __LINE__};
    case 9: at = malloc(30000); return {(volatile uint64_t *)at, 30000, __LINE__};
    default: at = malloc(size); return {(volatile uint64_t *)at, size, __LINE__};
    }
}

static unsigned kind_of(unsigned turn)
{
    return turn % 997 == 0 ? 9 : turn % 101 == 0 ? 14 : turn % 13 == 9 ? 10 : turn % 13 == 3 ? 13 : turn % 13;
}

static void drop(const block &block)
{
    if (block.line == 0)
        return;
    free((void *)block.at); // glibc's operator delete is free
}

static void *churn_elsewhere(void *)
{
    void *kept[64] = {};
    for (unsigned i = 0; i < 200000; i++) {
        void *&place = kept[i % 64];
        free(place);
        place = malloc(16 + i % 300);
    }
    for (void *place : kept)
        free(place);
    return nullptr;
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    pthread_t thread;
    pthread_create(&thread, nullptr, churn_elsewhere, nullptr);
    for (unsigned i = 0; i < 60000; i++)
        blocks.push_back(make(kind_of(i)));
    for (unsigned i = 0; i < 200000; i++) {
        block &old = blocks[random_next() % blocks.size()];
        drop(old);
        old = make(kind_of(i));
    }
    pthread_join(thread, nullptr);
    FILE *file = fopen(argv[1], "w");
    for (const block &block : blocks)
        fprintf(file, "%llx %zu %d\n", (unsigned long long)(uintptr_t)block.at, block.size, block.line);
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    fprintf(file, "from %lld\n", (long long)now.tv_sec * 1000000000 + now.tv_nsec);
    fclose(file);
    uint64_t sum = 0;
    for (int round = 0; round < (argc > 2 ? atoi(argv[2]) : 80); round++)
        for (size_t i = 0, at = 0; i < blocks.size(); i++) {
            at = (at + 30011) % blocks.size();
            const block &block = blocks[at];
            for (size_t word = 0; word < block.size / 8; word += 1 + word / 16)
                sum += block.at[word];
        }
    printf("%d\n", sum == 1);
    return 0;
}
