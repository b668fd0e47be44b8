# Programs with a known layout defect, each with its fixed version, and the demonstration that runs them.
examples_bin = $(examples:%=examples-bin/%)

examples: $(examples_bin)

# Always as a user would build them, whatever lwp itself is built with.
examples-bin/%: $(srcdir)/examples/%.c $(srcdir)/examples/example.h
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(warnings) -O2 -g -pthread -o $@ $<

demo: all examples
	CC='$(CC)' $(srcdir)/examples/demo.sh ./lwp examples-bin demo

# The picture in README.
screenshots: all examples
	$(srcdir)/examples/screenshot.sh ./lwp examples-bin $(srcdir)

.PHONY: examples demo screenshots
