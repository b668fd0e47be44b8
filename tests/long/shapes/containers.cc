// Containers of the standard library: their nodes as the library lays them out, or ("or") only what is kept in them.
//
/// vector type=Rec bytes=120 hot=price@72 path=main name=recs must=right
/// vector_grow type=Rec bytes=120 hot=price@72 path=main name=recs
/// vector_two type=Rec bytes=120 hot=price@72 path=main name=recs block=62914560
/// vector_two and type=Other bytes=120 hot=load@16 path=main name=others block=62914680
/// vector_member type=Rec bytes=120 hot=price@72 path=main,World,make_world name=recs,world
/// vector_resized type=double bytes=8 path=main,World,make_world name=m_x block=4194304 must=right
/// vector_resized and type=double bytes=8 path=main,World,make_world name=m_y block=4194312
/// vector_string type=Person bytes=104 hot=age@72 path=main name=persons
/// vector_pointer type=Rec bytes=120 hot=price@72 path=main name=recs
/// vector_pointer and type=std::unique_ptr<Rec,std::default_delete<Rec>>|std::unique_ptr<Rec>|Rec* bytes=8 path=main
///     name=recs
/// deque type=Rec bytes=120|480 hot=price@72 path=main name=recs
/// deque and type=Rec* bytes=8 path=main name=recs
/// list_std type=std::_List_node<Rec> bytes=136 hot=_M_next@0,price@88 path=main name=recs
/// list_std or type=Rec bytes=120|136 start=16 hot=price@72 path=main name=recs,rec
/// list_std and type=std::__detail::_List_node_base bytes=16|136 hot=_M_next@0 path=main name=recs,rec
/// map type=std::_Rb_tree_node<std::pair<long,Rec>> bytes=160
///     hot=_M_left@16,_M_right@24,first@32,second.price@112 path=main
///     name=recs
/// unordered_map type=std::__detail::_Hash_node<std::pair<long,Rec>,false> bytes=136
///     hot=_M_nxt@0,first@8,second.price@88 path=main name=recs
/// unordered_map and type=std::__detail::_Hash_node_base* bytes=8 path=main name=recs
/// unique_tree type=Branch bytes=104 hot=key@64,left@72,right@80 path=main,insert name=root,left,right
/// shared_ptr type=std::_Sp_counted_ptr_inplace<Rec,std::allocator<void>,(__gnu_cxx::_Lock_policy)2>
///     bytes=136 hot=_M_impl.price|price@88 path=main,make name=recs
/// shared_ptr or type=Rec bytes=120|136 start=16 hot=price@72 path=main,make name=recs
/// shared_ptr and type=std::shared_ptr<Rec> bytes=16 hot=_M_ptr@0 path=main,make name=recs
/// pmr_vector type=Rec bytes=120 hot=price@72 path=main name=recs,arena start=any
/// pmr_map type=std::_Rb_tree_node<std::pair<long,Rec>> bytes=160
///     hot=_M_left@16,_M_right@24,first@32,second.price@112 path=main
///     name=recs,arena start=any
/// pmr_two type=Rec bytes=120 hot=price@72 path=main name=recs,arena start=any
/// pmr_two and type=Other bytes=120 hot=load@16 path=main name=others,arena start=any
/// vector_O0 of=vector flags=-O0
/// vector_O3 of=vector_grow flags=-O3
/// vector_clang of=vector_grow with=clang
/// map_Os of=map flags=-Os
/// vector_stripped of=vector strip=1
#include "shape.h"
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <memory_resource>
#include <string>
#include <unordered_map>
#include <vector>

enum { N = 1 << 19 };

struct Rec {
    char name[64];
    long id;
    double price, more[5];
    Rec() : name(), id(0), price(1), more()
    {
    }
};
struct Other {
    double low, high, load, more[12];
    Other() : low(0), high(0), load(1), more()
    {
    }
};
struct Person {
    std::string name, town;
    long id;
    double age, more[3];
};

template <class T> NI static double walk_prices(const T &recs)
{
    double sum = 0;
    EACH(i, N) sum += recs[i].price;
    return sum;
}
template <class T> NI static double walk_map(const T &recs)
{
    double sum = 0;
    size_t key = 1;
    for (int i = 0; i < 20000; i++) {
        key = (key * 6364136223846793005ul + 1442695040888963407ul);
        auto at = recs.find((long)(key >> 45));
        if (at != recs.end())
            sum += at->second.price;
    }
    return sum;
}

