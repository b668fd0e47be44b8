#!/bin/bash
# A program whose own malloc() takes a lock, and is where nearly all of the time goes: a process of it that is set up late must not wait
# for that lock, as the loader would by allocating, nor a forked one, whether its files can be opened or not.
set -u
cd "$TMP" || exit 1
cat > locked.c <<'C'
#include <locale.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
static atomic_flag lock = ATOMIC_FLAG_INIT;
static _Alignas(16) char arena[16 << 20];
static size_t used;
static volatile unsigned searched;
void *malloc(size_t size)
{
    while (atomic_flag_test_and_set(&lock))
        ;
    for (int i = 0; i < 1000; i++)
        searched += i;
    void *block = arena + used;
    used += (size + 15) / 16 * 16;
    atomic_flag_clear(&lock);
    return block;
}
void free(void *block) { (void)block; }
void *calloc(size_t count, size_t size) { return memset(malloc(count * size), 0, count * size); }
void *realloc(void *block, size_t size) { return block ? memmove(malloc(size), block, size) : malloc(size); }
int main(int count, char **arguments)
{
    int forks = count > 1, status = 0;
    if (forks && (!setlocale(LC_ALL, "C.UTF-8") || (fork() && wait(&status) > 0)))
        return status;
    if (count > 2 && setrlimit(RLIMIT_NOFILE, &(struct rlimit){0, 0}))
        return 1;
    for (int i = 0; i < 100000; i++)
        *(volatile char *)malloc(16) = 1;
    puts(arguments[count - 1]);
}
C
$CC -O1 -g -fno-builtin -o locked locked.c || exit 1
timeout 60 "$LWP" collect -q --no-analyze -F 2000 --max-overhead 60 -o out -- sh -c './locked; ./locked; ./locked; ./locked; ./locked' > out.txt 2> err
status=$?
[ "$status $(grep -c locked out.txt)" = "0 5" ] || { echo "FAILED: status $status, $(grep -c locked out.txt) of 5 ended"; cat err; exit 1; }
for files in "" "" "" "" "" none; do # a tick may also come where the lock is free
    timeout 60 "$LWP" collect -q --force --no-analyze -F 2000 --max-overhead 60 -o forked -- ./locked $files child > out.txt 2> err
    status=$?
    [ "$status $(cat out.txt)" = "0 child" ] || { echo "FAILED: status $status of what forks, files: $files"; cat err; exit 1; }
done
for file in out/p*/t*.lwps; do "$LWP" dump "$file"; done | grep -c '^sample' | grep -qv '^0$' || { echo "FAILED: no samples"; exit 1; }
