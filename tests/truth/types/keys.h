/* Classes whose virtual functions are in a unit of their own, the only one that compilers describe them in. */
struct Node {
    virtual ~Node();
    virtual double weight() const = 0;
};

namespace tree
{
class Branch : public Node
{
  public:
    int mark;
    double at;
    Node *first, *second;
    Branch(int mark, double at, Node *first, Node *second) : mark(mark), at(at), first(first), second(second)
    {
    }
    double weight() const override;
};
} // namespace tree

extern "C" void shift(tree::Branch *all, long count);
extern "C" Node *make_branch(int mark, double at, Node *first, Node *second);
