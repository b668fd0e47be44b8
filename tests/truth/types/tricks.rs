// Harder to name: pointers into the middle of blocks, buffers of bytes, containers and their nodes. Run as slices.rs.
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::rc::Rc;
#[derive(Clone)]
struct Item {
    key: u64,
    price: f64,
    name: String,
}
struct Tree {
    left: Option<Box<Tree>>,
    right: Option<Box<Tree>>,
    key: u32,
    sum: f64,
}
struct Shared {
    hits: u64,
    value: f64,
}
#[derive(Clone, Copy, PartialEq, PartialOrd)]
struct Point {
    x: f32,
    y: f32,
    z: f32,
    w: f32,
}
// TRUTH prices: tricks::Item { price, key }
#[inline(never)]
fn prices(items: &[Item]) -> f64 {
    items
        .iter()
        .filter(|i| i.key % 2 == 0)
        .map(|i| i.price)
        .sum()
}
// TRUTH walk: tricks::Tree { left, right, key, sum }
#[inline(never)]
fn walk(tree: &Option<Box<Tree>>) -> f64 {
    match tree {
        None => 0.0,
        Some(t) => t.sum + t.key as f64 + walk(&t.left) + walk(&t.right),
    }
}
// TRUTH insert: tricks::Tree { left, right, key }
#[inline(never)]
fn insert(mut at: &mut Option<Box<Tree>>, key: u32) {
    while let Some(t) = at {
        at = if key < t.key {
            &mut t.left
        } else {
            &mut t.right
        };
    }
    *at = Some(Box::new(Tree {
        left: None,
        right: None,
        key,
        sum: 1.0,
    }));
}
// TRUTH shared: * { * }
#[inline(never)]
fn shared(all: &[Rc<RefCell<Shared>>]) -> f64 {
    let mut s = 0.0;
    for x in all {
        let mut y = x.borrow_mut();
        y.hits += 1;
        s += y.value;
    }
    s
}
// TRUTH matrix: alloc::vec::Vec<f64> { * }
// TRUTH matrix: f64 { }
#[inline(never)]
fn matrix(m: &Vec<Vec<f64>>) -> f64 {
    let mut s = 0.0;
    for j in 0..m.len() {
        for i in 0..m.len() {
            s += m[i][j];
        }
    }
    s
}
// TRUTH queue: tricks::Point { x, y }
#[inline(never)]
fn queue(q: &VecDeque<Point>) -> f32 {
    q.iter().map(|p| p.x * p.y).sum()
}
// TRUTH hashed: * { * }
#[inline(never)]
fn hashed(h: &HashMap<u64, Point>) -> f32 {
    let mut s = 0.0;
    for k in 0..100000u64 {
        if let Some(p) = h.get(&(k * 7 % 200000)) {
            s += p.z;
        }
    }
    s
}
// TRUTH ordered: * { * }
#[inline(never)]
fn ordered(b: &BTreeMap<u64, f64>) -> f64 {
    b.iter().map(|(_, v)| *v).sum()
}
// TRUTH zipped: f64 { }
#[inline(never)]
fn zipped(a: &[f64], b: &mut [f64]) {
    for (x, y) in a.iter().zip(b.iter_mut()) {
        *y += 2.0 * *x;
    }
}
// TRUTH chunks: tricks::Point { * }
#[inline(never)]
fn chunks(p: &[Point]) -> f32 {
    p.chunks(4).map(|c| c[0].x + c[3].w).sum()
}
// TRUTH moved: tricks::Point { * }
#[inline(never)]
fn moved(p: &mut Vec<Point>) {
    p.sort_by(|a, b| a.x.partial_cmp(&b.x).unwrap());
}
// TRUTH anywhere: tricks::Point { * }
// TRUTH anywhere: alloc::rc::Rc<core::cell::RefCell<tricks::Shared>> { * }
// TRUTH anywhere: u8 { * }
// TRUTH anywhere: (u64, tricks::Point) { * }
// TRUTH anywhere: alloc::collections::btree::node::LeafNode<u64, f64> { * }
// TRUTH anywhere: alloc::collections::btree::node::InternalNode<u64, f64> { * }
// TRUTH anywhere: alloc::rc::RcInner<core::cell::RefCell<tricks::Shared>> { * }
fn main() {
    let rounds: usize = std::env::args().nth(1).map_or(10, |t| t.parse().unwrap());
    let n = 200000;
    let items: Vec<Item> = (0..n)
        .map(|i| Item {
            key: i as u64,
            price: 1.0,
            name: format!("n{}", i),
        })
        .collect();
    let mut tree = None;
    let mut r = 1u32;
    let mut all = Vec::new();
    let mut q = VecDeque::new();
    let mut h = HashMap::new();
    let mut b = BTreeMap::new();
    let mut pts = Vec::new();
    for i in 0..n {
        r = r.wrapping_mul(1664525).wrapping_add(1013904223);
        if i < 60000 {
            insert(&mut tree, r >> 4);
        }
        all.push(Rc::new(RefCell::new(Shared {
            hits: 0,
            value: 1.0,
        })));
        let p = Point {
            x: (r >> 8) as f32,
            y: 1.0,
            z: 2.0,
            w: 3.0,
        };
        q.push_back(p);
        pts.push(p);
        h.insert(i as u64, p);
        b.insert((r >> 3) as u64, 1.0);
    }
    let m = vec![vec![1.0f64; 500]; 500];
    let a = vec![1.0f64; 500000];
    let mut c = vec![2.0f64; 500000];
    let mut s = 0.0;
    for k in 0..rounds {
        s += prices(&items)
            + walk(&tree)
            + shared(&all)
            + matrix(&m)
            + queue(&q) as f64
            + hashed(&h) as f64
            + ordered(&b)
            + chunks(&pts) as f64;
        zipped(&a, &mut c);
        if k % 8 == 0 {
            let mut copy = pts.clone();
            moved(&mut copy);
            s += copy[0].x as f64;
        }
    }
    println!("{} {} {}", s, c[5], items[3].name);
}
