// Values whose references the language's library counts: what lies around them is the library's.
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::{Arc, Mutex};

struct Node {
    value: u64,
    next: Option<Rc<Node>>,
}

struct Cell {
    key: u64,
    tag: [u64; 2],
}

#[no_mangle]
#[inline(never)]
fn share(node: &Rc<Node>) -> Rc<Node> {
    node.clone()
}

#[no_mangle]
#[inline(never)]
fn share_cell(cell: &Rc<RefCell<Cell>>) -> Rc<RefCell<Cell>> {
    cell.borrow_mut().key += 2; // the compiler makes functions of the same code one
    cell.clone()
}

#[no_mangle]
#[inline(never)]
fn share_locked(cell: &Arc<Mutex<Cell>>) -> Arc<Mutex<Cell>> {
    cell.clone()
}

#[no_mangle]
#[inline(never)]
fn share_texts(texts: &Rc<Vec<u64>>) -> Rc<Vec<u64>> {
    assert!(texts.len() < 3);
    texts.clone()
}

fn main() {
    let last = Rc::new(Node { value: 1, next: None });
    let first = Node { value: 2, next: Some(share(&last)) };
    let cell = share_cell(&Rc::new(RefCell::new(Cell { key: 1, tag: [0; 2] })));
    let locked = share_locked(&Arc::new(Mutex::new(Cell { key: 1, tag: [0; 2] })));
    let texts = share_texts(&Rc::new(vec![1]));
    cell.borrow_mut().key += 1;
    println!("{}", first.value + first.next.unwrap().value + cell.borrow().tag[0] + locked.lock().unwrap().key + texts[0]);
}
