// What newer C++ does with memory: variants, several and virtual bases, hooks, inline buffers, frames of coroutines.
//
/// bases_array type=Both bytes=104 start=8 hot=score@88 path=main name=both,scored
/// bases_array or type=Scored bytes=32 start=any hot=score@16 path=main name=both,scored
/// bases_array and type=Scored* bytes=8 path=main name=scored
/// virtual_base type=Child bytes=104 hot=_vptr.Left@0,mass@88 path=main name=things,Child,child start=any
/// virtual_base or type=Base bytes=32 hot=mass@16 path=main name=things,Child,child start=any
/// virtual_base and type=Child* bytes=8 path=main name=things
/// virtual_base and name=vtableforChild
/// variant type=std::variant<Small,Large> bytes=80 hot=@8+8*9 path=main name=values
/// variant or bytes=80 hot=_M_index@72,_M_u@0+8*9 path=main name=values
/// optional must=right type=std::optional<Rec> bytes=104 hot=load@88,_M_payload@0+8*13,_M_engaged@96 path=main name=maybe
/// hooks type=Item bytes=120 hot=link|next@32,weight@104 path=main name=items,Item,item
/// hooks or type=Hook start=32 bytes=120|16 hot=next@0,weight@72 path=main name=items,Item,head,Hook,next,last
/// small_vector type=Path bytes=112 hot=points|points.count@8,points|points.data@0,points.inside|points@16+8*8 path=main name=paths,Path
/// small_vector or type=Small<double,8> bytes=88|112 hot=points|points.count@8,points|points.data@0,points.inside|points@16+8*8 path=main name=paths,Path
/// tuple_vector type=std::tuple<long,double,std::array<long,8>> bytes=80 hot=_M_head_impl@64,__1@64 path=main name=rows
/// tuple_vector or bytes=80 hot=_M_head_impl@64+8*2 path=main name=rows
/// pair_vector type=std::pair<Rec,double> bytes=104 hot=second@96 path=main name=pairs
/// nested_vector type=Rec bytes=96 hot=load@88 path=main name=rows,rec
/// nested_vector and type=std::vector<Rec,std::allocator<Rec>>|std::vector<Rec> bytes=24 hot=_M_impl@0+8*2 path=main name=rows
/// coroutine flags=-std=c++20 bytes=72 path=main,count name=Frame,count,tasks,handle,_M_fr_ptr
/// coroutine and type=Task bytes=8 path=main name=tasks
/// multi_index type=Row bytes=96 hot=left@72,right@80,key@64 path=main,insert name=Row,row,root,left,right
/// crtp type=Derived bytes=88 hot=value@80 path=main name=all
/// unique_array type=Rec bytes=96 hot=load@88 path=main name=recs,_M_head_impl,_M_t
/// any_pointers type=Rec bytes=96 hot=load@88 path=main,make name=recs,any,Rec,rec
/// any_pointers and type=std::any bytes=16 path=main name=anys hot=_M_storage@8,_M_manager@0
/// set_std type=std::_Rb_tree_node<long> bytes=40 hot=_M_left@16,_M_right@24,_M_storage@32 path=main name=keys,_M_header,_M_parent,_M_root
/// forward type=std::_Fwd_list_node<Rec> bytes=104 hot=_M_next@0,load@96 path=main name=recs,_M_head,_M_next
/// pmr_pool must=right type=std::_List_node<Rec> bytes=112 start=any hot=_M_next@0,load@104 path=main name=recs,_M_next,_M_node
/// pmr_pool or type=Rec bytes=96 start=any hot=load@88 path=main name=recs,rec
/// new_array_of_arrays type=Rec bytes=96 start=any hot=load@88 path=main name=rows,rec,grid
/// new_array_of_arrays and type=Rec* bytes=8 path=main name=rows,grid
/// variant_clang of=variant with=clang flags=-std=c++17
/// bases_array_O3 of=bases_array flags=-O3
/// hooks_O3 of=hooks flags=-O3
#include "shape.h"
#include <any>
#include <array>
#include <forward_list>
#include <list>
#include <memory>
#include <memory_resource>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <variant>
#include <vector>
#ifdef shape_coroutine
#include <coroutine>
#endif

