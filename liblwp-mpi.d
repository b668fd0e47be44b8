liblwp-mpi.so: /work/wt/me/analysis/ranks/mpi/port.c \
 /work/wt/me/analysis/ranks/ranks.h /work/wt/me/base/error.h \
 /usr/lib/x86_64-linux-gnu/openmpi/include/mpi.h \
 /usr/lib/x86_64-linux-gnu/openmpi/include/mpi_portable_platform.h
/work/wt/me/analysis/ranks/ranks.h:
/work/wt/me/base/error.h:
/usr/lib/x86_64-linux-gnu/openmpi/include/mpi.h:
/usr/lib/x86_64-linux-gnu/openmpi/include/mpi_portable_platform.h:
