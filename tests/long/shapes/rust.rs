// Rust: fields lie in the order that rustc chooses; offset_of!() says which, and main() compares that with the rows.
//
//! rust_vec type=Rec|rust::Rec bytes=96 hot=load@52 path=main,shape name=recs
//! rust_vec_push type=Rec|rust::Rec bytes=96 hot=load@52 path=main,shape name=recs
//! rust_boxes type=Rec|rust::Rec bytes=96 hot=load@52 path=main,shape,new_rec name=recs,rec
//! rust_boxes and type=alloc::boxed::Box<rust::Rec,alloc::alloc::Global>|alloc::boxed::Box<rust::Rec> bytes=8 path=main,shape name=recs
//! rust_deque type=Rec|rust::Rec bytes=96 hot=load@52 path=main,shape name=recs,buf
//! rust_tree type=Branch|rust::Branch bytes=72 hot=key@0,left@8,right@16 path=main,shape,insert name=root,left,right,branch
//! rust_map type=(u64,rust::Rec)|(u64,Rec) bytes=104 hot=__0|0@0,__1.load|1.load@60 path=main,shape name=recs
//! rust_vec_nested type=rust::Body|Body bytes=80 hot=speed.y@48 path=main,shape name=bodies
//! rust_two type=Rec|rust::Rec bytes=96 hot=load@52 path=main,shape,make name=recs
//! rust_two and type=Branch|rust::Branch bytes=72 hot=count@60 path=main,shape,make name=branches
//! rust_vec_O0 of=rust_vec name=recs,data_ptr flags=-Copt-level=0
//! rust_vec_stripped of=rust_vec strip=1
#![allow(dead_code, unused_imports)]
use std::collections::{HashMap, VecDeque};
use std::hint::black_box;
use std::mem::{offset_of, size_of};

extern "C" {
    fn clock() -> i64;
}
const N: usize = 1 << 19;

#[derive(Clone)]
struct Rec {
    small: u8,
    price: f64,
    name: [u8; 30],
    id: u32,
    more: [u64; 5],
    flag: u16,
    load: f32,
}
struct Branch {
    key: u64,
    tag: u8,
    left: Option<Box<Branch>>,
    name: [u8; 36],
    right: Option<Box<Branch>>,
    count: u32,
}
#[repr(C)]
#[derive(Clone, Copy)]
struct Vector {
    x: f64,
    y: f64,
    z: f64,
}
#[repr(C)]
#[derive(Clone, Copy)]
struct Body {
    id: u64,
    mass: f64,
    at: Vector,
    speed: Vector,
    last: [u64; 2],
}

fn rec(i: usize) -> Rec {
    Rec { small: 1, price: 2.0, name: [0; 30], id: i as u32, more: [0; 5], flag: 3, load: 1.0 }
}

/// Repeats WALK until the program's argument, seconds of CPU time, is used up.
fn repeat<F: FnMut() -> f64>(mut walk: F) {
    let seconds: f64 = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(1.0);
    let end = unsafe { clock() } + (seconds * 1e6) as i64;
    let mut total = 0.0;
    while unsafe { clock() } < end {
        total += walk();
    }
    println!("{}", total);
}

/// Calls VISIT with all numbers below N, in an order that caches and prefetchers do not foresee.
#[inline(always)]
fn walk_each<F: FnMut(usize)>(n: usize, mut visit: F) {
    let mut i = 1;
    for _ in 0..n {
        visit(i);
        i = (i.wrapping_mul(1664525).wrapping_add(1013904223)) & (n - 1);
    }
}

#[cfg(any(shape_rust_vec, shape_rust_vec_push, shape_rust_two))]
#[inline(never)]
fn walk(recs: &[Rec]) -> f64 {
    let mut sum = 0.0;
    walk_each(N, |i| sum += recs[i].load as f64);
    sum
}

fn main() {
    assert_eq!((size_of::<Rec>(), offset_of!(Rec, load)), (96, 52));
    assert_eq!((size_of::<Branch>(), offset_of!(Branch, key), offset_of!(Branch, count)), (72, 0, 60));
    assert_eq!((offset_of!(Branch, left), offset_of!(Branch, right)), (8, 16));
    assert_eq!((size_of::<(u64, Rec)>(), offset_of!((u64, Rec), 0), offset_of!((u64, Rec), 1)), (104, 0, 8));
    assert_eq!((size_of::<Body>(), offset_of!(Body, speed.y)), (80, 48));
    shape();
}

#[cfg(any(shape_rust_vec, shape_rust_vec_push))]
#[inline(always)]
fn shape() {
    #[cfg(shape_rust_vec)]
    let mut recs = vec![rec(1); N];
    #[cfg(shape_rust_vec_push)]
    let mut recs = Vec::new();
    #[cfg(shape_rust_vec_push)]
    for i in 0..N {
        recs.push(rec(i));
    }
    recs[1].load = 2.0;
    repeat(|| walk(black_box(&recs)));
}

