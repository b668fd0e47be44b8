// Ways to look something up, and loops that only look like it. Each function has one loop.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <vector>

struct item {
    item *next, *left, *right;
    long key, value;
};
#define CASE extern "C" __attribute__((noinline)) long

CASE scan_early(const double *a, long n, double value) /* particlefilter's findIndex() */
{
    for (long i = 0; i < n; i++)
        if (a[i] >= value)
            return i;
    return -1;
}

static inline int scan_again(const double *a, int n, double value)
{
    int index = -1;
    for (int i = 0; i < n; i++)
        if (a[i] >= value) {
            index = i;
            break;
        }
    return index == -1 ? n - 1 : index;
}

CASE scan_ints(const int *a, int n, int value)
{
    int i = 0;
    while (i < n && a[i] != value)
        i++;
    return i;
}

/* What inlining makes of the first one: the counter goes through another register. */
CASE scan_inlined(const double *a, long n, const double *values, long *to, long count)
{
    for (long k = 0; k < count; k++)
        to[k] = scan_again(a, (int)n, values[k]);
    return to[0];
}

CASE scan_items(const item *a, long n, long key)
{
    for (long i = 0; i < n; i++)
        if (a[i].key == key)
            return a[i].value;
    return 0;
}

CASE scan_pointers(const item *const *a, long n, long key) /* the elements lie anywhere */
{
    for (long i = 0; i < n; i++)
        if (a[i]->key == key)
            return i;
    return -1;
}

CASE scan_pointers_vector(const std::vector<item *> &a, const item &like) /* as an open list of A* is searched */
{
    std::vector<item *>::const_iterator found;
    for (found = a.begin(); found != a.end(); found++)
        if ((*found)->key == like.key && (*found)->value == like.value)
            break;
    return found - a.begin();
}

CASE none_pointers_sum(const item *const *a, long n, long key)
{
    long sum = 0;
    for (long i = 0; i < n; i++)
        if (a[i]->key < key)
            sum += a[i]->value;
    return sum;
}

CASE none_pointers_field(const item *const *a, long n, long key) /* of one element, whose field changes */
{
    long i = 0;
    const volatile item *only = a[0];
    while (i < n && only->key != key)
        i++;
    return i;
}

CASE all_last(const item *a, long n, long key) /* the thesis's listing 4.5: goes on when it has found */
{
    long found = -1;
    for (long i = 0; i < n; i++)
        if (a[i].key <= key && key < a[i].value)
            found = i;
    return found;
}

CASE all_list(const item *at, long key) /* the same of a list */
{
    const item *found = nullptr;
    for (; at; at = at->next)
        if (at->key <= key && key < at->value)
            found = at;
    return found ? found->value : 0;
}

struct group {
    group *next;
    const item *items;
};

CASE all_nested(const group *groups, long key) /* as binutils has it: the tightest of all ranges in a list of lists */
{
    const group *best = nullptr;
    long best_length = 0;
    for (const group *each = groups; each; each = each->next)
        for (const item *at = each->items; at; at = at->next)
            if (key >= at->key && key < at->value && (!best || at->value - at->key < best_length)) {
                best = each;
                best_length = at->value - at->key;
            }
    return best ? best_length : 0;
}

/* By a constant, a state or a delimiter: nothing that a table could be looked up by. */
CASE none_state(const int *clause, const int *is_false) /* microsat's propagate() */
{
    long i = 0;
    while (clause[i] && is_false[clause[i]])
        i++;
    return i;
}

CASE none_list_state(const item *at)
{
    while (at && at->key != 7)
        at = at->next;
    return at ? at->value : 0;
}

CASE none_delimiter(const char *text)
{
    const char *at = text;
    while (*at && *at != ',')
        at++;
    return at - text;
}

CASE none_list_count(const item *at, long key)
{
    long count = 0;
    for (; at; at = at->next)
        count += at->key == key;
    return count;
}

CASE none_list_sum(const item *at, long key)
{
    long sum = 0;
    for (; at; at = at->next)
        if (at->key < key)
            sum += at->value;
    return sum;
}

CASE none_list_calls(const item *at, long key)
{
    for (; at; at = at->next)
        if (at->key < key)
            std::puts("one");
    return key;
}

CASE list_find(const item *at, long key)
{
    while (at && at->key != key)
        at = at->next;
    return at ? at->value : 0;
}

CASE tree_find(const item *at, long key)
{
    while (at && at->key != key)
        at = key < at->key ? at->left : at->right;
    return at ? at->value : 0;
}

/* Entries with a key that a function compares. */
struct entry {
    entry *next, *left, *right;
    const char *key;
    size_t length;
    long value;
};

