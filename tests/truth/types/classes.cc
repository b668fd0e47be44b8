// Where every hot loop's data is known: each "TRUTH function: type { fields }" names what its accesses go to.
// Run by tests/truth/named_types.sh; the argument is the number of rounds.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <numeric>
#include <unordered_map>
#include <vector>

#define HOT __attribute__((noinline))
static const int count = 300000;

namespace geo
{
struct Vec {
    double x = 0, y = 0, z = 0;
    double dot(const Vec &other) const
    {
        return x * other.x + y * other.y + z * other.z;
    }
    Vec &operator+=(const Vec &other)
    {
        x += other.x;
        y += other.y;
        z += other.z;
        return *this;
    }
};

class Entity
{
  public:
    explicit Entity(int number) : id(number)
    {
    }
    virtual ~Entity()
    {
    }
    virtual double energy() const = 0;

  protected:
    int id;
    int flags = 0;
};

class Particle : public Entity
{
  public:
    explicit Particle(int number) : Entity(number), mass(number)
    {
    }
    double energy() const override;
    void step(double by);
    double heavy() const
    {
        return mass;
    }
    int number() const
    {
        return id;
    }

  private:
    Vec position, velocity;
    double mass;
    double charge = 1;
};

// TRUTH geo::Particle::energy: geo::Particle { velocity, mass }
HOT double Particle::energy() const
{
    return mass * velocity.dot(velocity);
}

// TRUTH geo::Particle::step: geo::Particle { position, velocity }
HOT void Particle::step(double)
{
    position += velocity;
}
} // namespace geo

template <typename Key, typename Payload> struct Entry {
    Key key;
    Payload payload;
    long used = 0;
};

struct Record {
    long visits = 0;
    double score = 0;
    char text[16] = {0};
};

struct Link {
    explicit Link(int number) : value(number)
    {
    }
    int value;
    double cost = 1;
    std::unique_ptr<Link> next;
};

class Field
{
  public:
    explicit Field(int size) : cells(size), size(size)
    {
    }
    void diffuse();
    double total() const;

  private:
    struct Cell {
        float level = 1, source = 0;
        double old = 0;
    };
    std::vector<Cell> cells;
    int size;
};

// TRUTH Field::diffuse: Field::Cell { level, old }
HOT void Field::diffuse()
{
    for (int i = 1; i + 1 < size; i++)
        cells[i].old = cells[i - 1].level + cells[i + 1].level;
    for (auto &cell : cells)
        cell.level = (float)cell.old;
}

// TRUTH Field::total: Field::Cell { source }
HOT double Field::total() const
{
    return std::accumulate(cells.begin(), cells.end(), 0.0,
                           [](double sum, const Cell &cell) { return sum + cell.source; });
}

// TRUTH all_energy: geo::Entity * { }
// TRUTH all_energy: geo::Particle { _vptr.Entity, velocity, mass }
HOT double all_energy(const std::vector<geo::Entity *> &entities)
{
    double sum = 0;
    for (const auto *entity : entities)
        sum += entity->energy();
    return sum;
}

// TRUTH all_steps: geo::Particle { position, velocity }
HOT void all_steps(std::vector<geo::Particle> &particles)
{
    for (auto &particle : particles)
        particle.step(1);
}

// TRUTH heaviest: geo::Particle { id, mass }
HOT double heaviest(const std::vector<geo::Particle> &particles)
{
    double most = 0;
    for (auto at = particles.begin(); at != particles.end(); ++at)
        if (at->number() & 1)
            most = std::max(most, at->heavy());
    return most;
}

// TRUTH use_entries: Entry<int, double> { key, payload }
HOT double use_entries(std::vector<Entry<int, double>> &entries)
{
    double sum = 0;
    for (size_t i = 0; i < entries.size(); i++)
        if (entries[i].key % 3)
            sum += entries[i].payload;
    return sum;
}

// TRUTH scale_entries: Entry<int, double> { payload, used }
HOT void scale_entries(Entry<int, double> *entries, int size, double by)
{
    std::for_each(entries, entries + size, [by](Entry<int, double> &entry) {
        entry.payload *= by;
        entry.used++;
    });
}

// TRUTH visit_hashed: std::__detail::_Hash_node<std::pair<int const, Record>, false> { _M_nxt, first, second.score, second.visits }
// TRUTH visit_hashed: std::__detail::_Hash_node_base * { }
HOT double visit_hashed(std::unordered_map<int, Record> &records, int lookups)
{
    double sum = 0;
    unsigned key = 1;
    for (int i = 0; i < lookups; i++) {
        key = key * 1664525u + 1013904223u;
        auto found = records.find((int)(key >> 8) % count);
        if (found != records.end())
            sum += found->second.score;
    }
    for (auto &each : records)
        each.second.visits++;
    return sum;
}

// What libstdc++ itself reads of a node counts for all of it.
// TRUTH visit_sorted: std::_Rb_tree_node<std::pair<int const, Record> > { * }
HOT double visit_sorted(const std::map<int, Record> &records, int lookups)
{
    double sum = 0;
    unsigned key = 1;
    for (int i = 0; i < lookups; i++) {
        key = key * 1664525u + 1013904223u;
        auto found = records.lower_bound((int)(key >> 8) % count);
        if (found != records.end())
            sum += found->second.score;
    }
    for (const auto &each : records)
        sum += (double)each.second.visits;
    return sum;
}

// TRUTH follow: Link { value, next }
HOT long follow(const std::unique_ptr<Link> &first)
{
    long sum = 0;
    for (const Link *link = first.get(); link; link = link->next.get())
        sum += link->value;
    return sum;
}

// TRUTH total_score: Record { visits, score }
HOT double total_score(const std::unique_ptr<Record[]> &records)
{
    double sum = 0;
    for (int i = 0; i < count; i++)
        sum += records[i].score * (double)records[i].visits;
    return sum;
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? atoi(argv[1]) : 10;
    std::vector<geo::Particle> particles;
    std::vector<geo::Entity *> entities;
    std::vector<Entry<int, double>> entries(count);
    std::unordered_map<int, Record> hashed;
    std::map<int, Record> sorted;
    std::unique_ptr<Link> first;
    std::unique_ptr<Record[]> records(new Record[count]);
    auto *plain = new Entry<int, double>[count];
    Field field(count * 2);
    double sum = 0;
    for (int i = 0; i < count; i++) {
        particles.emplace_back(i);
        entities.push_back(new geo::Particle(i));
        entries[i].key = i;
        hashed[i].score = i;
        sorted[i].score = i;
        auto link = std::make_unique<Link>(i);
        link->next = std::move(first);
        first = std::move(link);
    }
    for (int i = 0; i < rounds; i++) {
        sum += all_energy(entities) + heaviest(particles) + use_entries(entries) + total_score(records);
        all_steps(particles);
        scale_entries(plain, count, 1.5);
        scale_entries(entries.data(), count, 1.5);
        sum += visit_hashed(hashed, count) + visit_sorted(sorted, count / 4) + (double)follow(first);
        field.diffuse();
        sum += field.total();
    }
    std::printf("%g\n", sum);
    while (first)
        first = std::move(first->next);
    return 0;
}
