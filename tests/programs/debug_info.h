#ifdef __clang__
#define ALONE __attribute__((noinline))
#else
#define ALONE __attribute__((noipa)) /* no copies for constant arguments either */
#endif

enum { PARTICLES = 40 };

struct particle {
    double position[3];
    double mass;
    float charge;
    int kind;
};

typedef struct { /* no name but the alias */
    int count, size;
    double *items;
} list;

extern struct particle particles[PARTICLES];

double one_weight(const struct particle *list, int n);