#[cfg(shape_rust_two)]
#[inline(never)]
fn make<T, F: Fn(usize) -> T>(n: usize, new: F) -> Vec<T> {
    let mut all = Vec::with_capacity(n);
    for i in 0..n {
        all.push(new(i));
    }
    all
}
#[cfg(shape_rust_two)]
#[inline(never)]
fn walk_branches(branches: &[Branch]) -> f64 {
    let mut sum = 0.0;
    walk_each(N, |i| sum += branches[i].count as f64);
    sum
}
#[cfg(shape_rust_two)]
#[inline(always)]
fn shape() {
    let recs = make(N, rec);
    let branches = make(N, |i| Branch { key: i as u64, tag: 1, left: None, name: [0; 36], right: None, count: 1 });
    repeat(|| walk(black_box(&recs)) + walk_branches(black_box(&branches)));
}

#[cfg(shape_rust_boxes)]
#[inline(never)]
fn new_rec(i: usize) -> Box<Rec> {
    Box::new(rec(i))
}
#[cfg(shape_rust_boxes)]
#[inline(never)]
fn walk(recs: &[Box<Rec>]) -> f64 {
    let mut sum = 0.0;
    for rec in recs {
        sum += rec.load as f64;
    }
    sum
}
#[cfg(shape_rust_boxes)]
#[inline(always)]
fn shape() {
    let mut recs: Vec<Box<Rec>> = (0..N).map(new_rec).collect();
    for i in 0..N {
        recs.swap(i, (i * 7919) & (N - 1));
    }
    repeat(|| walk(black_box(&recs)));
}

#[cfg(shape_rust_deque)]
#[inline(never)]
fn walk(recs: &VecDeque<Rec>) -> f64 {
    let mut sum = 0.0;
    walk_each(N, |i| sum += recs[i].load as f64);
    sum
}
#[cfg(shape_rust_deque)]
#[inline(always)]
fn shape() {
    let mut recs = VecDeque::new();
    for i in 0..N {
        recs.push_back(rec(i));
    }
    repeat(|| walk(black_box(&recs)));
}

#[cfg(shape_rust_tree)]
#[inline(never)]
fn insert(root: &mut Option<Box<Branch>>, key: u64) {
    let mut at = root;
    while let Some(branch) = at {
        if branch.key == key {
            return;
        }
        at = if key < branch.key { &mut branch.left } else { &mut branch.right };
    }
    *at = Some(Box::new(Branch { key, tag: 1, left: None, name: [0; 36], right: None, count: 1 }));
}
#[cfg(shape_rust_tree)]
#[inline(never)]
fn walk(root: &Option<Box<Branch>>, seed: &mut u64) -> f64 {
    let mut found = 0.0;
    for _ in 0..10000 {
        *seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let key = *seed >> 44;
        let mut at = root;
        while let Some(branch) = at {
            if branch.key == key {
                found += 1.0;
                break;
            }
            at = if key < branch.key { &branch.left } else { &branch.right };
        }
    }
    found
}
#[cfg(shape_rust_tree)]
#[inline(always)]
fn shape() {
    let mut root = None;
    for i in 0..N as u64 / 2 {
        insert(&mut root, (i * 2654435761) & (2 * N as u64 - 1));
    }
    let mut seed = 1;
    repeat(|| walk(black_box(&root), &mut seed));
}

#[cfg(shape_rust_map)]
#[inline(never)]
fn walk(recs: &HashMap<u64, Rec>, seed: &mut u64) -> f64 {
    let mut sum = 0.0;
    for _ in 0..10000 {
        *seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        if let Some(rec) = recs.get(&(*seed >> 45)) {
            sum += rec.load as f64;
        }
    }
    sum
}
#[cfg(shape_rust_map)]
#[inline(always)]
fn shape() {
    let mut recs = HashMap::new();
    for i in 0..N {
        recs.insert(i as u64, rec(i));
    }
    let mut seed = 1;
    repeat(|| walk(black_box(&recs), &mut seed));
}

#[cfg(shape_rust_vec_nested)]
#[inline(never)]
fn walk(bodies: &[Body]) -> f64 {
    let mut sum = 0.0;
    walk_each(N, |i| sum += bodies[i].speed.y);
    sum
}
#[cfg(shape_rust_vec_nested)]
#[inline(always)]
fn shape() {
    let zero = Vector { x: 1.0, y: 2.0, z: 3.0 };
    let bodies = vec![Body { id: 1, mass: 1.0, at: zero, speed: zero, last: [0; 2] }; N];
    repeat(|| walk(black_box(&bodies)));
}