CASE scan_compared(const char *const *keys, long n, const char *key)
{
    for (long i = 0; i < n; i++)
        if (strcmp(keys[i], key) == 0)
            return i;
    return -1;
}

CASE list_compared(const entry *at, const char *key, size_t length) /* gawk's str_find() */
{
    for (; at; at = at->next)
        if (at->length == length && memcmp(at->key, key, length) == 0)
            return at->value;
    return 0;
}

CASE tree_compared(const entry *at, const char *key) /* mujs' lookup() */
{
    while (at) {
        int c = strcmp(key, at->key);
        if (c == 0)
            return at->value;
        at = c < 0 ? at->left : at->right;
    }
    return 0;
}

CASE halves_compared(const char *const *keys, long n, const char *key)
{
    long low = 0, high = n - 1;
    while (low <= high) {
        long middle = (low + high) / 2;
        int c = strcmp(keys[middle], key);
        if (c == 0)
            return middle;
        if (c < 0)
            low = middle + 1;
        else
            high = middle - 1;
    }
    return -1;
}

__attribute__((noinline)) static bool same_text(const char *a, const char *b) /* changes nothing */
{
    while (*a && *a == *b)
        a++, b++;
    return *a == *b;
}

static long compared, *seen = &compared;
__attribute__((noinline)) static bool same_text_counted(const char *a, const char *b)
{
    ++*seen;
    return same_text(a, b);
}

__attribute__((noinline)) static bool first_is_letter(const char *text)
{
    return (*text | 32) >= 'a' && (*text | 32) <= 'z';
}

CASE list_named(const entry *at, const char *key) /* cJSON's get_object_item(), pugixml's child() */
{
    for (; at; at = at->next)
        if (at->key && strcmp(key, at->key) == 0)
            return at->value;
    return 0;
}

CASE list_nested_named(const entry *at, const char *key) /* of which compilers make a loop in a loop that go along one list */
{
    for (; at; at = at->next) {
        const char *name = at->key;
        if (name && *name == *key && strcmp(name, key) == 0)
            return at->value;
    }
    return 0;
}

CASE list_by_own(const entry *at, const char *key)
{
    for (; at; at = at->next)
        if (same_text(at->key, key))
            return at->value;
    return 0;
}

CASE list_own_compared(const entry *at, const char *key)
{
    for (; at; at = at->next)
        if (same_text(at->key, key))
            return at->value;
    return 0;
}

struct table {
    const char **keys;
    unsigned *hashes;
    unsigned long size;
    long used;
};

/* iniparser's dictionary_set(): a register that the call may change is kept over it on the stack. */
CASE scan_spilled_compared(const table *of, const char *key, const char *value, unsigned hash)
{
    const long used = of->used;
    unsigned long size = of->size, i = 0;
    if (used)
        for (; i < size; i++)
            if (of->keys[i] && of->hashes[i] == hash && strcmp(key, of->keys[i]) == 0)
                return (long)strlen(value);
    if (used == (long)size)
        return (long)(strlen(value) + strlen(key)) + hash;
    return of->keys[used] == key;
}

CASE none_spilled_compared(const entry *at, const char *key) /* what it puts on the stack is used there */
{
    volatile long nearest = 0;
    for (; at; at = at->next) {
        nearest = at->value;
        if (at->key && strcmp(key, at->key) == 0)
            break;
    }
    return nearest;
}

CASE none_calls_counted(const entry *at, const char *key)
{
    for (; at; at = at->next)
        if (same_text_counted(at->key, key))
            return at->value;
    return 0;
}

CASE none_counted_compared(const entry *at, const char *key)
{
    for (; at; at = at->next)
        if (same_text_counted(at->key, key))
            return at->value;
    return 0;
}

/* Calls on calls: too many below the first of them to be sure, few below the last ones. */
#define DEEP(name, next)                                                                                                                   \
    __attribute__((noinline)) static bool name(const char *a, const char *b)                                                               \
    {                                                                                                                                      \
        return *a && next(a + 1, b);                                                                                                       \
    }
DEEP(deep_9, same_text)
DEEP(deep_8, deep_9)
DEEP(deep_7, deep_8)
DEEP(deep_6, deep_7)
DEEP(deep_5, deep_6)
DEEP(deep_4, deep_5)
DEEP(deep_3, deep_4)
DEEP(deep_2, deep_3)
DEEP(deep_1, deep_2)

CASE none_deep_compared(const entry *at, const char *key)
{
    for (; at; at = at->next)
        if (deep_1(at->key, key))
            return at->value;
    return 0;
}

CASE scan_less_deep_compared(const char *const *keys, long n, const char *key) /* asked about after the other one */
{
    for (long i = 0; i < n; i++)
        if (deep_7(keys[i], key))
            return i;
    return -1;
}

