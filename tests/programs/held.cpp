// held KIND ROUNDS: what containers hold. "pointers": a priority queue of pointers; "large", "small": of elements of 96 and of 16 bytes;
// "classes": an array of pointers to objects of two classes, in disorder; "alike": of one class.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <queue>
#include <random>
#include <type_traits>
#include <vector>

static std::mt19937 drawn(1);

template <size_t BYTES> struct event {
    double when;
    char text[BYTES - sizeof(double)];
};

template <class T> struct later {
    static double when(const T &event)
    {
        return event.when;
    }
    static double when(const T *event)
    {
        return event->when;
    }
    template <class E> bool operator()(const E &a, const E &b) const
    {
        return when(a) > when(b);
    }
};

template <class T, bool POINTERS> static double queued(long rounds)
{
    static constexpr int events = 300000;
    using held = std::conditional_t<POINTERS, T *, T>;
    std::priority_queue<held, std::vector<held>, later<T>> queue;
    double sum = 0;
    for (int i = 0; i < events; i++)
        if constexpr (POINTERS)
            queue.push(new T{double(drawn() % 1000000), {}});
        else
            queue.push(T{double(drawn() % 1000000), {}});
    for (long i = 0; i < 100000 * rounds; i++) {
        held first = queue.top();
        queue.pop();
        if constexpr (POINTERS)
            sum += first->when += drawn() % 1000000;
        else
            sum += first.when += drawn() % 1000000;
        queue.push(first);
    }
    return sum;
}

struct shape {
    virtual ~shape() = default;
    virtual double area() const = 0;
};
struct disc : shape {
    double radius = 2, x = 0, y = 0;
    double area() const override
    {
        return 3 * radius * radius;
    }
};
struct box : shape {
    double x = 0, y = 0, width = 1, height = 2, depth = 3, weight = 4;
    double area() const override
    {
        return width * height;
    }
};

static double visited(long rounds, bool alike)
{
    std::vector<shape *> shapes;
    double sum = 0;
    for (int i = 0; i < 600000; i++)
        shapes.push_back(alike || drawn() & 1 ? static_cast<shape *>(new box) : new disc);
    std::shuffle(shapes.begin(), shapes.end(), drawn);
    for (long r = 0; r < rounds; r++)
        for (const shape *one : shapes)
            sum += one->area();
    return sum;
}

int main(int count, char **arguments)
{
    const char *kind = count < 2 ? "pointers" : arguments[1];
    const long rounds = count < 3 ? 10 : atol(arguments[2]);
    const double sum = strcmp(kind, "pointers") == 0 ? queued<event<64>, true>(rounds)
                       : strcmp(kind, "large") == 0  ? queued<event<96>, false>(rounds)
                       : strcmp(kind, "small") == 0  ? queued<event<16>, false>(rounds)
                                                     : visited(rounds, strcmp(kind, "alike") == 0);
    return printf("%g\n", sum) < 0;
}
