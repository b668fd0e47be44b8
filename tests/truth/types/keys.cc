#include "keys.h"

Node::~Node()
{
}

double tree::Branch::weight() const
{
    return at + (first ? first->weight() : 0) + (second ? second->weight() : 0);
}

int main(int count, char **)
{
    Node *root = nullptr;
    for (int i = 0; i < count * 100; i++)
        root = make_branch(i, i, root, nullptr);
    shift(static_cast<tree::Branch *>(root), 1);
    return root->weight() < 0;
}
