# A database: pages carved out of slabs, B-tree cells, a virtual machine with tagged values; several allocation wrappers.
packages=sqlite3
needs=tclsh
sampled=450 traced=40
build() {
    ./configure --disable-tcl > configure.out
    nice make sqlite3.c shell.c
    $CC $CFLAGS -DSQLITE_THREADSAFE=0 -DSQLITE_OMIT_LOAD_EXTENSION -o sqlite3-shell shell.c sqlite3.c -lm
}
run() {
    cat > input.sql <<S
create table item(id integer primary key, name text, price integer, kind integer);
with recursive c(i) as (select 1 union all select i + 1 from c where i < $SIZE * 2000)
insert into item select i, 'name' || (i * 7919 % 200003), i * 31 % 1009, i % 97 from c;
create index item_name on item(name);
create index item_kind on item(kind, price);
select count(*), sum(a.price * b.price) from item a join item b on b.id = (a.id * 31) % ($SIZE * 2000) + 1;
select kind, count(*), avg(price) from item group by kind order by 3 desc limit 5;
select count(*) from item where name in (select 'name' || (id % 5000) from item);
update item set price = price + 1 where kind % 3 = 0;
select sum(price), max(name) from item;
select name, price from item order by price desc, name limit 3;
delete from item where kind < 20;
select count(*), sum(price) from item;
S
    $WITH "$TREE/sqlite3-shell" :memory: < input.sql
}
