# What is given to others: the files of the last commit, the same bytes each time, and a test that they are enough.
dist = lwp-$(VERSION)

dist: $(dist).tar.gz

$(dist).tar.gz: FORCE
	git -C '$(srcdir)' archive --format=tar --prefix=$(dist)/ HEAD | gzip -9n > $@

# Built from a folder that cannot be written, without git, as one who has only the tarball would.
distcheck: dist
	rm -rf distcheck && mkdir distcheck
	tar -C distcheck -xzf $(dist).tar.gz
	chmod -R a-w distcheck/$(dist)
	mkdir distcheck/build
	cd distcheck/build && ../$(dist)/configure --prefix=/usr CC='$(CC)' CFLAGS='$(CFLAGS)' > configure.log
	+$(MAKE) -C distcheck/build all units
	+$(MAKE) -C distcheck/build check-unit
	+$(MAKE) -C distcheck/build install DESTDIR='$(CURDIR)/distcheck/root' > distcheck/install.log
	distcheck/root/usr/bin/lwp --version | grep -qx 'lwp $(VERSION)'
	+$(MAKE) -C distcheck/build uninstall DESTDIR='$(CURDIR)/distcheck/root' > distcheck/uninstall.log
	[ -z "$$(find distcheck/root ! -type d)" ]
	rm distcheck/build/configure.log
	+$(MAKE) -C distcheck/build distclean > distcheck/distclean.log
	[ -z "$$(find distcheck/build ! -type d)" ]
	chmod -R u+w distcheck && rm -rf distcheck
	@echo '$(dist).tar.gz is sound'

FORCE:
.PHONY: dist distcheck FORCE
