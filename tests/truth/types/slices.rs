// Where every hot loop's data is known: each "TRUTH function: type { fields }" names what its accesses go to.
// Run by tests/truth/named_types.sh; the argument is the number of rounds.
#[derive(Clone, Copy)]
struct Vector {
    x: f64,
    y: f64,
    z: f64,
}

#[derive(Clone)]
struct Body {
    position: Vector,
    velocity: Vector,
    mass: f64,
    kind: u32,
    history: [f32; 3],
}

struct Link {
    value: u64,
    cost: f64,
    next: Option<Box<Link>>,
}

enum Shape {
    Circle { radius: f64 },
    Rectangle { width: f64, height: f64 },
    Line(u32),
}

struct Cell {
    level: f32,
    source: f32,
    old: f64,
}

struct Field {
    cells: Vec<Cell>,
    width: usize,
}

impl Field {
    // TRUTH diffuse: slices::Cell { level, old }
    #[inline(never)]
    fn diffuse(&mut self) {
        for i in 1..self.width - 1 {
            self.cells[i].old = (self.cells[i - 1].level + self.cells[i + 1].level) as f64;
        }
        for cell in self.cells.iter_mut() {
            cell.level = 0.5 * cell.old as f32;
        }
    }

    // TRUTH total: slices::Cell { source }
    #[inline(never)]
    fn total(&self) -> f32 {
        self.cells.iter().map(|cell| cell.source).sum()
    }
}

struct Parcel {
    key: i64,
    name: [u8; 40],
    weight: f64,
    next: i64,
}

fn parcels() -> Vec<Parcel> {
    let mut made = Vec::new();
    for i in 0..300000i64 {
        made.push(Parcel {
            key: i,
            name: [0; 40],
            weight: i as f64,
            next: 0,
        });
    }
    made
}

// Of a constant number of elements, so that one register goes on in them.
// TRUTH weigh: slices::Parcel { weight }
// TRUTH parcels: slices::Parcel { * }
#[inline(never)]
fn weigh(rounds: usize) -> f64 {
    let made = parcels();
    let mut sum = 0.0;
    for _ in 0..rounds {
        for parcel in made.iter() {
            sum += parcel.weight;
        }
    }
    sum + (made[5].key + made[7].next) as f64 + made[9].name[3] as f64
}

// TRUTH kinetic: slices::Body { velocity, mass }
#[inline(never)]
fn kinetic(bodies: &[Body]) -> f64 {
    bodies
        .iter()
        .map(|b| b.mass * (b.velocity.x * b.velocity.x + b.velocity.y * b.velocity.y))
        .sum()
}

// TRUTH drift: slices::Body { position, velocity }
#[inline(never)]
fn drift(bodies: &mut Vec<Body>, by: f64) {
    for body in bodies.iter_mut() {
        body.position.x += by * body.velocity.x;
        body.position.z += by * body.velocity.z;
    }
}

// TRUTH remember: slices::Body { kind, history }
#[inline(never)]
fn remember(bodies: &mut [Body]) {
    for i in 0..bodies.len() {
        if bodies[i].kind % 3 != 0 {
            bodies[i].history[1] = bodies[i].history[0] + 1.0;
        }
    }
}

// TRUTH follow: slices::Link { value, next }
#[inline(never)]
fn follow(first: &Option<Box<Link>>) -> u64 {
    let mut sum = 0;
    let mut at = first;
    while let Some(link) = at {
        sum += link.value;
        at = &link.next;
    }
    sum
}

// TRUTH areas: slices::Shape { * }
#[inline(never)]
fn areas(shapes: &[Shape]) -> f64 {
    let mut sum = 0.0;
    for shape in shapes {
        sum += match shape {
            Shape::Circle { radius } => 3.14 * radius * radius,
            Shape::Rectangle { width, height } => width * height,
            Shape::Line(length) => *length as f64,
        };
    }
    sum
}

// TRUTH gather: slices::Body { mass }
// TRUTH gather: u32 { }
#[inline(never)]
fn gather(bodies: &[Body], order: &[u32]) -> f64 {
    order.iter().map(|&i| bodies[i as usize].mass).sum()
}

fn main() {
    let rounds: usize = std::env::args()
        .nth(1)
        .map_or(10, |text| text.parse().unwrap());
    let count = 300000;
    let mut bodies = Vec::with_capacity(count);
    let mut shapes = Vec::new();
    let mut order = vec![0u32; count];
    let mut first = None;
    for i in 0..count {
        let place = Vector {
            x: i as f64,
            y: 1.0,
            z: 2.0,
        };
        bodies.push(Body {
            position: place,
            velocity: place,
            mass: 1.0,
            kind: i as u32,
            history: [0.0; 3],
        });
        shapes.push(match i % 3 {
            0 => Shape::Circle { radius: i as f64 },
            1 => Shape::Rectangle {
                width: 1.0,
                height: i as f64,
            },
            _ => Shape::Line(i as u32),
        });
        order[i] = ((i * 7919) % count) as u32;
        first = Some(Box::new(Link {
            value: i as u64,
            cost: 1.0,
            next: first,
        }));
    }
    let cells = (0..count * 2)
        .map(|i| Cell {
            level: i as f32,
            source: 1.0,
            old: 0.0,
        })
        .collect();
    let mut field = Field {
        cells,
        width: count * 2,
    };
    let mut sum = weigh(rounds);
    for _ in 0..rounds {
        sum += kinetic(&bodies) + follow(&first) as f64 + areas(&shapes) + gather(&bodies, &order);
        drift(&mut bodies, 0.5);
        remember(&mut bodies);
        field.diffuse();
        sum += field.total() as f64;
    }
    println!(
        "{} {} {}",
        sum,
        bodies[1].position.y,
        first.as_ref().map_or(0.0, |link| link.cost)
    );
    while let Some(link) = first {
        first = link.next;
    }
}
