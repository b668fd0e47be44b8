# Tests. `make check` runs what is quick, `make check-long` what takes longer; tests/run says what a test is.
e2e := $(filter-out %.py.in,$(wildcard $(srcdir)/tests/e2e/*.sh $(srcdir)/tests/e2e/*.py))
rounds := $(wildcard $(srcdir)/tests/rounds/*.sh)
# Parts of these are long: with LONG set they do all.
longer := $(shell grep -l '\bLONG\b' $(e2e))
long := $(wildcard $(srcdir)/tests/long/*.sh $(srcdir)/tests/long/*.py)
run_tests = SRC='$(srcdir)' CC='$(CC)' $(srcdir)/tests/run

# The unit tests run once, in the build with sanitizers; as compiled for users they are check-unit, and part of check-long.
check: all examples
	+$(MAKE) SAN=1 lwp-san units feeders
	$(run_tests) $(unit_src:tests/unit/%.c=obj-san/unit/%) $(fuzz_targets:%=obj-san/fuzz/%) $(e2e)

check-unit: units
	$(run_tests) $(units)

check-e2e: all examples
	$(run_tests) $(e2e)

check-san:
	+$(MAKE) SAN=1 lwp-san units feeders
	$(run_tests) $(unit_src:tests/unit/%.c=obj-san/unit/%) $(fuzz_targets:%=obj-san/fuzz/%)

check-long: all units examples
	LONG=1 $(run_tests) --timeout 7200 $(units) $(long)
	LONG=1 $(run_tests) --timeout 7200 $(longer)

# What is sampled, in all variants or often enough to tell how often it is right.
check-rounds: all examples
	$(run_tests) --timeout 7200 $(rounds)

# Real programs from Debian's source packages, built and kept in REAL_SCRATCH; goes on where it was. REAL_ONLY=NAME,NAME: some of them.
REAL_SCRATCH = $(CURDIR)/obj/real
check-real: all
	LWP='$(CURDIR)/lwp' nice $(srcdir)/tests/real/real.py --scratch '$(REAL_SCRATCH)' --only '$(REAL_ONLY)' --table '$(srcdir)/docs/real.md'

# Which lines of these folders the unit tests, the fuzzers' inputs and a few minutes of end-to-end tests execute; fails below the bar.
# (On one's own code only: the preload library and the exact engine run in processes that may not write files of ours.)
covered_folders = format analysis web
covered_e2e = $(addprefix $(srcdir)/tests/e2e/,analyze_schema.sh bad_pointers.sh check.sh doctor.sh exact.sh exact_communication.sh \
	exact_locality.sh exact_modules.sh exact_redundancy.sh exact_spatial.sh exact_values.sh exact_windows.sh full_disk.sh heap.sh import.sh \
	layouts.sh live.sh mpi.sh named_types.sh pmu.sh processes.sh serve.sh serve_hostile.py wrong_use.sh)
COVERAGE_BAR = 85
coverage: all examples
	+$(MAKE) COV=1 lwp-cov units feeders
	find obj-cov -name '*.gcda' -delete
	LWP='$(CURDIR)/lwp-cov' $(run_tests) $(unit_src:tests/unit/%.c=obj-cov/unit/%) $(fuzz_targets:%=obj-cov/fuzz/%) $(covered_e2e)
	python3 $(srcdir)/tests/coverage.py '$(srcdir)' obj-cov $(COVERAGE_BAR) $(covered_folders)

include $(srcdir)/tests/fuzz/fuzz.mk

.PHONY: check check-unit check-e2e check-san check-long check-rounds check-real coverage
