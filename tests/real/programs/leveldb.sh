# A library of C++ with a program of ours: skip lists in an arena, blocks with restart points, a cache of chained handles, and the
# standard library's containers around it.
packages=leveldb
language=c++
sampled=200 traced=20
build() {
    local flags="$CFLAGS -std=c++17 -I. -Iinclude -DLEVELDB_PLATFORM_POSIX=1 -DHAVE_FDATASYNC=1 -DHAVE_O_CLOEXEC=1"
    flags="$flags -DHAVE_SNAPPY=0 -DHAVE_CRC32C=0"
    mkdir -p ours
    : > port/port_config.h
    cat > ours/main.cc <<'P'
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>
#include "leveldb/cache.h"
#include "leveldb/db.h"
#include "leveldb/filter_policy.h"
#include "leveldb/write_batch.h"
struct Row { std::string name; long price; int kind; double weight; };
int main(int, char **arg)
{
    long n = atol(arg[1]) * 2000;
    leveldb::DB *db;
    leveldb::Options options;
    options.create_if_missing = true;
    options.write_buffer_size = 4 << 20;
    options.block_cache = leveldb::NewLRUCache(8 << 20);
    options.filter_policy = leveldb::NewBloomFilterPolicy(10);
    if (!leveldb::DB::Open(options, "db", &db).ok()) return 1;
    std::map<std::string, Row> rows;
    std::unordered_map<long, std::vector<long>> by_kind;
    std::deque<long> recent;
    char key[64];
    for (long i = 0; i < n; i++) {
        snprintf(key, sizeof key, "key%08ld", i * 7919 % n);
        db->Put(leveldb::WriteOptions(), key, std::string(20 + i % 80, 'a' + i % 26));
        if (i % 4 == 0) { rows[key] = Row{key, i % 1009, int(i % 97), i * 0.5}; by_kind[i % 97].push_back(i); }
        recent.push_back(i);
        if (recent.size() > 1000) recent.pop_front();
    }
    long found = 0, bytes = 0, prices = 0;
    std::string value;
    for (long i = 0; i < n / 2; i++) {
        snprintf(key, sizeof key, "key%08ld", i * 104729 % (2 * n));
        if (db->Get(leveldb::ReadOptions(), key, &value).ok()) { found++; bytes += value.size(); }
        auto row = rows.find(key);
        if (row != rows.end()) prices += row->second.price;
    }
    for (int r = 0; r < 5; r++)
        for (auto &row : rows) if (row.second.kind == r) prices += row.second.price;
    leveldb::Iterator *it = db->NewIterator(leveldb::ReadOptions());
    long count = 0;
    for (it->SeekToFirst(); it->Valid(); it->Next()) { count++; bytes += it->value().size(); }
    delete it;
    delete db;
    printf("%ld %ld %ld %ld %zu %zu\n", found, bytes, prices, count, by_kind.size(), recent.size());
}
P
    for file in $(ls {db,table,util,ours}/*.cc | grep -v -e _test -e testutil -e env_windows -e leveldbutil -e /c.cc -e bench); do
        nice $CXX $flags -c -o "ours/$(basename "$file" .cc).o" "$file"
    done
    $CXX -o ours/main ours/*.o -lpthread
}
run() {
    $WITH "$TREE/ours/main" "$SIZE"
}