#if defined shape_vector || defined shape_vector_grow || defined shape_deque || defined shape_pmr_vector
int main(int argc, char **argv)
{
#ifdef shape_vector
    std::vector<Rec> recs(N);
#elif defined shape_pmr_vector
    std::pmr::monotonic_buffer_resource arena(1 << 20);
    std::pmr::vector<char> text(1000, 'a', &arena);
    std::pmr::vector<Rec> recs(N, &arena);
#else
#ifdef shape_deque
    std::deque<Rec> recs;
#else
    std::vector<Rec> recs;
#endif
    for (size_t i = 0; i < N; i++)
        recs.push_back(Rec());
#endif
    for (size_t i = 0; i < N; i++)
        recs[i].id = (long)i;
    REPEAT(walk_prices(recs));
    return 0;
}
#elif defined shape_vector_two || defined shape_pmr_two
template <class T> NI static double walk_loads(const T &others)
{
    double sum = 0;
    EACH(i, N) sum += others[i].load;
    return sum;
}
int main(int argc, char **argv)
{
#ifdef shape_pmr_two
    std::pmr::monotonic_buffer_resource arena(256 << 20);
    std::pmr::vector<Rec> recs(N, &arena);
    std::pmr::vector<Other> others(N + 1, &arena);
#else
    std::vector<Rec> recs(N);
    std::vector<Other> others(N + 1);
#endif
    REPEAT(walk_prices(recs) + walk_prices(recs) + walk_loads(others));
    return 0;
}
#elif defined shape_vector_member
struct World {
    long id;
    std::string name;
    std::vector<Rec> recs;
    explicit World(size_t n) : id(1), recs(n)
    {
    }
};
NI static World *make_world(size_t n)
{
    return new World(n);
}
NI static double walk(const World *world)
{
    double sum = 0;
    EACH(i, N) sum += world->recs[i].price;
    return sum;
}
int main(int argc, char **argv)
{
    World *world = make_world(N);
    REPEAT(walk(world));
    return 0;
}
#elif defined shape_vector_resized
class World {
  public:
    explicit World(size_t n)
    {
        m_x.resize(n);
        m_y.resize(n + 1);
    }
    double x(size_t i) const
    {
        return m_x[i];
    }
    double y(size_t i) const
    {
        return m_y[i];
    }

  private:
    std::vector<double> m_x, m_y;
};
NI static World *make_world(size_t n)
{
    return new World(n);
}
NI static double walk(const World *world)
{
    double sum = 0;
    EACH(i, N) sum += world->x(i) + world->y(i + 1);
    return sum;
}
int main(int argc, char **argv)
{
    World *world = make_world(N);
    REPEAT(walk(world));
    return 0;
}
#elif defined shape_vector_string
NI static double walk(const std::vector<Person> &persons)
{
    double sum = 0;
    EACH(i, N) sum += persons[i].age;
    return sum;
}
int main(int argc, char **argv)
{
    std::vector<Person> persons(N);
    for (size_t i = 0; i < N; i++)
        persons[i].name = "a name that is longer than 15", persons[i].age = 1;
    REPEAT(walk(persons));
    return 0;
}
#elif defined shape_vector_pointer
NI static double walk(const std::vector<std::unique_ptr<Rec>> &recs)
{
    double sum = 0;
    for (const auto &rec : recs)
        sum += rec->price;
    return sum;
}
int main(int argc, char **argv)
{
    std::vector<std::unique_ptr<Rec>> recs(N);
    for (size_t i = 0; i < N; i++)
        recs[PLACE(i, N)].reset(new Rec);
    REPEAT(walk(recs));
    return 0;
}
#elif defined shape_list_std
NI static double walk(const std::list<Rec> &recs)
{
    double sum = 0;
    for (const Rec &rec : recs)
        sum += rec.price;
    return sum;
}
int main(int argc, char **argv)
{
    std::list<Rec> recs;
    for (size_t i = 0; i < N; i++) {
        recs.emplace_back();
        recs.back().id = (long)((i * 40503) & (N - 1));
    }
    recs.sort([](const Rec &a, const Rec &b) { return a.id < b.id; });
    REPEAT(walk(recs));
    return 0;
}
#elif defined shape_map || defined shape_unordered_map || defined shape_pmr_map
int main(int argc, char **argv)
{
#ifdef shape_map
    std::map<long, Rec> recs;
#elif defined shape_pmr_map
    std::pmr::monotonic_buffer_resource arena(1 << 20);
    std::pmr::map<long, Rec> recs(&arena);
#else
    std::unordered_map<long, Rec> recs;
#endif
    for (size_t i = 0; i < N / 2; i++)
        recs[(long)((i * 40503) & (N - 1))].id = (long)i;
    REPEAT(walk_map(recs));
    return 0;
}
#elif defined shape_unique_tree
struct Branch {
    char name[64];
    unsigned long key;
    std::unique_ptr<Branch> left, right;
    long more[2];
    explicit Branch(unsigned long k) : name(), key(k), more()
    {
    }
};
NI static void insert(std::unique_ptr<Branch> &root, unsigned long key)
{
    std::unique_ptr<Branch> *at = &root;
    while (*at && (*at)->key != key)
        at = key < (*at)->key ? &(*at)->left : &(*at)->right;
    if (!*at)
        at->reset(new Branch(key));
}
NI static long walk(const std::unique_ptr<Branch> &root, unsigned long seed)
{
    long found = 0;
    for (int i = 0; i < 10000; i++) {
        seed = seed * 6364136223846793005ul + 1442695040888963407ul;
        const Branch *b = root.get();
        while (b && b->key != seed >> 44)
            b = (seed >> 44 < b->key ? b->left : b->right).get();
        found += b != nullptr;
    }
    return found;
}
int main(int argc, char **argv)
{
    std::unique_ptr<Branch> root;
    for (size_t i = 0; i < N / 2; i++)
        insert(root, (i * 2654435761u) & (2 * N - 1));
    unsigned long seed = 1;
    REPEAT(walk(root, seed += 7919));
    return 0;
}
#elif defined shape_shared_ptr
NI static double walk(const std::vector<std::shared_ptr<Rec>> &recs)
{
    double sum = 0;
    for (const auto &rec : recs)
        sum += rec->price;
    return sum;
}
NI static std::shared_ptr<Rec> make()
{
    return std::make_shared<Rec>();
}
int main(int argc, char **argv)
{
    std::vector<std::shared_ptr<Rec>> recs(N);
    for (size_t i = 0; i < N; i++)
        recs[PLACE(i, N)] = make();
    REPEAT(walk(recs));
    return 0;
}
#endif
