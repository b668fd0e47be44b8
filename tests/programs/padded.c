/* Structures whose members, or elements, threads use each for themselves: what padding.c declares anew. */
typedef int (*padded_call)(int);
struct padded_point {
    double x, y;
};

struct in_turn {
    long first;
    volatile long hits;
    _Atomic long misses;
    char rest[40];
};
typedef struct {
    padded_call call;
    long *mine;
    struct padded_point where[2];
    unsigned low : 3, high : 5;
    short yours;
} whole;
struct slot {
    long count;
    char name[20];
};
struct bits {
    long mine;
    unsigned low : 3, high : 5;
    long yours;
};

struct in_turn in_turn[3];
whole the_whole;
struct slot slots[4];
struct bits the_bits;

int main(void)
{
    return (int)(in_turn[1].hits + the_whole.yours + slots[2].count + the_bits.low);
}
