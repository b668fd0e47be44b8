# Fortran: the reference BLAS and LAPACK with a program of ours that allocates its arrays and has some of a derived type.
packages=lapack
needs=gfortran
language=fortran
sampled=220 traced=40
build() {
    mkdir -p ours
    ls BLAS/SRC/[dilx]*.f BLAS/SRC/d*.f90 INSTALL/[dl]*.f SRC/[di]*.f SRC/d*.f90 > ours/files
    (cd ours && gfortran -c $CFLAGS -w ../SRC/la_constants.f90 ../SRC/la_xisnan.F90)
    cat > ours/wanted.f90 <<'P'
program wanted
  implicit none
  type point
     double precision :: x, y, z
     double precision :: mass
     integer :: kind
     double precision :: velocity(3)
  end type
  type(point), allocatable :: points(:)
  double precision, allocatable :: a(:, :), b(:, :), w(:), work(:), s(:), u(:, :), vt(:, :)
  integer, allocatable :: pivots(:), iwork(:)
  integer :: n, i, k, info, size, r
  double precision :: total
  character(len=20) :: text
  call get_command_argument(1, text)
  read (text, *) size
  n = 4 * size
  allocate (a(n, n), b(n, 4), w(n), work(60 * n), pivots(n), iwork(8 * n), s(n), u(n, n), vt(n, n))
  call fill(a, n)
  b = 1d0
  call dgesv(n, 4, a, n, pivots, b, n, info)
  print '(i0, 1x, f12.6)', info, sum(abs(b)) / n
  call fill(a, n)
  a = a + transpose(a)
  call dsyev('V', 'U', n, a, n, w, work, 60 * n, info)
  print '(i0, 1x, f12.6)', info, sum(abs(w)) / n
  call fill(a, n)
  call dgesvd('N', 'N', n, n, a, n, s, u, n, vt, n, work, 60 * n, info)
  print '(i0, 1x, f12.6)', info, sum(s) / n
  allocate (points(20000 * size / 10))
  do i = 1, ubound(points, 1)
     points(i)%x = mod(i * 31, 1009)
     points(i)%y = mod(i * 17, 503)
     points(i)%z = i
     points(i)%mass = mod(i, 7)
     points(i)%kind = mod(i, 3)
     points(i)%velocity = 1d0 / i
  end do
  total = 0
  do r = 1, 20
     do i = 1, ubound(points, 1)
        if (points(i)%kind == mod(r, 3)) total = total + points(i)%x * points(i)%mass
     end do
  end do
  print '(f20.3)', total
contains
  subroutine fill(m, n)
    integer, intent(in) :: n
    double precision, intent(out) :: m(n, n)
    integer :: i, k
    do k = 1, n
       do i = 1, n
          m(i, k) = mod(i * 7919 + k * 104729, 1009) / 1009d0
       end do
       m(k, k) = m(k, k) + n
    end do
  end subroutine
end program
P
    # only what the program needs: compile until nothing is missing
    (cd ours && gfortran $CFLAGS -c wanted.f90)
    local missing
    for _ in 1 2 3 4 5 6 7 8 9 10 11 12; do
        missing=$(cd ours && gfortran -o wanted ./*.o 2>&1 | sed -n "s/.*undefined reference to \`\(.*\)_'/\1/p" | sort -u)
        [ -n "$missing" ] || break
        for name in $missing; do
            grep -m1 -e "/$name\.f" ours/files || echo "../no file for $name"
        done | sort -u | sed 's,^,../,' | (cd ours && nice xargs -P2 -n1 gfortran $CFLAGS -w -c)
    done
    test -x ours/wanted
}
run() {
    $WITH "$TREE/ours/wanted" "$SIZE"
}