enum { N = 1 << 18 };
struct Rec {
    long key;
    char name[40];
    double more[5];
    double load;
};

#if defined shape_bases_array
struct Named {
    char name[64];
    virtual ~Named() = default;
};
struct Scored {
    long rank;
    double score;
    long pad;
    virtual ~Scored() = default;
};
struct Both : Named, Scored {
};
NI static double walk(Scored *const *scored, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += scored[i]->score;
    return sum;
}
int main(int argc, char **argv)
{
    Both *both = new Both[N];
    Scored **scored = new Scored *[N];
    for (size_t i = 0; i < N; i++) {
        both[i].score = 1;
        scored[PLACE(i, N)] = &both[i];
    }
    REPEAT(walk(scored, N));
}
#elif defined shape_virtual_base
struct Base {
    long id;
    double mass, other;
    virtual ~Base() = default;
};
struct Left : virtual Base {
    double a[4];
};
struct Right : virtual Base {
    double b[2];
};
struct Child : Left, Right {
    long last;
};
NI static double walk(Child *const *things, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += things[i]->mass;
    return sum;
}
int main(int argc, char **argv)
{
    Child **things = new Child *[N];
    for (size_t i = 0; i < N; i++) {
        Child *child = new Child;
        child->mass = 1;
        things[PLACE(i, N)] = child;
    }
    REPEAT(walk(things, N));
}
#elif defined shape_variant
struct Small {
    long id;
    double cost;
};
struct Large {
    double at[8];
    long id;
};
using Value = std::variant<Small, Large>;
NI static double walk(const std::vector<Value> &values)
{
    double sum = 0;
    EACH(i, values.size())
    {
        if (const Small *small = std::get_if<Small>(&values[i]))
            sum += small->cost;
        else
            sum += std::get<Large>(values[i]).at[3];
    }
    return sum;
}
int main(int argc, char **argv)
{
    std::vector<Value> values(N);
    for (size_t i = 0; i < N; i++) {
        if (i & 1)
            values[i] = Small{1, 1};
        else
            values[i] = Large{{0, 0, 0, 1}, 1};
    }
    REPEAT(walk(values));
}
#elif defined shape_optional
NI static double walk(const std::vector<std::optional<Rec>> &maybe)
{
    double sum = 0;
    EACH(i, maybe.size())
    {
        if (maybe[i])
            sum += maybe[i]->load;
    }
    return sum;
}
int main(int argc, char **argv)
{
    std::vector<std::optional<Rec>> maybe(N);
    for (size_t i = 0; i < N; i++)
        if (i % 3)
            maybe[i] = Rec{1, "", {}, 1};
    REPEAT(walk(maybe));
}
#elif defined shape_hooks
struct Hook {
    Hook *next, *prev;
};
struct Item {
    long key;
    char text[24];
    struct ByTime : Hook {
    } link;
    double pad[7];
    double weight;
    long last;
};
static_assert(sizeof(Item) == 120 && offsetof(Item, link) == 32);
NI static double walk(const Hook *head)
{
    double sum = 0;
    for (const Hook *at = head->next; at != head; at = at->next)
        sum += reinterpret_cast<const Item *>(reinterpret_cast<const char *>(at) - offsetof(Item, link))->weight;
    return sum;
}
int main(int argc, char **argv)
{
    Item *items = new Item[N]();
    Hook head, *last = &head;
    for (size_t i = 0; i < N; i++) {
        Item *item = &items[PLACE(i, N)];
        item->weight = 1;
        item->link.prev = last;
        last = last->next = &item->link;
    }
    last->next = &head;
    REPEAT(walk(&head));
}
#elif defined shape_small_vector
template <typename T, int most> struct Small {
    T *data;
    size_t count;
    T inside[most];
    long spare;
    Small() : data(inside), count(0) {}
    void push(T value) { data[count++] = value; }
};
struct Path {
    Small<double, 8> points;
    char name[24];
};
NI static double walk(const Path *paths, size_t n)
{
    double sum = 0;
    EACH(i, n)
    {
        for (size_t k = 0; k < paths[i].points.count; k++)
            sum += paths[i].points.data[k];
    }
    return sum;
}
int main(int argc, char **argv)
{
    Path *paths = new Path[N];
    for (size_t i = 0; i < N; i++)
        for (size_t k = 0; k < i % 8; k++)
            paths[i].points.push(1);
    REPEAT(walk(paths, N));
}
#elif defined shape_tuple_vector
using Line = std::tuple<long, double, std::array<long, 8>>;
NI static double walk(const std::vector<Line> &rows)
{
    double sum = 0;
    EACH(i, rows.size()) sum += std::get<1>(rows[i]);
    return sum;
}
int main(int argc, char **argv)
{
    std::vector<Line> rows(N, Line(1, 1.0, {}));
    REPEAT(walk(rows));
}
#elif defined shape_pair_vector
NI static double walk(const std::vector<std::pair<Rec, double>> &pairs)
{
    double sum = 0;
    EACH(i, pairs.size()) sum += pairs[i].second;
    return sum;
}
int main(int argc, char **argv)
{
    std::vector<std::pair<Rec, double>> pairs(N);
    for (auto &pair : pairs)
        pair.second = 1;
    REPEAT(walk(pairs));
}
#elif defined shape_nested_vector
NI static double walk(const std::vector<std::vector<Rec>> &rows)
{
    double sum = 0;
    EACH(i, rows.size())
    {
        for (const Rec &rec : rows[i])
            sum += rec.load;
    }
    return sum;
}
int main(int argc, char **argv)
{
    std::vector<std::vector<Rec>> rows(1 << 16);
    for (size_t i = 0; i < rows.size(); i++)
        for (size_t k = 0; k < 1 + i % 7; k++)
            rows[i].push_back(Rec{1, "", {}, 1});
    REPEAT(walk(rows));
}
#elif defined shape_coroutine
struct Task {
    struct promise_type {
        double value;
        Task get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
        std::suspend_always initial_suspend() noexcept { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        std::suspend_always yield_value(double next) noexcept
        {
            value = next;
            return {};
        }
        void return_void() {}
        void unhandled_exception() {}
    };
    std::coroutine_handle<promise_type> handle;
};
static Task count(double step, long from)
{
    for (double sum = (double)from;; sum += step)
        co_yield sum;
}
NI static double walk(const std::vector<Task> &tasks)
{
    double sum = 0;
    EACH(i, tasks.size())
    {
        tasks[i].handle.resume();
        sum += tasks[i].handle.promise().value;
    }
    return sum;
}
int main(int argc, char **argv)
{
    std::vector<Task> tasks;
    for (size_t i = 0; i < N; i++)
        tasks.push_back(count(1, (long)i));
    REPEAT(walk(tasks));
}
#elif defined shape_multi_index
struct Row {
    char name[64];
    long key;
    Row *left, *right;
    double value;
};
static Row *root;
NI static void insert(long key)
{
    Row **at = &root;
    while (*at)
        at = key < (*at)->key ? &(*at)->left : &(*at)->right;
    Row *row = new Row{};
    row->key = key;
    *at = row;
}
NI static long walk()
{
    long found = 0;
    for (unsigned i = 0, key = 1; i < 20000; i++, key = key * 1664525 + 1013904223) {
        const Row *row = root;
        long want = key % N;
        while (row && row->key != want)
            row = want < row->key ? row->left : row->right;
        found += row != nullptr;
    }
    return found;
}
int main(int argc, char **argv)
{
    for (size_t i = 0; i < N; i++)
        insert((long)PLACE(i * 7 + 1, N));
    REPEAT(walk());
}
#elif defined shape_crtp
template <typename T> struct Counted {
    long references = 0;
    double get() const { return static_cast<const T *>(this)->value; }
};
struct Derived : Counted<Derived> {
    char name[72];
    double value = 1;
};
NI static double walk(const Derived *all, size_t n)
{
    double sum = 0;
    EACH(i, n) sum += static_cast<const Counted<Derived> &>(all[i]).get();
    return sum;
}
int main(int argc, char **argv)
{
    Derived *all = new Derived[N];
    REPEAT(walk(all, N));
}
#elif defined shape_unique_array
NI static double walk(const std::unique_ptr<Rec[]> &recs, size_t n)
{
    double sum = 0;
    EACH(i, n) sum += recs[i].load;
    return sum;
}
int main(int argc, char **argv)
{
    auto recs = std::make_unique<Rec[]>(N);
    for (size_t i = 0; i < N; i++)
        recs[i].load = 1;
    REPEAT(walk(recs, N));
}
#elif defined shape_any_pointers
NI static double walk(const std::vector<std::any> &anys)
{
    double sum = 0;
    for (const std::any &any : anys)
        sum += std::any_cast<const Rec &>(any).load;
    return sum;
}
int main(int argc, char **argv)
{
    std::vector<std::any> anys(N);
    for (size_t i = 0; i < N; i++)
        anys[PLACE(i, N)] = Rec{1, "", {}, 1};
    REPEAT(walk(anys));
}
#elif defined shape_set_std
NI static long walk(const std::set<long> &keys)
{
    long found = 0;
    for (unsigned i = 0, key = 1; i < 20000; i++, key = key * 1664525 + 1013904223)
        found += keys.count(key % N) != 0;
    return found;
}
int main(int argc, char **argv)
{
    std::set<long> keys;
    for (size_t i = 0; i < N; i++)
        keys.insert((long)PLACE(i, N));
    REPEAT(walk(keys));
}
#elif defined shape_forward
NI static double walk(const std::forward_list<Rec> &recs)
{
    double sum = 0;
    for (const Rec &rec : recs)
        sum += rec.load;
    return sum;
}
int main(int argc, char **argv)
{
    std::forward_list<Rec> recs;
    std::vector<void *> between;
    for (size_t i = 0; i < N; i++) {
        recs.push_front(Rec{1, "", {}, 1});
        between.push_back(malloc(i * 7919 % 300));
    }
    for (void *block : between)
        free(block);
    REPEAT(walk(recs));
}
#elif defined shape_pmr_pool
NI static double walk(const std::pmr::list<Rec> &recs)
{
    double sum = 0;
    for (const Rec &rec : recs)
        sum += rec.load;
    return sum;
}
int main(int argc, char **argv)
{
    std::pmr::unsynchronized_pool_resource pool;
    std::pmr::list<Rec> recs(&pool);
    for (size_t i = 0; i < N; i++)
        recs.push_back(Rec{1, "", {}, 1});
    REPEAT(walk(recs));
}
#elif defined shape_new_array_of_arrays
NI static double walk(Rec *const *rows, size_t n)
{
    double sum = 0;
    EACH(i, n)
    {
        for (size_t k = 0; k < 8; k++)
            sum += rows[i][k].load;
    }
    return sum;
}
int main(int argc, char **argv)
{
    enum { ROWS = 1 << 16 };
    Rec **rows = new Rec *[ROWS];
    for (size_t i = 0; i < ROWS; i++) {
        rows[i] = new Rec[8]();
        for (size_t k = 0; k < 8; k++)
            rows[i][k].load = 1;
    }
    REPEAT(walk(rows, ROWS));
}
#endif
