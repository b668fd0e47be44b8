# make fuzz: each target for FUZZ_SECONDS, with libFuzzer (clang) or, FUZZ_WITH=afl, with AFL++. FUZZ_TARGETS="reader http" takes
# some. What is found is left in obj-FUZZ_WITH/found/TARGET; kept in tests/fuzz/regressions/TARGET it is part of `make check`,
# which needs no fuzzer for that (feed.c).
fuzz_targets := $(patsubst tests/fuzz/fuzz_%.c,%,$(call sources,tests/fuzz/fuzz_*.c))
FUZZ_TARGETS = $(fuzz_targets)
FUZZ_SECONDS = 60
FUZZ_WITH = libfuzzer

fuzz_cc_libfuzzer = clang
fuzz_cc_afl = afl-clang-fast
fuzz_obj = obj-$(FUZZ_WITH)
# NULL + 0 is no finding: C says so since 2024, and this clang cannot tell it from others.
fuzz_compile = $(fuzz_cc_$(FUZZ_WITH)) $(filter-out -O%,$(cflags)) -O1 -fsanitize=address,undefined -fno-sanitize=pointer-overflow -fno-sanitize-recover=undefined \
	-DLWP_SOURCE='"$(srcdir)"' -DLWP_TEMPLATES='"$(srcdir)/templates"'

fuzz: $(FUZZ_TARGETS:%=fuzz-%)

fuzz-%: $(fuzz_obj)/% all
	$(srcdir)/tests/fuzz/run $(FUZZ_WITH) $* $(FUZZ_SECONDS) $(fuzz_obj)

$(fuzz_targets:%=$(fuzz_obj)/%): $(fuzz_obj)/%: $(srcdir)/tests/fuzz/fuzz_%.c $(fuzz_obj)/lwp.a
	$(call quiet,CC,$<)$(fuzz_compile) -fsanitize=fuzzer -o $@ $< $(fuzz_obj)/lwp.a $(tool_libs)

$(fuzz_obj)/lwp.a: $(tool_src:%.c=$(fuzz_obj)/%.o)
	@rm -f $@
	$(call quiet,AR,$@)ar rcs $@ $^

$(fuzz_obj)/%.o: $(srcdir)/%.c
	@mkdir -p $(@D)
	$(call quiet,CC,$<)$(fuzz_compile) -fsanitize=fuzzer-no-link -c -o $@ $<

# The same targets without a fuzzer.
feeders = $(fuzz_targets:%=$(obj)/fuzz/%)
feeders: $(feeders) $(obj)/liblwp-test.so

$(obj)/fuzz/%: $(srcdir)/tests/fuzz/fuzz_%.c $(srcdir)/tests/fuzz/feed.c | $(obj)/liblwp-test.so
	@mkdir -p $(@D)
	$(call quiet,CC,$<)$(CC) $(cflags) -DLWP_SOURCE='"$(srcdir)"' -o $@ $< $(srcdir)/tests/fuzz/feed.c $(test_link) $(tool_libs)

.PHONY: fuzz feeders


-include $(shell find obj-libfuzzer obj-afl -name '*.d' 2>/dev/null)
