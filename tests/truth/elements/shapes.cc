// std::vector of structures and of numbers; prints the same lines as shapes.c.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <vector>

static double seconds = 0.5;
static volatile double sink;

struct Particle {
    double x, y, z;
    float charge;
    std::int32_t cell;
};

template <class T> static std::vector<T> filled(std::size_t count)
{
    std::vector<T> items(count);
    std::printf("block %zu %zu 0\n", items.capacity() * sizeof(T), sizeof(T));
    return items;
}

template <class Function> static void repeat(Function function)
{
    while ((double)std::clock() < seconds * CLOCKS_PER_SEC) {
        __asm__ volatile("" ::: "memory");
        sink = sink + (double)function();
    }
}

__attribute__((noinline)) static double charge_of(const std::vector<Particle> &particles)
{
    double sum = 0;
    for (const Particle &particle : particles)
        sum += particle.charge;
    return sum;
}

__attribute__((noinline)) static double move_all(std::vector<Particle> &particles, double by)
{
    for (auto it = particles.begin(); it != particles.end(); ++it) {
        it->x += by;
        it->y -= by;
    }
    return by;
}

__attribute__((noinline)) static std::int64_t sum_numbers(const std::vector<std::int64_t> &numbers)
{
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < numbers.size(); i++)
        sum += numbers[i];
    return sum;
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return std::puts("particles\nnumbers") < 0;
    if (argc > 2)
        seconds = std::atof(argv[2]);
    if (std::strcmp(argv[1], "particles") == 0) {
        std::vector<Particle> particles = filled<Particle>(700000);
        std::printf("use charge_of %zu 24\nuse move_all %zu 0,8\n", particles.size() * sizeof(Particle),
                    particles.size() * sizeof(Particle));
        repeat([&] { return charge_of(particles) + move_all(particles, 0.5); });
    } else {
        std::vector<std::int64_t> numbers = filled<std::int64_t>(3000000);
        repeat([&] { return sum_numbers(numbers); });
    }
    return 0;
}
