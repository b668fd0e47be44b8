/* Searches, and what is read of the entry that they find. found_: the value, 16 bytes on from the key, behind the loop, by the function or
 * by those who call it; none_: not the value, or not behind the loop. */
#include <stdio.h>

#if defined __GNUC__ && !defined __clang__
#define ALONE __attribute__((noipa))
#else
#define ALONE __attribute__((noinline))
#endif

struct entry {
    struct entry *next;
    long key, weight, value, more[4];
};

struct entry all[64];
volatile long sink;

ALONE long found_in_place(const struct entry *e, long key)
{
    while (e && e->key != key)
        e = e->next;
    return e ? e->value : -1;
}

ALONE const struct entry *found_by_callers(const struct entry *e, long key)
{
    while (e && e->key != key)
        e = e->next;
    return e;
}

ALONE long calls_first(const struct entry *e, long key)
{
    const struct entry *found = found_by_callers(e, key);
    sink = key;
    return found ? found->value : -1;
}

struct tree {
    struct tree *left, *right;
    long value;
};

/* The link replaces its own address: the node is in a register that was copied before. */
ALONE long found_at_end(const struct tree *node)
{
    const struct tree *left = node->left;
    while (left) {
        node = left;
        left = left->left;
    }
    return node->value;
}

ALONE long found_by_index(const struct entry *array, long key, long count)
{
    long i = 0;
    while (i < count && array[i].key != key)
        i++;
    return i < count ? array[i].value : -1;
}

/* A way back to the loop's start loses what it had found. */
ALONE long found_again_and_again(const struct entry *head, const long *keys, long count)
{
    long sum = 0;
    for (long i = 0; i < count; i++) {
        const struct entry *e = head;
        while (e && e->key != keys[i])
            e = e->next;
        sum += e ? e->value : 0;
    }
    return sum;
}

/* In the loop itself: what is used there is seen there. */
ALONE long none_in_loop(const struct entry *e, long key)
{
    long sum = 0;
    for (; e; e = e->next)
        sum += e->key == key ? 1 : 0;
    return sum;
}

/* The next one's, whatever that is. */
ALONE long none_of_next(const struct entry *e, long key)
{
    while (e->key != key)
        e = e->next;
    e = e->next;
    return e->value;
}

/* The loop stays with one entry. */
ALONE long none_of_one(const struct entry *e, long count)
{
    long sum = 0;
    for (long i = 0; i < count; i++) {
        sum += *(const volatile long *)&e->key;
    }
    return sum + e->value;
}

struct cursor {
    const struct entry *at;
};

/* As a cursor of a database does. */
ALONE int kept_by_callers(struct cursor *cursor, const struct entry *head, long key)
{
    cursor->at = found_by_callers(head, key);
    return cursor->at != NULL;
}

ALONE void kept_in_place(struct cursor *cursor, const struct entry *e, long key)
{
    while (e && e->key != key)
        e = e->next;
    cursor->at = e;
}

int main(void)
{
    struct cursor cursor = {0};
    long keys[4] = {3, 5, 7, 9};
    for (int i = 0; i < 63; i++)
        all[i] = (struct entry){.next = &all[i + 1], .key = i, .value = i};
    all[63].key = 63;
    printf("%ld\n", found_in_place(all, 5) + calls_first(all, 7) + found_by_index(all, 9, 64) + found_again_and_again(all, keys, 4) +
                        none_in_loop(all, 3) + none_of_next(all, 3) + none_of_one(all, 4));
    kept_in_place(&cursor, all, 3);
    return !cursor.at || !kept_by_callers(&cursor, all, 3);
}
