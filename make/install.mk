# What is installed, and where: for each place its folder, the mode of its files, and the files. `make uninstall` removes
# the same. The exact engine's links to Valgrind's files are followed: it needs those of the Valgrind it was made of.
places = bin private exact exact_data include pkgconfig man bash zsh doc

bin_dir = $(prefix)/bin
bin_mode = 755
bin_files = lwp

private_dir = $(libdir)/lwp
private_mode = 644
private_files = liblwp-light.so $(mpi)

exact_dir = $(libdir)/lwp/exact
exact_mode = 755
exact_files = $(if $(exact),$(exact) exact/launcher)

exact_data_dir = $(exact_dir)
exact_data_mode = 644
exact_data_files = $(if $(exact),exact/default.supp exact/vgpreload_core-amd64-linux.so)

include_dir = $(prefix)/include
include_mode = 644
include_files = $(srcdir)/collector/lwp.h

pkgconfig_dir = $(prefix)/share/pkgconfig
pkgconfig_mode = 644
pkgconfig_files = lwp.pc

man_dir = $(prefix)/share/man/man1
man_mode = 644
man_files = $(man)

bash_dir = $(prefix)/share/bash-completion/completions
bash_mode = 644
bash_files = $(srcdir)/completion/lwp

zsh_dir = $(prefix)/share/zsh/site-functions
zsh_mode = 644
zsh_files = $(srcdir)/completion/_lwp

doc_dir = $(prefix)/share/doc/lwp
doc_mode = 644
doc_files = $(addprefix $(srcdir)/,README.md NEWS LICENSE) $(wildcard $(srcdir)/docs/*)

define put
	install -d '$(DESTDIR)$($1_dir)'
	install -m $($1_mode) $($1_files) '$(DESTDIR)$($1_dir)'

endef
define take
	rm -f $(foreach file,$($1_files),'$(DESTDIR)$($1_dir)/$(notdir $(file))')

endef

install: all lwp.pc
	$(foreach place,$(places),$(if $($(place)_files),$(call put,$(place))))

uninstall:
	$(foreach place,$(places),$(if $($(place)_files),$(call take,$(place))))
	for own in $(exact_dir) $(private_dir) $(doc_dir); do [ ! -d "$(DESTDIR)$$own" ] || rmdir "$(DESTDIR)$$own" || exit 1; done

# A page is what lwp says of the command itself, then what man/ adds.
man := $(patsubst %.mdoc,%.1,$(call sources,man/*.mdoc))
all: $(if $(suffix),,$(man))
man/%.1: $(srcdir)/man/%.mdoc lwp
	@mkdir -p $(@D)
	$(call quiet,MAN,$@)./lwp help --man $(filter-out lwp,$(*:lwp-%=%)) > $@ && cat $< >> $@

lwp.pc: Makefile
	printf '%s\n' 'prefix=$(prefix)' 'includedir=$${prefix}/include' '' 'Name: lwp' 'Version: $(VERSION)' \
	    'Description: What a program can tell the exact engine of the lwp profiler (lwp.h; nothing is linked)' \
	    'Cflags: -I$${includedir}' > $@

.PHONY: install uninstall
