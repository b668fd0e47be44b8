/* Objects of several classes, made by functions that return a pointer to the base class of all. */
struct Shape {
    virtual double area() const = 0;
};

struct Square : Shape {
    int mark;
    double side, sides[2];
    Shape *inside[2];
    Square(int mark, double side, double low, double high, Shape *first = nullptr, Shape *second = nullptr)
    {
        this->mark = mark;
        this->side = side;
        sides[0] = low;
        sides[1] = high;
        inside[0] = first;
        inside[1] = second;
    }
    double area() const override
    {
        return side * side;
    }
};

template <class T> struct Ring : Shape {
    T inner, outer;
    Shape *next;
    Ring(T inner, T outer, Shape *next) : inner(inner), outer(outer), next(next)
    {
    }
    double area() const override
    {
        return outer * outer - inner * inner;
    }
};

struct Disc : Ring<double> {
    double height;
    Disc(double outer, double height, Shape *next) : Ring<double>(0, outer, next), height(height)
    {
    }
};

extern "C" Shape *make_square(int mark, double side, Shape *first, Shape *second)
{
    return new Square(mark, side, side / 2, side * 2, first, second);
}

extern "C" Shape *make_ring(double outer, Shape *next)
{
    return new Ring<double>(outer / 2, outer, next);
}

extern "C" Shape *make_disc(double outer, Shape *next)
{
    return new Disc(outer, 1, next);
}

extern "C" void keep_disc(Shape **to, double outer)
{
    *to = new Disc(outer, 2, *to);
}

int main(int count, char **)
{
    Shape *all = nullptr;
    for (int i = 0; i < count * 3; i++) {
        all = make_square(i, i, all, all);
        all = make_ring(i, all);
        all = make_disc(i, all);
        keep_disc(&all, i);
    }
    return all->area() < 0;
}
