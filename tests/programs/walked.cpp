// walked KIND ROUNDS: sums up what a std::map or a std::set holds, in the order of its keys, again and again. "map", "sets" (one for each
// of many owners), "names" (whose keys are strings): nothing else happens meanwhile. "changed": some elements are taken out and put in
// between. "found": some are looked up. "lists", "moved": many std::list, filled in turns; of "moved" each one's first element comes to be
// its last in each round.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <list>
#include <map>
#include <set>
#include <string>
#include <vector>

struct account {
    double balance;
    int branch;
};

static unsigned long state = 1;

static unsigned long drawn()
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return state >> 20;
}

static constexpr int accounts = 400000, owners = 100000, each = 6;

static std::map<unsigned long, account> filled()
{
    std::map<unsigned long, account> map;
    for (int i = 0; i < accounts; i++)
        map[drawn()] = account{double(i), i % 50};
    return map;
}

__attribute__((noinline)) static double total(const std::map<unsigned long, account> &map)
{
    double sum = 0;
    for (const auto &entry : map)
        sum += entry.second.balance * entry.second.branch;
    return sum;
}

__attribute__((noinline)) static void change(std::map<unsigned long, account> &map)
{
    for (int i = 0; i < accounts / 2; i++) {
        auto at = map.lower_bound(drawn());
        if (at != map.end())
            map.erase(at);
        map[drawn()] = account{1, 1};
    }
}

__attribute__((noinline)) static double look(const std::map<unsigned long, account> &map)
{
    double sum = 0;
    for (int i = 0; i < accounts / 2; i++) {
        auto at = map.lower_bound(drawn());
        sum += at != map.end() ? at->second.balance : 0;
    }
    return sum;
}

__attribute__((noinline)) static double least(const std::vector<std::set<int>> &friends, std::vector<int> &ages)
{
    double sum = 0;
    for (const auto &of : friends) {
        int youngest = 1000;
        for (int one : of)
            youngest = ages[one] < youngest ? ages[one] : youngest;
        sum += youngest;
    }
    ages[0]++;
    return sum;
}

static double sets(long rounds)
{
    std::vector<std::set<int>> friends(owners);
    std::vector<int> ages(owners, 30);
    double sum = 0;
    for (int i = 0; i < owners * each; i++) {
        const int a = int(drawn() % owners), b = int(drawn() % owners);
        friends[a].insert(b);
        friends[b].insert(a);
    }
    for (long r = 0; r < rounds; r++)
        sum += least(friends, ages);
    return sum;
}

__attribute__((noinline)) static double initials(const std::map<std::string, int> &map)
{
    double sum = 0;
    for (const auto &entry : map)
        sum += entry.second * entry.first[1];
    return sum;
}

static double names(long rounds)
{
    std::map<std::string, int> map;
    double sum = 0;
    for (int i = 0; i < accounts; i++)
        map["n" + std::to_string(drawn() % 1000000000)] = i;
    for (long r = 0; r < rounds; r++)
        sum += initials(map);
    return sum;
}

template <bool moved> static double lists(long rounds)
{
    std::vector<std::list<account>> of(owners);
    double sum = 0;
    for (int i = 0; i < 10 * owners; i++)
        of[drawn() % owners].push_back({double(i), i % 50});
    for (long r = 0; r < rounds; r++)
        for (auto &list : of) {
            for (const account &one : list)
                sum += one.balance * one.branch;
            if (moved && !list.empty())
                list.splice(list.end(), list, list.begin());
        }
    return sum;
}

int main(int count, char **arguments)
{
    const char *kind = count < 2 ? "map" : arguments[1];
    const long rounds = count < 3 ? 10 : atol(arguments[2]);
    if (strcmp(kind, "sets") == 0)
        return printf("%g\n", sets(rounds)) < 0;
    if (strcmp(kind, "names") == 0)
        return printf("%g\n", names(rounds)) < 0;
    if (strcmp(kind, "lists") == 0)
        return printf("%g\n", lists<false>(rounds)) < 0;
    if (strcmp(kind, "moved") == 0)
        return printf("%g\n", lists<true>(rounds)) < 0;
    std::map<unsigned long, account> map = filled();
    double sum = 0;
    for (long r = 0; r < rounds; r++) {
        sum += total(map);
        if (strcmp(kind, "changed") == 0)
            change(map);
        else if (strcmp(kind, "found") == 0)
            sum += look(map);
    }
    return printf("%g\n", sum) < 0;
}
