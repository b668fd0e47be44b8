# A database: memory contexts carved out of blocks, tuples without a type, lists of cells, hash tables, buffers in one large mapping.
packages=postgresql-15
needs=perl
sampled=300 traced=20
build() {
    # it refuses to run as root; in a test that is no danger
    sed -i 's/geteuid() == 0/false/' src/backend/main/main.c src/bin/initdb/initdb.c src/common/restricted_token.c
    ./configure --without-readline --without-zlib --without-icu --prefix="$PWD/installed" CFLAGS="$CFLAGS" > configure.out
    nice make -C src/backend generated-headers
    nice make -j2 -C src/backend
    for part in backend backend/utils/mb/conversion_procs backend/snowball timezone interfaces/libpq pl/plpgsql/src bin/initdb; do
        nice make -C src/$part install
    done
    rm -rf data
    LD_LIBRARY_PATH=$PWD/installed/lib installed/bin/initdb -D "$PWD/data" -U postgres --locale=C -E UTF8 --no-sync
}
run() {
    cp -r "$TREE/data" data
    cat > input.sql <<S
create table item(id integer primary key, name text, price integer, kind integer);
insert into item select i, 'name' || (i * 7919 % 200003), i * 31 % 1009, i % 97 from generate_series(1, $SIZE * 600) i;
create index item_name on item(name);
analyze item;
select count(*), sum(a.price * b.price) from item a join item b on b.id = (a.id * 31) % ($SIZE * 600) + 1;
select kind, count(*), sum(price) from item group by kind order by 3 desc, 1 limit 5;
select count(*) from item where name in (select 'name' || (id % 5000) from item);
update item set price = price + 1 where kind % 3 = 0;
select sum(price), max(name) from item;
select name, price, rank() over (partition by kind order by price, name) r from item order by r desc, name limit 3;
S
    $WITH "$TREE/installed/bin/postgres" --single -D data -F -c max_parallel_workers_per_gather=0 -c shared_buffers=64MB \
        -c autovacuum=off postgres < input.sql
}
