// Classes: arrays with a cookie before the first element, bases, placement.
//
/// cookie8 type=Rec bytes=136 start=8 hot=price@8 path=main name=recs must=right
/// cookie8_long type=Name bytes=88 start=8 hot=weight@72 path=main name=names must=right
/// cookie16 type=Aligned bytes=80 start=16 hot=load@72 path=main name=items must=right
/// cookie64 type=Line bytes=128 start=64 hot=load@72 path=main name=items
/// cookie_nested type=Order bytes=120 start=8 hot=price@56 path=main,make_orders name=list,orders
/// cookie_nested and type=Customer bytes=64 start=8 hot=orders@40 path=main name=customers
/// cookie_inner type=Group bytes=232 start=8 hot=members.price@48+72*3 path=main name=groups
/// cookie_none type=Plain bytes=104 start=0 hot=price@64 path=main name=items
/// cookie_unique type=Rec bytes=136 start=8 hot=price@8 path=main name=recs,_M_head_impl,_M_t must=right
/// base_class type=Circle bytes=112 hot=mass@24 path=main name=circles
/// base_class and type=Square bytes=136 hot=mass@24 path=main name=squares
/// virtual_class type=Round bytes=120 hot=radius@64,_vptr.Shape@0 path=main name=shapes,Round
/// virtual_class and type=Flat bytes=104 hot=width@88,_vptr.Shape@0 path=main name=shapes,Flat
/// virtual_class and type=Shape* bytes=8 path=main name=shapes
/// multiple type=Both bytes=144 hot=score@104 path=main name=both
/// multiple and type=Scored* bytes=8 path=main name=scored
/// placement type=Rec bytes=136 start=0 hot=price@8 path=main name=buffer,recs
/// placement_header type=Rec bytes=136 start=24 hot=price@8 path=main name=buffer,recs
/// std_array type=Grid bytes=152 hot=cells._M_elems|cells@24+8*4 path=main name=grids
/// template_class type=Pair<long,double> bytes=80 hot=second@64 path=main name=pairs
/// cookie8_threads of=cookie8 flags=-fopenmp,-DTHREADS
/// cookie8_O0 of=cookie8 flags=-O0
/// cookie8_O3 of=cookie8 flags=-O3
/// cookie8_clang of=cookie8_long with=clang
/// cookie8_stripped of=cookie8 strip=1
/// cookie8_no_debug of=cookie8_long flags=-g0
/// base_class_clang of=base_class with=clang
#include "shape.h"
#include <array>
#include <memory>
#include <new>
#include <string>

enum { N = 1 << 19 };
static long dead;

struct Rec {
    long key;
    double price;
    long c[11];
    std::string name;
    ~Rec()
    {
        if (key == -1)
            dead++;
    }
};
struct Name {
    std::string name, other;
    long key;
    double weight;
    long last;
};
struct alignas(16) Aligned {
    std::string name;
    long more[5];
    double load;
    ~Aligned()
    {
        dead += more[0];
    }
};
struct alignas(64) Line {
    long more[9];
    double load;
    ~Line()
    {
        dead += more[0];
    }
};
struct Order {
    long id;
    std::string what;
    long when[2];
    double price;
    long more[7];
};
struct Customer {
    std::string name;
    long id;
    Order *orders;
    long count, last;
};
struct Member {
    std::string name;
    double price;
    long more[4];
};
struct Group {
    long id, count;
    Member members[3];
};
struct Plain {
    char name[64];
    double price, more[4];
};
struct Body {
    double at[3], mass, speed[3];
};
struct Circle : Body {
    double radius;
    char name[48];
};
struct Square : Body {
    char text[64];
    double side, more;
};
struct Shape {
    long id, what[5];
    Shape() : id(0), what()
    {
    }
    virtual ~Shape()
    {
    }
    virtual double walk_area() const = 0;
};
struct Named {
    char name[72];
    long id;
};
struct Scored {
    double low, high, mean, score, more[3];
};
struct Both : Named, Scored {
    long last;
};
struct Grid {
    long id, size[2];
    std::array<double, 4> cells;
    double more[12];
};
template <class A, class B> struct Pair {
    A first;
    char text[56];
    B second, third;
};

#define RECORDS(type, var, field)                                                                                      \
    NI static double walk(const type *var, size_t n)                                                                   \
    {                                                                                                                  \
        double sum = 0;                                                                                                \
        EACH(i, n) sum += var[i].field;                                                                                \
        return sum;                                                                                                    \
    }

