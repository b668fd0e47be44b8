! Fortran: arrays of derived types, allocatable components, COMMON.
!
!!! fortran_types type=star bytes=104 hot=lum@88 path=MAIN__,main name=stars
!!! fortran_nested type=body bytes=112 hot=vel.y@48 path=MAIN__,main name=bodies
!!! fortran_static type=star bytes=104 hot=lum@88 name=sky,stars
!!! fortran_common type=star bytes=104 hot=lum@88 name=shared_stars,shared_stars_,stars
!!! fortran_component type=star bytes=104 hot=lum@88 path=MAIN__,main,make name=g,stars,g%stars
!!! fortran_pointer type=node bytes=104 hot=lum@88,next@96 path=MAIN__,main,make_star name=first,star,next,p
!!! fortran_arrays type=real(kind=8)|real*8|double bytes=8 path=MAIN__,main name=a block=16777216
!!! fortran_arrays and type=real(kind=4)|real*4|float bytes=4 path=MAIN__,main name=b block=8388608
!!! fortran_O3 of=fortran_types flags=-O3
!!! fortran_O0 of=fortran_nested flags=-O0
module shapes
  implicit none
  integer, parameter :: n = 524288
  type star
    sequence
    integer :: id, kind
    real(8) :: at(3), speed(3)
    character(len=32) :: name
    real(8) :: lum, mass
  end type
  type vec
    real(8) :: x, y, z
  end type
  type body
    real(8) :: mass, mean
    type(vec) :: pos, vel
    real(8) :: hist(6)
  end type
#ifdef shape_fortran_pointer
  type node
    real(8) :: at(3), speed(3)
    character(len=40) :: name
    real(8) :: lum
    type(node), pointer :: next
  end type
#endif
#ifdef shape_fortran_component
  type galaxy
    integer :: count
    character(len=20) :: name
    type(star), allocatable :: stars(:)
  end type
#endif
contains
#if defined(shape_fortran_nested)
  real(8) function walk(bodies)
    type(body), intent(in) :: bodies(0:n - 1)
    integer(8) :: i
    integer :: k
    walk = 0
    i = 1
    do k = 1, n
      walk = walk + bodies(i)%vel%y
      i = iand(i * 1664525 + 1013904223, int(n - 1, 8))
    end do
  end function
#elif defined(shape_fortran_pointer)
  real(8) function walk(first)
    type(node), pointer, intent(in) :: first
    type(node), pointer :: star
    walk = 0
    star => first
    do while (associated(star))
      walk = walk + star%lum
      star => star%next
    end do
  end function
  subroutine make_star(star)
    type(node), pointer, intent(out) :: star
    allocate (star)
    star%lum = 1
    nullify (star%next)
  end subroutine
#elif defined(shape_fortran_arrays)
  real(8) function walk(a, b)
    real(8), intent(in) :: a(0:4 * n - 1)
    real(4), intent(in) :: b(0:4 * n - 1)
    integer(8) :: i
    integer :: k
    walk = 0
    i = 1
    do k = 1, 4 * n
      walk = walk + a(i) * b(i)
      i = iand(i * 1664525 + 1013904223, int(4 * n - 1, 8))
    end do
  end function
#else
  real(8) function walk(stars)
    type(star), intent(in) :: stars(0:n - 1)
    integer(8) :: i
    integer :: k
    walk = 0
    i = 1
    do k = 1, n
      walk = walk + stars(i)%lum
      i = iand(i * 1664525 + 1013904223, int(n - 1, 8))
    end do
  end function
#endif
#ifdef shape_fortran_component
  subroutine make(g)
    type(galaxy), intent(inout) :: g
    allocate (g%stars(n))
    g%count = n
  end subroutine
#endif
end module

program main
  use shapes
  implicit none
  real(8) :: seconds, total, now, start
  character(len=20) :: text
#if defined(shape_fortran_types)
  type(star), allocatable :: stars(:)
#elif defined(shape_fortran_static)
  type(star), save :: sky(n)
#elif defined(shape_fortran_common)
  type(star) :: stars(n)
  common /shared_stars/ stars
#elif defined(shape_fortran_component)
  type(galaxy) :: g
#elif defined(shape_fortran_nested)
  type(body), allocatable :: bodies(:)
#elif defined(shape_fortran_pointer)
  type pointed
    type(node), pointer :: p
  end type
  type(pointed), allocatable :: all(:)
  type(node), pointer :: first
#elif defined(shape_fortran_arrays)
  real(8), allocatable :: a(:)
  real(4), allocatable :: b(:)
#endif
  integer :: i, at
  seconds = 1
  if (command_argument_count() > 0) then
    call get_command_argument(1, text)
    read (text, *) seconds
  end if
#if defined(shape_fortran_types)
  allocate (stars(n))
#define LIST stars
#elif defined(shape_fortran_common)
#define LIST stars
#elif defined(shape_fortran_static)
#define LIST sky
#elif defined(shape_fortran_component)
  call make(g)
#define LIST g%stars
#endif
#if defined(shape_fortran_nested)
#define LIST bodies
  allocate (bodies(n))
  do i = 1, n
    bodies(i)%mass = i
    bodies(i)%vel = vec(1, 2, 3)
  end do
#elif defined(shape_fortran_pointer)
#define LIST first
  allocate (all(0:n - 1))
  do i = 0, n - 1
    at = int(iand(int(i, 8) * 7919_8, int(n - 1, 8)))
    call make_star(all(at)%p)
  end do
  do i = 0, n - 2
    all(i)%p%next => all(i + 1)%p
  end do
  first => all(0)%p
  deallocate (all)
#elif defined(shape_fortran_arrays)
#define LIST a, b
  allocate (a(4 * n), b(4 * n))
  a = 1
  b = 2
#else
  do i = 1, n
    LIST(i)%id = i
    LIST(i)%lum = 1
  end do
#endif
  at = 0
  total = 0
  call cpu_time(start)
  do
    total = total + walk(LIST)
    call cpu_time(now)
    if (now - start > seconds) exit
  end do
  print *, total
end program
