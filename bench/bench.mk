# What lwp costs: run time, memory and disk, with and without it in turns; then how fast the analysis is. Some half
# hour; keep the machine quiet.
bench_bin = bench-bin/timed bench-bin/mallocs bench-bin/strides bench-bin/synthetic bench-bin/kernels bench-bin/reuse bench-bin/within.so

bench-bin/%: $(srcdir)/bench/%.c
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(warnings) -O2 -g -o $@ $<

bench-bin/within.so: $(srcdir)/bench/within.c
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(warnings) -O2 -g -fPIC -shared -o $@ $<

bench-bin/synthetic: $(srcdir)/bench/synthetic_main.c $(srcdir)/bench/synthetic.c $(srcdir)/bench/synthetic.h $(tool_obj)
	@mkdir -p $(@D)
	$(CC) $(filter-out -MMD -MP,$(cflags)) -o $@ $(filter %.c,$^) $(tool_obj) $(LDFLAGS) -Wl,--build-id $(tool_libs)

bench-bin/strides: $(srcdir)/bench/strides.c $(srcdir)/analysis/stride.c $(srcdir)/analysis/stride.h
	@mkdir -p $(@D)
	$(CC) $(filter-out -MMD -MP,$(cflags)) -o $@ $(filter %.c,$^) $(LDFLAGS) -lm

bench-bin/reuse: $(srcdir)/bench/reuse.c $(srcdir)/analysis/reuse.c $(srcdir)/base/pages.c
	@mkdir -p $(@D)
	$(CC) $(filter-out -MMD -MP,$(cflags)) -o $@ $^ $(LDFLAGS)

bench: all examples $(bench_bin)
	$(srcdir)/bench/run $(BENCH)
	$(srcdir)/bench/scale $(BENCH_SCALE)
	$(srcdir)/bench/exact
	bench-bin/reuse

.PHONY: bench
