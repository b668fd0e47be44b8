# What other eyes see in the code: clang-tidy (.clang-tidy says what is looked for) and cppcheck (cppcheck.txt says what it is
# wrong about, cppcheck.h what it does not read). Too long for every change: some ten minutes on two processors.
lint_src = lwp.c $(tool_src) $(filter-out $(tool_src),$(light_src))
lint_flags = -D_GNU_SOURCE= -I'$(CURDIR)' -I. -DLWP_TEMPLATES='"templates"'

lint: tidy cppcheck

tidy: $(lint_src:%=tidy/%)
tidy/%: FORCE
	$(call quiet,TIDY,$*)cd '$(srcdir)' && clang-tidy --quiet $* -- -std=gnu11 $(lint_flags) $(clang_cflags)

cppcheck:
	$(call quiet,LINT,cppcheck)cd '$(srcdir)' && cppcheck -q -j $$(nproc) --error-exitcode=1 --std=c11 --enable=warning,performance,portability \
	    --inline-suppr --include=make/cppcheck.h --suppressions-list=make/cppcheck.txt -D__x86_64__ -D__linux__ $(lint_flags) $(lint_src)

.PHONY: lint tidy cppcheck
