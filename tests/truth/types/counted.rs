// A value whose references the language's library counts: what lies around it is the library's.
use std::rc::Rc;

struct Node {
    value: u64,
    next: Option<Rc<Node>>,
}

#[no_mangle]
#[inline(never)]
fn share(node: &Rc<Node>) -> Rc<Node> {
    node.clone()
}

fn main() {
    let last = Rc::new(Node { value: 1, next: None });
    let first = Node { value: 2, next: Some(share(&last)) };
    println!("{}", first.value + first.next.unwrap().value);
}
