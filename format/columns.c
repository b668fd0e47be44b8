/* One walk over the grammar of records serves both ways: it moves byte after byte, from the rows to the column of its
 * meaning (split) or from there back (join), and looks at the values it needs to know what comes next. */
#include "format/columns.h"

#include "format/layout.h"
#include "format/record.h"

#include <stdbool.h>
#include <string.h>

enum column {
    COLUMN_HEAD, COLUMN_TAG, COLUMN_LENGTH, COLUMN_REST,
    COLUMN_FIELDS, /* of records other than samples: FIELDS_MOST for each tag of `fields` */
    FIELDS_MOST = 6, FIELDS_TAGS = 5,
    COLUMN_TIME = COLUMN_FIELDS + FIELDS_MOST * FIELDS_TAGS,
    COLUMN_WEIGHT, COLUMN_IP_PLACE, COLUMN_IP, COLUMN_CONTEXT,
    COLUMN_ACCESS, /* of the first access, then those of the others */
    ACCESS_IP = 0, ACCESS_FLAGS, ACCESS_PACKED, ACCESS_WIDTH, ACCESS_LEVEL, ACCESS_ADDRESS,
    ACCESS_HOME, ACCESS_BASE, ACCESS_OFFSET, /* of each home but LWPS_HOME_ADDRESS */
    ACCESS_HOMES = 3, ACCESS_COLUMNS = ACCESS_HOME + 3 * ACCESS_HOMES,
    COLUMNS = COLUMN_ACCESS + 2 * ACCESS_COLUMNS,
};

/* The frequent records; what follows these fields, and all of the others, goes to COLUMN_REST. v: varint, b: byte. */
static const struct {
    uint8_t tag;
    const char *kinds;
} fields[FIELDS_TAGS] = {
    {LWPS_TAG_CONTEXT, "vvbv"},  {LWPS_TAG_POOL, "vvv"},    {LWPS_TAG_POOL_COUNT, "vvvvv"},
    {LWPS_TAG_BLOCK, "vbvvvv"}, {LWPS_TAG_BLOCK_END, "vv"},
};

struct strip {
    uint8_t *at, *end;
};

struct mover {
    bool joins;
    struct strip rows, column[COLUMNS];
    size_t size[COLUMNS]; /* bytes moved */
    size_t left;          /* bytes the block or record may still have */
    bool bad;
};

static uint8_t move_byte(struct mover *mover, unsigned column)
{
    struct strip *from = mover->joins ? &mover->column[column] : &mover->rows;
    struct strip *to = mover->joins ? &mover->rows : &mover->column[column];
    if (from->at >= from->end || !mover->left || (to->at && to->at >= to->end)) {
        mover->bad = true;
        return 0;
    }
    uint8_t byte = *from->at++;
    if (to->at)
        *to->at++ = byte;
    mover->size[column]++;
    mover->left--;
    return byte;
}

static uint64_t move_varint(struct mover *mover, unsigned column)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 70; shift += 7) {
        uint8_t byte = move_byte(mover, column);
        if (shift < 64)
            value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return value;
    }
    mover->bad = true;
    return 0;
}

static void move_access(struct mover *mover, unsigned base)
{
    move_varint(mover, base + ACCESS_IP);
    uint8_t flags = move_byte(mover, base + ACCESS_FLAGS), packed = move_byte(mover, base + ACCESS_PACKED);
    if (!(packed >> (LWPS_ACCESS_SOURCE_BITS + LWPS_ACCESS_HOME_BITS)))
        move_varint(mover, base + ACCESS_WIDTH);
    move_byte(mover, base + ACCESS_LEVEL);
    if (!(flags & LWPS_ACCESS_KNOWN))
        return;
    unsigned home = packed >> LWPS_ACCESS_SOURCE_BITS & 3;
    if (home == LWPS_HOME_ADDRESS) {
        move_varint(mover, base + ACCESS_ADDRESS);
        return;
    }
    base += 3 * (home - 1);
    move_varint(mover, base + ACCESS_HOME);
    move_varint(mover, base + ACCESS_BASE);
    move_varint(mover, base + ACCESS_OFFSET);
}

static void move_sample(struct mover *mover, uint8_t tag)
{
    move_varint(mover, COLUMN_TIME);
    move_varint(mover, COLUMN_WEIGHT);
    move_byte(mover, COLUMN_IP_PLACE);
    move_varint(mover, COLUMN_IP);
    if (!(tag & LWPS_TAG_SAME_CONTEXT))
        move_varint(mover, COLUMN_CONTEXT);
    for (unsigned i = 0, count = tag >> 2 & 15; i < count && !mover->bad; i++)
        move_access(mover, COLUMN_ACCESS + (i ? ACCESS_COLUMNS : 0));
}

