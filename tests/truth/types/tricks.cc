// Harder to name: pointers into the middle of blocks, buffers of bytes, containers and their nodes. Run as classes.cc.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_set>
#include <variant>
#include <vector>
#define HOT __attribute__((noinline))
static const int count = 200000;
struct Node {
    int id;
    double w[3];
    std::vector<int> edges;
};
struct Left {
    virtual ~Left()
    {
    }
    long left = 1;
};
struct Right {
    virtual ~Right()
    {
    }
    virtual double get() const = 0;
    long right = 2;
};
struct Both : Left, Right {
    double value = 3;
    HOT double get() const override
    {
        return value + right;
    }
};
struct Event {
    double when;
    int kind;
    int who;
    bool operator<(const Event &o) const
    {
        return when < o.when;
    }
};
template <typename D> struct Crtp {
    double run() const
    {
        return static_cast<const D *>(this)->mine();
    }
};
struct Own : Crtp<Own> {
    double a = 1, b = 2;
    int n = 3;
    double mine() const
    {
        return a * n;
    }
};
struct Soa {
    std::vector<double> x, y;
    std::vector<int> tag;
};
struct Big {
    std::array<double, 4> v;
    std::optional<double> o;
};
// TRUTH sum_deque: Event { when }
// TRUTH sum_deque: Event * { }
HOT double sum_deque(const std::deque<Event> &q)
{
    double s = 0;
    for (const auto &e : q)
        s += e.when;
    return s;
}
// TRUTH sum_list: std::_List_node<Event> { _M_next, when }
HOT double sum_list(const std::list<Event> &q)
{
    double s = 0;
    for (const auto &e : q)
        s += e.when;
    return s;
}
// TRUTH sum_nodes: Node { w, edges }
// TRUTH sum_nodes: int { }
HOT double sum_nodes(const std::vector<Node> &nodes)
{
    double s = 0;
    for (const auto &n : nodes) {
        s += n.w[1];
        for (int e : n.edges)
            s += e;
    }
    return s;
}
// TRUTH sum_right: Right * { }
// TRUTH sum_right: Both { _vptr.Right, right, value, * }
HOT double sum_right(const std::vector<Right *> &all)
{
    double s = 0;
    for (auto *r : all)
        s += r->right + r->get();
    return s;
}
// TRUTH sum_shared: std::shared_ptr<Own> { _M_ptr }
// TRUTH sum_shared: std::_Sp_counted_ptr_inplace<Own, std::allocator<Own>, (__gnu_cxx::_Lock_policy)2> { * }
// TRUTH sum_shared: std::_Sp_counted_ptr_inplace<Own, std::allocator<void>, (__gnu_cxx::_Lock_policy)2> { * }
// TRUTH sum_shared: std::_Sp_counted_ptr_inplace<Own, std::allocator<void>, __gnu_cxx::_S_atomic> { * }
// TRUTH sum_shared: Own { a, n }
HOT double sum_shared(const std::vector<std::shared_ptr<Own>> &all)
{
    double s = 0;
    for (const auto &o : all)
        s += o->run();
    return s;
}
// TRUTH sum_soa: double { }
// TRUTH sum_soa: int { }
HOT double sum_soa(const Soa &a)
{
    double s = 0;
    for (size_t i = 0; i < a.x.size(); i++)
        if (a.tag[i])
            s += a.x[i] * a.y[i];
    return s;
}
// TRUTH sort_events: Event { when, kind, who }
HOT void sort_events(std::vector<Event> &events)
{
    std::sort(events.begin(), events.end());
}
// TRUTH sum_big: Big { v, o }
HOT double sum_big(const std::vector<Big> &all)
{
    double s = 0;
    for (const auto &b : all)
        s += b.v[2] + b.o.value_or(0);
    return s;
}
// TRUTH sum_set: std::_Rb_tree_node<int> { * }
HOT long sum_set(const std::set<int> &all)
{
    long s = 0;
    for (int i : all)
        s += i;
    return s;
}
// TRUTH letters: std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> > { * }
// TRUTH letters: char { }
HOT long letters(const std::vector<std::string> &all)
{
    long s = 0;
    for (const auto &t : all)
        s += t[0] + (long)t.size();
    return s;
}
// TRUTH rows: std::vector<double, std::allocator<double> > { _M_impl, * }
// TRUTH rows: double { }
HOT double rows(const std::vector<std::vector<double>> &m)
{
    double s = 0;
    for (size_t j = 0; j < m.size(); j++)
        for (size_t i = 0; i < m.size(); i++)
            s += m[i][j];
    return s;
}
// TRUTH anywhere: std::variant<int, double> { * }
// What make_shared allocates, seen as two parts: the counts, where only they were sampled, and Own behind them.
// TRUTH anywhere: std::_Sp_counted_base<__gnu_cxx::_S_atomic> { * }
// TRUTH anywhere: std::_Sp_counted_base<(__gnu_cxx::_Lock_policy)2> { * }
// TRUTH kinds: std::variant<int, double> { * }
HOT double kinds(const std::vector<std::variant<int, double>> &all)
{
    double s = 0;
    for (const auto &v : all)
        if (auto *d = std::get_if<double>(&v))
            s += *d;
    return s;
}
int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 10;
    std::deque<Event> q;
    std::list<Event> l;
    std::vector<Node> nodes(count / 4);
    std::vector<Right *> rights;
    std::vector<std::shared_ptr<Own>> owns;
    Soa soa;
    std::vector<Event> events;
    std::vector<Big> bigs(count);
    std::set<int> set;
    std::vector<std::string> strings;
    std::vector<std::vector<double>> m(500, std::vector<double>(500, 1.5));
    std::vector<std::variant<int, double>> vs;
    unsigned r = 1;
    for (int i = 0; i < count; i++) {
        r = r * 1664525u + 1013904223u;
        Event e{(double)(r >> 8), i, i};
        q.push_back(e);
        l.push_back(e);
        events.push_back(e);
        rights.push_back(new Both);
        owns.push_back(std::make_shared<Own>());
        soa.x.push_back(i);
        soa.y.push_back(1);
        soa.tag.push_back(r >> 31);
        set.insert(r >> 8);
        strings.push_back("string number that is long " + std::to_string(i));
        if (r >> 31)
            vs.emplace_back(1.5);
        else
            vs.emplace_back(2);
    }
    for (auto &n : nodes) {
        n.id = 1;
        n.w[1] = 2;
        n.edges.assign(8, 3);
    }
    double s = 0;
    for (int i = 0; i < rounds; i++) {
        s += sum_deque(q) + sum_list(l) + sum_nodes(nodes) + sum_right(rights) + sum_shared(owns) + sum_soa(soa) +
             sum_big(bigs) + (double)sum_set(set) + (double)letters(strings) + rows(m) + kinds(vs);
        if (i % 8 == 0) {
            auto copy = events;
            sort_events(copy);
            s += copy[0].when;
        }
    }
    std::printf("%g\n", s);
}
