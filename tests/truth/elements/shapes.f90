! A matrix walked along rows and columns, and an array of a derived type; prints the same lines as shapes.c.
module shapes
  implicit none
  type cell
    real(8) :: density, energy
    real(8) :: velocity(3)
    integer(4) :: kind, next
  end type
contains
  function along(values) result(total)
    real(8), intent(in) :: values(:, :)
    real(8) :: total
    integer :: i, j
    total = 0
    do j = 1, size(values, 2)
      do i = 1, size(values, 1)
        total = total + values(i, j)
      end do
    end do
  end function

  function across(values) result(total)
    real(8), intent(in) :: values(:, :)
    real(8) :: total
    integer :: i, j
    total = 0
    do i = 1, size(values, 1)
      do j = 1, size(values, 2)
        total = total + values(i, j)
      end do
    end do
  end function

  function energies(cells) result(total)
    type(cell), intent(in) :: cells(:)
    real(8) :: total
    integer :: i
    total = 0
    do i = 1, size(cells)
      total = total + cells(i)%energy
    end do
  end function
end module

program main
  use shapes
  implicit none
  real(8), allocatable :: values(:, :)
  type(cell), allocatable :: cells(:)
  character(len=32) :: what
  real(8) :: total, now, until
  if (command_argument_count() < 1) then
    print '(a)', 'matrix', 'cells'
    stop
  end if
  call get_command_argument(1, what)
  until = 0.5d0
  total = 0
  if (what == 'matrix') then
    allocate (values(1003, 1500))
    values = 1
    print '(a, i0, a)', 'block ', 8_8 * 1003 * 1500, ' 8 0'
    do
      total = total + along(values) + across(values)
      call cpu_time(now)
      if (now > until) exit
    end do
  else
    allocate (cells(500000))
    cells%energy = 1
    print '(a, i0, a)', 'block ', 48_8 * 500000, ' 48 0'
    print '(a, i0, a)', 'use energies ', 48_8 * 500000, ' 8'
    do
      total = total + energies(cells)
      call cpu_time(now)
      if (now > until) exit
    end do
  end if
  if (total < 0) print *, total
end program
