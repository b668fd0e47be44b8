! Components that the compiler keeps elsewhere, or adds something for.
module components
    implicit none
    type :: part
        real(8) :: price
    end type
    type :: record
        type(part), allocatable :: parts(:)
        real(4), pointer :: heat(:, :)
        integer :: kind
        character(len=12) :: name
        character(len=:), allocatable :: label
        class(*), allocatable :: anything
        class(part), pointer :: owner
    end type
    type(record) :: records(1000)
end module

program main
    use components
    implicit none
    integer :: i, total
    do i = 1, 1000
        records(i)%kind = i
        records(i)%name = 'name'
        records(i)%label = 'label'
        allocate (records(i)%parts(i))
    end do
    total = 0
    do i = 1, 1000
        if (allocated(records(i)%parts)) total = total + records(i)%kind
    end do
    print *, total
end program
