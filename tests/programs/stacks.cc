/* What moves the stack pointer in unusual ways; after each, mark() is called from a function that is known. */
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ucontext.h>
#include <pthread.h>
#include <stdexcept>
static volatile long cell[16];
#define NI __attribute__((noinline))
NI static void mark(int k) { for (int i = 0; i < 1000; i++) cell[k] = i; __asm__ volatile(""); }
static sigjmp_buf jb;
NI static void handler(int) { __asm__ volatile(""); siglongjmp(jb, 1); }
NI static void after_signal() { mark(1); __asm__ volatile(""); }
NI static void after_throw() { mark(2); __asm__ volatile(""); }
NI static void thrower(int n) { if (n == 0) throw std::runtime_error("x"); thrower(n - 1); __asm__ volatile(""); }
static ucontext_t uc_main, uc_a, uc_b;
NI static void co_a_inner() { swapcontext(&uc_a, &uc_b); mark(3); __asm__ volatile(""); }
static void co_a() { co_a_inner(); swapcontext(&uc_a, &uc_b); mark(5); __asm__ volatile(""); }
NI static void co_b_inner() { swapcontext(&uc_b, &uc_a); mark(4); __asm__ volatile(""); }
static void co_b() { co_b_inner(); swapcontext(&uc_b, &uc_a); }
NI static void after_co() { mark(6); __asm__ volatile(""); }
NI static long deep(long n) { volatile long x = n; if (n == 0) { mark(7); return 0; } return deep(n - 1) + x; }
NI static void after_deep() { mark(8); __asm__ volatile(""); }
NI static void alt(int) { mark(9); __asm__ volatile(""); }
NI static void after_alt() { mark(10); __asm__ volatile(""); }
static void *thread(void *) { mark(11); return nullptr; }
int main() {
  signal(SIGUSR1, handler);
  for (int i = 0; i < 3; i++) if (!sigsetjmp(jb, 1)) raise(SIGUSR1);
  after_signal();
  try { thrower(50); } catch (...) {}
  after_throw();
  static char both[1 << 18], *sa = both, *sb = both + (1 << 16); /* beside each other */
  getcontext(&uc_a); uc_a.uc_stack.ss_sp = sa; uc_a.uc_stack.ss_size = 65536; uc_a.uc_link = &uc_main; makecontext(&uc_a, co_a, 0);
  getcontext(&uc_b); uc_b.uc_stack.ss_sp = sb; uc_b.uc_stack.ss_size = 65536; uc_b.uc_link = &uc_main; makecontext(&uc_b, co_b, 0);
  swapcontext(&uc_main, &uc_a);
  after_co();
  deep(50000); after_deep();
  stack_t st{}; st.ss_sp = malloc(1 << 16); st.ss_size = 1 << 16; sigaltstack(&st, nullptr);
  struct sigaction act{}; act.sa_handler = alt; act.sa_flags = SA_ONSTACK; sigaction(SIGUSR2, &act, nullptr); raise(SIGUSR2);
  after_alt();
  for (int i = 0; i < 100; i++) { pthread_t t; pthread_create(&t, nullptr, thread, nullptr); pthread_join(t, nullptr); }
  return 0;
}
