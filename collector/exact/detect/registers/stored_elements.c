#include "collector/exact/detect/registers/stored_elements.h"

enum { WORD = 64 };

bool lwp_stored_begin(struct lwp_stored_elements *set, const struct lwp_shadow_port *port, uint64_t low, uint64_t end, size_t size)
{
    uint64_t room = (end - low) / size;
    *set = (struct lwp_stored_elements){.port = port, .low = low, .size = size, .room = room > LWP_STORED_MOST ? LWP_STORED_MOST : room};
    set->bits = port->map((set->room / WORD + 1) * sizeof *set->bits);
    return set->bits;
}

void lwp_stored_end(struct lwp_stored_elements *set)
{
    set->port->unmap(set->bits, (set->room / WORD + 1) * sizeof *set->bits);
}

void lwp_stored_put(struct lwp_stored_elements *set, uint64_t address, size_t bytes)
{
    uint64_t first = (address - set->low) / set->size, last = first + bytes / set->size;
    if (address < set->low || (address - set->low) % set->size || last > set->room)
        return;
    for (uint64_t i = first; i < last; i++) {
        uint64_t bit = (uint64_t)1 << i % WORD;
        set->count += !(set->bits[i / WORD] & bit);
        set->bits[i / WORD] |= bit;
    }
}

uint64_t lwp_stored_next(const struct lwp_stored_elements *set, uint64_t from)
{
    for (uint64_t word = from / WORD; word * WORD < set->room; word++) {
        uint64_t left = set->bits[word] & (word == from / WORD ? ~(uint64_t)0 << from % WORD : ~(uint64_t)0);
        if (left)
            return word * WORD + (uint64_t)__builtin_ctzll(left);
    }
    return set->room;
}

/* Boyer and Moore's majority vote, then its count. */
uint64_t lwp_stored_step(const struct lwp_stored_elements *set, uint64_t *times)
{
    uint64_t chosen = 0, votes = 0, first = lwp_stored_next(set, 0);
    *times = 0;
    for (uint64_t at = first, next; at < set->room && (next = lwp_stored_next(set, at + 1)) < set->room; at = next) {
        if (!votes)
            chosen = next - at;
        votes = chosen == next - at ? votes + 1 : votes - 1;
    }
    for (uint64_t at = first, next; at < set->room && (next = lwp_stored_next(set, at + 1)) < set->room; at = next)
        *times += next - at == chosen;
    return set->count > 1 && 2 * *times > set->count - 1 ? chosen : 0;
}
