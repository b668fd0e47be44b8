// walked_names ROUNDS: sums up what a std::map whose keys are strings holds, in the order of its keys, again and again.
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

static unsigned long state = 1;

static unsigned long drawn()
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return state >> 20;
}

static constexpr int accounts = 400000;

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
    for (long r = 0; r < rounds; r++) {
        sum += initials(map);
        map.begin()->second++; /* so that the next round sums up anew */
    }
    return sum;
}

int main(int count, char **arguments)
{
    return printf("%g\n", names(count < 2 ? 10 : atol(arguments[1]))) < 0;
}