static void move_record(struct mover *mover)
{
    uint8_t tag = move_byte(mover, COLUMN_TAG);
    if (tag & LWPS_TAG_SAMPLE) {
        move_sample(mover, tag);
        return;
    }
    uint64_t length = move_varint(mover, COLUMN_LENGTH);
    if (length > mover->left) {
        mover->bad = true;
        return;
    }
    size_t after = mover->left - (size_t)length;
    mover->left = (size_t)length;
    for (unsigned i = 0; i < FIELDS_TAGS; i++) {
        if (fields[i].tag != tag)
            continue;
        for (unsigned k = 0; fields[i].kinds[k] && !mover->bad; k++) {
            unsigned column = COLUMN_FIELDS + i * FIELDS_MOST + k;
            if (fields[i].kinds[k] == 'b')
                move_byte(mover, column);
            else
                move_varint(mover, column);
        }
    }
    while (mover->left && !mover->bad)
        move_byte(mover, COLUMN_REST);
    mover->left = after;
}

static void move_blocks(struct mover *mover)
{
    struct strip *from = mover->joins ? &mover->column[COLUMN_HEAD] : &mover->rows;
    while (from->at < from->end && !mover->bad) {
        struct lwps_disk_block head;
        if ((size_t)(from->end - from->at) < sizeof head) {
            mover->bad = true;
            return;
        }
        memcpy(&head, from->at, sizeof head);
        mover->left = sizeof head;
        while (mover->left && !mover->bad)
            move_byte(mover, COLUMN_HEAD);
        mover->left = head.bytes;
        mover->bad |= head.type != LWPS_BLOCK_RECORDS;
        while (mover->left && !mover->bad)
            move_record(mover);
    }
}

/* The columns' sizes come first, as varints. */
enum { SIZE_BYTES_MOST = 3 };
_Static_assert(COLUMNS * SIZE_BYTES_MOST <= LWPS_COLUMNS_EXTRA, "the sizes fit");
_Static_assert(LWPS_PACK_RAW_MAX < 1 << 7 * SIZE_BYTES_MOST, "a size fits");

size_t lwps_columns_split(const uint8_t *blocks, size_t size, uint8_t *to, size_t room)
{
    if (size > LWPS_PACK_RAW_MAX || size + LWPS_COLUMNS_EXTRA > room)
        return 0;
    const struct strip rows = {(uint8_t *)blocks, (uint8_t *)blocks + size}; /* only read */
    struct mover count = {.rows = rows}, mover = {.rows = rows};
    move_blocks(&count);
    if (count.bad)
        return 0;
    uint8_t *at = to;
    for (unsigned i = 0; i < COLUMNS; i++) {
        size_t bytes = count.size[i];
        for (; bytes >= 0x80; bytes >>= 7)
            *at++ = (uint8_t)(bytes | 0x80);
        *at++ = (uint8_t)bytes;
    }
    for (unsigned i = 0; i < COLUMNS; i++) {
        mover.column[i] = (struct strip){at, at + count.size[i]};
        at += count.size[i];
    }
    move_blocks(&mover);
    return mover.bad ? 0 : (size_t)(at - to);
}

size_t lwps_columns_join(const uint8_t *columns, size_t size, uint8_t *to, size_t room)
{
    struct mover mover = {.joins = true, .rows = {to, to + room}};
    uint8_t *at = (uint8_t *)columns, *end = at + size; /* only read */
    size_t sizes[COLUMNS] = {0};
    for (unsigned i = 0; i < COLUMNS; i++) {
        for (unsigned k = 0;; k++) {
            if (at == end || k == SIZE_BYTES_MOST)
                return 0;
            sizes[i] |= (size_t)(*at & 0x7f) << 7 * k;
            if (!(*at++ & 0x80))
                break;
        }
    }
    for (unsigned i = 0; i < COLUMNS; i++) {
        if (sizes[i] > (size_t)(end - at))
            return 0;
        mover.column[i] = (struct strip){at, at + sizes[i]};
        at += sizes[i];
    }
    move_blocks(&mover);
    for (unsigned i = 0; i < COLUMNS; i++)
        mover.bad |= mover.column[i].at != mover.column[i].end;
    return mover.bad || at != end ? 0 : (size_t)(mover.rows.at - to);
}
