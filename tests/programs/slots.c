/* slots KIND ROUNDS: goes to accounts anywhere, by an array of pointers, each of which leads to one of its own ("stays") or changes its
 * place with another one's ("moves"). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ACCOUNTS = 1 << 21 };

struct account {
    long balance, limit;
#ifdef LINKED /* as hash chains are */
    struct account *next;
#endif
    int owner, branch;
};

static unsigned long state = 1;

static size_t drawn(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (state >> 33) % ACCOUNTS;
}

__attribute__((noinline)) static long balances(struct account *const *accounts)
{
    long sum = 0;
    for (int i = 0; i < ACCOUNTS; i++) {
        const struct account *account = accounts[drawn()];
        sum += account->balance + account->limit + account->owner + account->branch;
    }
    return sum;
}

__attribute__((noinline)) static long worth(struct account *const *accounts, size_t which)
{
    const struct account *account = accounts[which];
    return account->balance + account->limit + account->owner + account->branch;
}

__attribute__((noinline)) static long worths(struct account *const *accounts)
{
    long sum = 0;
    for (int i = 0; i < ACCOUNTS; i++)
        sum += worth(accounts, drawn());
    return sum;
}

__attribute__((noinline)) static long trades(struct account **accounts)
{
    long sum = 0;
    for (int i = 0; i < ACCOUNTS; i++) {
        struct account **slot = &accounts[drawn()], *account = *slot;
        sum += account->balance + account->limit + account->owner + account->branch;
        *slot = accounts[i];
        accounts[i] = account;
    }
    return sum;
}

int main(int count, char **arguments)
{
    const int moves = count > 1 && strcmp(arguments[1], "moves") == 0, called = count > 1 && strcmp(arguments[1], "called") == 0;
    const long rounds = count < 3 ? 10 : atol(arguments[2]);
    struct account **accounts = malloc(ACCOUNTS * sizeof *accounts);
    long sum = 0;
    for (int i = 0; i < ACCOUNTS; i++) {
        accounts[i] = malloc(sizeof **accounts);
        *accounts[i] = (struct account){.balance = i, .limit = 100, .owner = i % 100, .branch = i % 7};
    }
    for (long r = 0; r < rounds; r++)
        sum += moves ? trades(accounts) : called ? worths(accounts) : balances(accounts);
    return printf("%ld\n", sum) < 0;
}
