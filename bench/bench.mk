# What lwp costs: run time, memory and disk, with and without it in turns; then how fast the analysis is. Some hour;
# keep the machine quiet.
bench_bin = bench-bin/timed bench-bin/mallocs bench-bin/threads bench-bin/strides bench-bin/synthetic bench-bin/kernels bench-bin/reuse bench-bin/within.so

bench-bin/%: $(srcdir)/bench/%.c
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(warnings) -O2 -g -o $@ $<

bench-bin/within.so: $(srcdir)/bench/within.c
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(warnings) -O2 -g -fPIC -shared -o $@ $<

bench-bin/synthetic: $(srcdir)/bench/synthetic_main.c $(srcdir)/bench/synthetic.c $(srcdir)/bench/synthetic.h $(tool_obj)
	@mkdir -p $(@D)
	$(CC) $(filter-out -MMD -MP,$(cflags)) -o $@ $(filter %.c,$^) $(tool_obj) $(LDFLAGS) -Wl,--build-id $(tool_libs)

bench-bin/strides: $(srcdir)/bench/strides.c $(srcdir)/analysis/statistics/stride.c $(srcdir)/analysis/statistics/stride.h
	@mkdir -p $(@D)
	$(CC) $(filter-out -MMD -MP,$(cflags)) -o $@ $(filter %.c,$^) $(LDFLAGS) -lm

bench-bin/reuse: $(srcdir)/bench/reuse.c $(srcdir)/analysis/caches/reuse_distance.c $(srcdir)/base/pages.c $(srcdir)/base/error.c
	@mkdir -p $(@D)
	$(CC) $(filter-out -MMD -MP,$(cflags)) -o $@ $^ $(LDFLAGS)

# Runs the benches named, and fails at the end when one was over its budget or could not measure.
run_benches = rm -rf bench-results; failed=; export PYTHONDONTWRITEBYTECODE=1; \
    $(foreach bench,$(1),$(srcdir)/bench/$(bench) $($(2)_$(bench)) || failed="$$failed $(bench)";) \
    $(srcdir)/bench/results > bench-results/RESULTS.md && echo 'written: bench-results/RESULTS.md'; \
    [ -z "$$failed" ] || { echo "over budget, or not measured:$$failed"; exit 1; }

BENCHES = cost programs others growth scale exact serve page
bench: all examples $(bench_bin)
	@$(call run_benches,$(BENCHES),bench_with)

# A quarter of an hour: fails when a budget is exceeded by more than the noise of the same runs.
bench_quick_cost = --quick --pairs 5 --within 1
bench_quick_programs = --pairs 3 redis make mallocs 200
bench_quick_others = neuron sqlite3
bench_quick_scale = --quick --runs 3
bench_quick_exact = --runs 2
bench-check: all examples $(bench_bin)
	@$(call run_benches,$(BENCHES),bench_quick)

.PHONY: bench bench-check
