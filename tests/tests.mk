# Tests. `make check` runs what is quick, `make check-long` the rest; tests/run says what a test is.
e2e := $(filter-out %.py.in,$(wildcard $(srcdir)/tests/e2e/*.sh $(srcdir)/tests/e2e/*.py))
long := $(wildcard $(srcdir)/tests/long/*.sh $(srcdir)/tests/long/*.py)
run_tests = SRC='$(srcdir)' CC='$(CC)' $(srcdir)/tests/run

check: all units examples
	+$(MAKE) SAN=1 lwp-san units
	$(run_tests) $(units) $(unit_src:tests/unit/%.c=obj-san/unit/%) --beside $(e2e)

check-unit: units
	$(run_tests) $(units) --beside

check-e2e: all examples
	$(run_tests) $(e2e)

check-san:
	+$(MAKE) SAN=1 lwp-san units
	$(run_tests) $(unit_src:tests/unit/%.c=obj-san/unit/%) --beside

check-long: all examples
	$(run_tests) --timeout 2400 $(long)

# Needs clang. Starts from the files of one run; what crashes the reader is left in obj-san/fuzz.
FUZZ_SECONDS = 60
fuzz: all
	@mkdir -p obj-san/fuzz/corpus
	clang $(filter-out -MMD -MP,$(cflags)) -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined -o obj-san/fuzz/reader \
	    $(srcdir)/tests/fuzz/fuzz_reader.c $(srcdir)/format/reader.c $(srcdir)/format/decode.c $(srcdir)/base/error.c $(tool_libs)
	./lwp collect --force -F 2000 --max-overhead 20 -o obj-san/fuzz/result -- awk 'BEGIN { for (i = 0; i < 1000000; i++) a[i % 1000] = i }' > obj-san/fuzz/output
	cp obj-san/fuzz/result/p*/*.lwps obj-san/fuzz/corpus
	cd obj-san/fuzz && ./reader -max_total_time=$(FUZZ_SECONDS) -max_len=20000 corpus

# The same for what reads the profiled program's files. Starts from small programs of both compilers.
fuzz-dwarf: all
	@mkdir -p obj-san/fuzz/elf
	clang $(filter-out -MMD -MP,$(cflags)) -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined \
	    -o obj-san/fuzz/dwarf $(srcdir)/tests/fuzz/fuzz_dwarf.c $(addprefix $(srcdir)/,$(filter-out analysis/cmd_%,$(call sources,analysis/*.c base/*.c format/*.c))) $(tool_libs)
	for flags in 'gcc -gdwarf-4 -O1' 'gcc -gdwarf-5 -O2' 'gcc -g -O1 -gz' 'clang -gdwarf-5 -O1' 'clang -gdwarf-4 -O0'; do \
	    $$flags -nostdlib -shared -fPIC -Wl,-z,noseparate-code -o "obj-san/fuzz/elf/$$(echo $$flags | tr -d ' ')" \
	        $(srcdir)/tests/programs/fuzz.c || exit 1; done
	cd obj-san/fuzz && ./dwarf -max_total_time=$(FUZZ_SECONDS) -max_len=20000 -timeout=10 -rss_limit_mb=1024 elf

# And for the kernel's records, in files and in rings. Starts from a file of perf's own, if it may record here.
fuzz-perf: all
	@mkdir -p obj-san/fuzz/perf
	clang $(filter-out -MMD -MP,$(cflags)) -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined -o obj-san/fuzz/perf-reader \
	    $(srcdir)/tests/fuzz/fuzz_perf.c $(addprefix $(srcdir)/collector/import/perf_,file.c features.c records.c) \
	    $(addprefix $(srcdir)/collector/perf/,ring.c sample.c record.c) $(addprefix $(srcdir)/base/,error.c hash.c arena.c) $(tool_libs)
	-perf record -q -d -g -e page-faults:u -c 50 -o obj-san/fuzz/perf/file.data true
	-perf record -q -d -e page-faults:u -c 50 -o - true > obj-san/fuzz/perf/pipe.data
	printf 'R\017\000\000\000\000\000\000\000\000\000\011\000\000\000\000\000\050\000%032d' 0 > obj-san/fuzz/perf/ring
	cd obj-san/fuzz && ./perf-reader -max_total_time=$(FUZZ_SECONDS) -max_len=20000 -timeout=10 perf

# And for what the exact engine knows of each byte. Starts from nothing.
fuzz-shadow:
	@mkdir -p obj-san/fuzz/accesses
	clang $(filter-out -MMD -MP,$(cflags)) -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined -o obj-san/fuzz/shadow \
	    $(srcdir)/tests/fuzz/fuzz_shadow.c -lm
	cd obj-san/fuzz && ./shadow -max_total_time=$(FUZZ_SECONDS) -max_len=4000 accesses

.PHONY: check check-unit check-e2e check-san check-long fuzz fuzz-dwarf fuzz-perf fuzz-shadow
