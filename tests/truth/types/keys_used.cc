#include "keys.h"

extern "C" void shift(tree::Branch *all, long count)
{
    for (long i = 0; i < count; i++) {
        all[i].at += all[i].mark;
        all[i].mark = 0;
    }
}

extern "C" Node *make_branch(int mark, double at, Node *first, Node *second)
{
    return new tree::Branch(mark, at, first, second);
}