CASE none_checked(const entry *at) /* each one is looked at, and nothing is looked for */
{
    for (; at; at = at->next)
        if (!first_is_letter(at->key))
            return at->value;
    return 0;
}

CASE none_lengths(const entry *at, const char *key) /* a sum until it is found */
{
    long sum = 0;
    for (; at && strcmp(key, at->key); at = at->next)
        sum = sum * 31 + (long)strlen(at->key);
    return sum;
}

CASE none_shown(const entry *at, const char *key)
{
    for (; at && strcmp(key, at->key); at = at->next)
        std::puts(at->key);
    return at ? at->value : 0;
}

CASE none_sorted(const char *const *keys, long n) /* sorted? */
{
    long out = 0;
    for (long i = 1; i < n; i++)
        out += strcmp(keys[i - 1], keys[i]) > 0;
    return out;
}

CASE tree_lower(const item *at, long key)
{
    const item *best = nullptr;
    while (at)
        if (at->key < key) {
            at = at->right;
        } else {
            best = at;
            at = at->left;
        }
    return best ? best->value : 0;
}

CASE tree_of_each(const item *root, const long *keys, long n) /* how many are not there */
{
    for (long i = 0; i < n; i++) {
        const item *at = root, *found = nullptr;
        while (at) {
            const bool left = keys[i] < at->key;
            found = left ? found : at;
            at = left ? at->left : at->right;
        }
        if (!found || found->key < keys[i])
            return i;
    }
    return n;
}

CASE tree_map(const std::map<long, long> &map, long key)
{
    auto found = map.find(key);
    return found == map.end() ? 0 : found->second;
}

CASE halves_branches(const long *a, long n, long key)
{
    long low = 0, high = n - 1;
    while (low <= high) {
        long middle = (low + high) / 2;
        if (a[middle] == key)
            return middle;
        if (a[middle] < key)
            low = middle + 1;
        else
            high = middle - 1;
    }
    return -1;
}

CASE halves_lower(const long *a, unsigned long n, long key)
{
    const long *first = a;
    while (n > 0) {
        unsigned long half = n >> 1;
        if (first[half] < key) {
            first += half + 1;
            n -= half + 1;
        } else {
            n = half;
        }
    }
    return first - a;
}

CASE none_sum(const long *a, long n)
{
    long sum = 0;
    for (long i = 0; i < n; i++)
        sum += a[i];
    return sum;
}

CASE none_sum_until(const long *a, long n)
{
    long sum = 0;
    for (long i = 0; i < n && a[i] >= 0; i++)
        sum += a[i] * 3;
    return sum;
}

CASE none_dot(const double *a, const double *b, long n)
{
    double sum = 0;
    for (long i = 0; i < n; i++)
        sum += a[i] * b[i];
    return (long)sum;
}

CASE none_count(const int *a, long n, int key)
{
    long count = 0;
    for (long i = 0; i < n; i++)
        count += a[i] == key;
    return count;
}

CASE none_sum_of_some(const item *a, long n, long key) /* compilers choose the sum or what it was, with no jump */
{
    long sum = 0;
    for (long i = 0; i < n; i++)
        if (a[i].key > key)
            sum += a[i].key;
    return sum;
}

CASE none_sum_of_large(const item *a, long n)
{
    unsigned long sum = 0;
    for (long i = 0; i < n; i++) {
        unsigned long low = (unsigned long)a[i].key >> 28 & 4095;
        if (low > 2000)
            sum += low;
    }
    return (long)sum;
}

CASE none_product_of_some(const item *a, long n, long key)
{
    long product = 1;
    for (long i = 0; i < n; i++)
        if (a[i].key > key)
            product *= a[i].value;
    return product;
}

CASE all_least(const item *a, long n, long key) /* the nearest from above */
{
    long found = -1, least = 1L << 62;
    for (long i = 0; i < n; i++)
        if (a[i].key > key && a[i].key < least) {
            least = a[i].key;
            found = i;
        }
    return found;
}

CASE none_chain(const item *at, long n) /* a random ring */
{
    long sum = 0;
    for (long i = 0; i < n; i++) {
        sum += at->key;
        at = at->next;
    }
    return sum;
}

CASE none_chain_only(const item *at, long n)
{
    while (n--)
        at = at->next;
    return at->key;
}

CASE none_random(const long *a, long n, uint64_t mask)
{
    uint64_t at = 1, sum = 0;
    for (long i = 0; i < n; i++) {
        at = at * 6364136223846793005u + 1;
        sum += (uint64_t)a[at >> 33 & mask];
    }
    return (long)sum;
}

struct tower {
    long key;
    tower *next[12];
};

