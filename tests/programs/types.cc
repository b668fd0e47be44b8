// C++ types known by construction, for tests/unit/test_types.c.
#include <memory>
#include <vector>

namespace geo
{
struct Base {
    int id;
    virtual ~Base();
};
Base::~Base() {}

class Particle : public Base
{
  public:
    double x, y;
    static int count;
    union {
        int i;
        float f;
    };
    Particle() : x(1), y(2), i(3) {}
    double length() const { return x * x + y * y; }
};
int Particle::count;
} // namespace geo

struct Plain {
    int value;
    bool less(int other) const { return value < other; }
};
Plain plain;

struct Hooked : std::enable_shared_from_this<Hooked> {
    int own;
};
Hooked hooked;

typedef struct {
    int k;
    double v;
} pair_t;

geo::Particle world[10];

__attribute__((noinline)) double total(const std::vector<pair_t> &pairs)
{
    double sum = 0;
    for (const auto &pair : pairs)
        sum += pair.v;
    return sum;
}

__attribute__((noinline)) double walk(std::vector<geo::Particle *> &all)
{
    double sum = 0;
    for (auto *each : all)
        sum += each->length();
    return sum;
}

int main(int argc, char **)
{
    pair_t first = {argc, 0.5}; // clang leaves typedefs out that no variable uses
    std::vector<pair_t> pairs(argc * 10, first);
    std::vector<geo::Particle *> all;
    for (int i = 0; i < argc; i++)
        all.push_back(new geo::Particle);
    return (int)total(pairs) + (int)walk(all) + (int)world[argc].x + geo::Particle::count;
}
