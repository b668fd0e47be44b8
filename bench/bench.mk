# What lwp costs: run time, memory and disk, with and without it in turns. Some eight minutes; keep the machine quiet.
bench_bin = bench-bin/timed bench-bin/mallocs

bench-bin/%: $(srcdir)/bench/%.c
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(warnings) -O2 -g -o $@ $<

bench: all examples $(bench_bin)
	$(srcdir)/bench/run $(BENCH)

.PHONY: bench