CASE none_levels(const tower *at, int level, long key) /* a skip list: few nodes of each level */
{
    for (; level >= 0; level--)
        while (at->next[level] && at->next[level]->key < key)
            at = at->next[level];
    return at->key;
}

CASE none_copy(long *a, const long *b, long n)
{
    for (long i = 0; i < n; i++) {
        if (b[i] == 0)
            break;
        a[i] = b[i];
    }
    return a[0];
}

CASE none_resumed(item *a, const item *end, long key) /* each search goes on where the last one ended, as in std::sort's partition */
{
    while (a < end) {
        while (a->key < key)
            ++a;
        a->value = 0;
        ++a;
    }
    return a->key;
}

CASE none_bucket(const long *bucket, unsigned long from, long key) /* stb_ds: eight slots, no more */
{
    for (unsigned long i = from & 7; i < 8; i++) {
        if (bucket[i] == key)
            return (long)i;
        if (!bucket[i])
            return -1;
    }
    return -2;
}

CASE none_words(const char *at, const char **words)
{
    while (*at) {
        while (*at == ' ')
            at++;
        *words++ = at;
        while (*at && *at != ' ')
            at++;
    }
    return (long)*words[-1];
}

struct place { /* not trivial to copy, so that it is handed back in memory, each step of it stored there (RapidJSON's FindMember()) */
    const entry *at;
    place(const entry *to) : at(to)
    {
    }
    place(const place &other) : at(other.at)
    {
    }
};

place scan_place(const entry *a, const entry *end, const char *key) __asm__("scan_place_compared");

__attribute__((noinline)) place scan_place(const entry *a, const entry *end, const char *key)
{
    place found(a);
    for (; found.at != end; ++found.at)
        if (strcmp(found.at->key, key) == 0)
            break;
    return found;
}

int main()
{
    std::map<long, long> map{{1, 2}, {3, 4}};
    std::vector<long> a(100, 1), b(100, 2);
    std::vector<double> c(100, 1);
    std::vector<int> d(100, 1);
    item items[2] = {{nullptr, nullptr, nullptr, 1, 5}, {&items[0], &items[0], nullptr, 2, 6}};
    items[0].next = &items[1];
    item last = {nullptr, nullptr, nullptr, 3, 7};
    long to[2];
    tower nothing{};
    group groups = {nullptr, &last};
    const char *keys[] = {"a", "b"};
    entry one = {nullptr, nullptr, nullptr, "a", 1, 1};
    const char *names[2] = {"a", "b"};
    unsigned hashes[2] = {};
    table of = {names, hashes, 2, 0};
    printf("%ld\n", scan_spilled_compared(&of, "a", "b", 1) + none_spilled_compared(&one, "a"));
    printf("%ld\n", list_named(&one, "a") + list_by_own(&one, "a") + list_own_compared(&one, "a") + none_calls_counted(&one, "a") +
                        none_counted_compared(&one, "a") + none_checked(&one) + none_lengths(&one, "a") + none_shown(&one, "a"));
    printf("%ld\n", list_nested_named(&one, "a") + none_deep_compared(&one, "a") + scan_less_deep_compared(keys, 2, "b"));
    printf("%ld\n", scan_place(&one, &one + 1, "a").at->value);
    printf("%ld\n", none_resumed(items, items + 1, 1) + none_words("a b", names));
    printf("%ld\n", scan_compared(keys, 2, "b") + list_compared(&one, "a", 1) + tree_compared(&one, "a") + halves_compared(keys, 2, "b") +
                        none_sorted(keys, 2));
    printf("%ld\n", scan_early(c.data(), 100, 2) + scan_ints(d.data(), 100, 2) + scan_inlined(c.data(), 100, c.data(), to, 2) +
                        scan_items(items, 2, 2) + none_sum_of_some(items, 2, 0) + none_sum_of_large(items, 2) + none_product_of_some(items, 2, 0) + all_least(items, 2, 1) + all_last(items, 2, 2) + all_list(&last, 2) + all_nested(&groups, 2) +
                        none_list_count(&last, 2) + none_list_sum(&last, 2) + none_list_calls(&last, 0) + list_find(&last, 3) +
                        tree_find(&items[1], 1) + tree_lower(&last, 1) + tree_map(map, 3) + halves_branches(a.data(), 100, 2) +
                        halves_lower(a.data(), 100, 2) + none_sum(a.data(), 100) + none_sum_until(a.data(), 100) +
                        none_dot(c.data(), c.data(), 100) + none_count(d.data(), 100, 1) + none_chain(items, 5) +
                        none_chain_only(items, 5) + none_random(a.data(), 5, 63) + none_copy(a.data(), b.data(), 100) +
                        none_levels(&nothing, 11, 1));
}
