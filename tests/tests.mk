# Tests. `make check` runs what is quick, `make check-long` the rest; tests/run says what a test is.
e2e := $(filter-out %.py.in,$(wildcard $(srcdir)/tests/e2e/*.sh $(srcdir)/tests/e2e/*.py))
long := $(wildcard $(srcdir)/tests/long/*.sh $(srcdir)/tests/long/*.py)
run_tests = SRC='$(srcdir)' CC='$(CC)' $(srcdir)/tests/run

check: all units examples
	+$(MAKE) SAN=1 lwp-san units feeders
	$(run_tests) $(units) $(unit_src:tests/unit/%.c=obj-san/unit/%) $(fuzz_targets:%=obj-san/fuzz/%) --beside $(e2e)

check-unit: units
	$(run_tests) $(units) --beside

check-e2e: all examples
	$(run_tests) $(e2e)

check-san:
	+$(MAKE) SAN=1 lwp-san units feeders
	$(run_tests) $(unit_src:tests/unit/%.c=obj-san/unit/%) $(fuzz_targets:%=obj-san/fuzz/%) --beside

check-long: all examples
	$(run_tests) --timeout 2400 $(long)

include $(srcdir)/tests/fuzz/fuzz.mk

.PHONY: check check-unit check-e2e check-san check-long