#if defined shape_cookie8 || defined shape_cookie_unique || defined shape_placement || defined shape_placement_header
RECORDS(Rec, recs, price)
int main(int argc, char **argv)
{
#ifdef shape_cookie8
    Rec *recs = new Rec[N];
#elif defined shape_cookie_unique
    std::unique_ptr<Rec[]> owner(new Rec[N]);
    Rec *recs = owner.get();
#else
#ifdef shape_placement
    char *buffer = new char[N * sizeof(Rec)];
    Rec *recs = reinterpret_cast<Rec *>(buffer);
#else
    char *buffer = new char[N * sizeof(Rec) + 24];
    Rec *recs = reinterpret_cast<Rec *>(buffer + 24);
#endif
    for (size_t i = 0; i < N; i++)
        new (&recs[i]) Rec;
#endif
    for (size_t i = 0; i < N; i++)
        recs[i].key = (long)i, recs[i].price = 1;
    REPEAT(walk(recs, N));
#ifdef shape_cookie8
    delete[] recs;
#endif
    return dead != 0;
}
#elif defined shape_cookie8_long
RECORDS(Name, names, weight)
int main(int argc, char **argv)
{
    Name *names = new Name[N];
    for (size_t i = 0; i < N; i++)
        names[i].key = (long)i, names[i].weight = 1;
    REPEAT(walk(names, N));
    delete[] names;
    return 0;
}
#elif defined shape_cookie16 || defined shape_cookie64
#ifdef shape_cookie64
#define Aligned Line
#endif
RECORDS(Aligned, items, load)
int main(int argc, char **argv)
{
    Aligned *items = new Aligned[N];
    for (size_t i = 0; i < N; i++)
        items[i].more[0] = 0, items[i].load = 1;
    REPEAT(walk(items, N));
    delete[] items;
    return (int)dead;
}
#elif defined shape_cookie_nested
NI static double walk(const Customer *customers, size_t n)
{
    double sum = 0;
    EACH(i, n)
    {
        const Order *orders = customers[i].orders;
        for (int k = 0; k < 4; k++)
            sum += orders[k].price;
    }
    return sum;
}
NI static Order *make_orders()
{
    Order *list = new Order[4];
    for (int k = 0; k < 4; k++)
        list[k].id = k, list[k].price = 1;
    return list;
}
int main(int argc, char **argv)
{
    Customer *customers = new Customer[N / 4];
    for (size_t i = 0; i < N / 4; i++)
        customers[i].orders = make_orders();
    REPEAT(walk(customers, N / 4));
    return 0;
}
#elif defined shape_cookie_inner
NI static double walk(const Group *groups, size_t n)
{
    double sum = 0;
    EACH(i, n) for (int k = 0; k < 3; k++) sum += groups[i].members[k].price;
    return sum;
}
int main(int argc, char **argv)
{
    Group *groups = new Group[N / 2];
    for (size_t i = 0; i < N / 2; i++)
        groups[i].id = (long)i, groups[i].members[0].price = 2;
    REPEAT(walk(groups, N / 2));
    delete[] groups;
    return 0;
}
#elif defined shape_cookie_none
RECORDS(Plain, items, price)
int main(int argc, char **argv)
{
    Plain *items = new Plain[N];
    for (size_t i = 0; i < N; i++)
        items[i] = Plain(), items[i].price = 1;
    REPEAT(walk(items, N));
    return 0;
}
#elif defined shape_base_class
template <class T> static inline double walk_all(const T *all, size_t n)
{
    double sum = 0;
    EACH(i, n) sum += all[i].mass;
    return sum;
}
NI static double walk_circles(const Circle *circles, size_t n)
{
    return walk_all(circles, n);
}
NI static double walk_squares(const Square *squares, size_t n)
{
    return walk_all(squares, n);
}
int main(int argc, char **argv)
{
    Circle *circles = new Circle[N]();
    Square *squares = new Square[N]();
    for (size_t i = 0; i < N; i++)
        circles[i].radius = 1, squares[i].side = 2;
    REPEAT(walk_circles(circles, N) + walk_squares(squares, N));
    return 0;
}
#elif defined shape_virtual_class
struct Round : Shape {
    char text[8];
    double radius, more[6];
    Round() : radius(1)
    {
    }
    NI double walk_area() const override
    {
        return radius;
    }
};
struct Flat : Shape {
    char text[32];
    double width, height;
    Flat() : width(2)
    {
    }
    NI double walk_area() const override
    {
        return width;
    }
};
NI static double walk(Shape *const *shapes, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += shapes[i]->walk_area();
    return sum;
}
int main(int argc, char **argv)
{
    Shape **shapes = new Shape *[N];
    for (size_t i = 0; i < N; i++) {
        Shape *shape = i % 3 ? static_cast<Shape *>(new Round) : new Flat;
        shapes[PLACE(i, N)] = shape;
    }
    REPEAT(walk(shapes, N));
    return 0;
}
#elif defined shape_multiple
NI static double walk(Scored *const *scored, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += scored[i]->score;
    return sum;
}
int main(int argc, char **argv)
{
    Both *both = new Both[N]();
    Scored **scored = new Scored *[N];
    for (size_t i = 0; i < N; i++)
        scored[PLACE(i, N)] = &both[i];
    REPEAT(walk(scored, N));
    return 0;
}
#elif defined shape_std_array
NI static double walk(const Grid *grids, size_t n)
{
    double sum = 0;
    EACH(i, n) sum += grids[i].cells[i & 3];
    return sum;
}
int main(int argc, char **argv)
{
    Grid *grids = new Grid[N]();
    for (size_t i = 0; i < N; i++)
        grids[i].id = (long)i, grids[i].cells[2] = 1;
    REPEAT(walk(grids, N));
    return 0;
}
#elif defined shape_template_class
typedef Pair<long, double> Entry;
RECORDS(Entry, pairs, second)
int main(int argc, char **argv)
{
    Entry *pairs = new Entry[N]();
    for (size_t i = 0; i < N; i++)
        pairs[i].first = (long)i, pairs[i].second = 1;
    REPEAT(walk(pairs, N));
    return 0;
}
#endif
