! Where every hot loop's data is known: each "TRUTH function: type { fields }" names what its accesses go to.
! Run by tests/truth/named_types.sh; the argument is the number of rounds.
! TRUTH anywhere: type(mesh) { } (the main program, whose `grid` it is)
module bodies
    implicit none
    type :: vector
        real(8) :: x, y, z
    end type
    type :: body
        type(vector) :: position
        type(vector) :: velocity
        real(8) :: mass
        integer :: kind
        real(4) :: history(3)
    end type
    type :: item
        integer :: value
        real(8) :: price
        type(item), pointer :: next => null()
    end type
    type :: mesh
        integer :: count = 0
        type(body), allocatable :: cells(:)
        real(8), allocatable :: heat(:, :)
    end type
    type(body), allocatable :: swarm(:)
    type(item) :: shelf(100000)
    real(8) :: field(1000, 200)
contains
    ! TRUTH kinetic: type(body) { velocity, mass }
    function kinetic(all) result(total)
        type(body), intent(in) :: all(:)
        real(8) :: total
        integer :: i
        total = 0
        do i = 1, size(all)
            total = total + all(i)%mass * (all(i)%velocity%x**2 + all(i)%velocity%y**2)
        end do
    end function

    ! TRUTH drift: type(body) { position, velocity }
    subroutine drift(by)
        real(8), intent(in) :: by
        integer :: i
        do i = 1, size(swarm)
            swarm(i)%position%x = swarm(i)%position%x + by * swarm(i)%velocity%x
            swarm(i)%position%z = swarm(i)%position%z + by
        end do
    end subroutine

    ! TRUTH remember: type(body) { kind, history }
    subroutine remember(many, all)
        integer, intent(in) :: many
        type(body), intent(inout) :: all(many)
        integer :: i
        do i = 1, many
            if (mod(all(i)%kind, 3) /= 0) all(i)%history(2) = all(i)%history(1) + 1
        end do
    end subroutine

    ! TRUTH prices: type(item) { value, price }
    function prices() result(total)
        real(8) :: total
        integer :: i
        total = 0
        do i = 1, size(shelf)
            if (shelf(i)%value > 10) total = total + shelf(i)%price
        end do
    end function

    ! TRUTH follow: type(item) { value, next }
    function follow(first) result(total)
        type(item), pointer, intent(in) :: first
        type(item), pointer :: at
        integer :: total
        total = 0
        at => first
        do while (associated(at))
            total = total + at%value
            at => at%next
        end do
    end function

    ! TRUTH cells: type(body) { mass, kind }
    function cells(grid) result(total)
        type(mesh), intent(in) :: grid
        real(8) :: total
        integer :: i
        total = 0
        do i = 1, grid%count
            total = total + grid%cells(i)%mass * grid%cells(i)%kind
        end do
    end function

    ! TRUTH warm: real(kind=8) { }
    subroutine warm(grid)
        type(mesh), intent(inout) :: grid
        integer :: i, k
        do k = 2, size(grid%heat, 2)
            do i = 1, size(grid%heat, 1)
                grid%heat(i, k) = 0.5d0 * (grid%heat(i, k) + grid%heat(i, k - 1))
            end do
        end do
    end subroutine

    ! TRUTH diffuse: real(kind=8) { }
    function diffuse() result(total)
        real(8) :: total
        real(8) :: left, right
        real(8) :: wall(200000)
        common /walls/ left, right, wall
        integer :: i, k
        total = 0
        do k = 1, 200
            do i = 1, 1000
                total = total + field(i, k) * wall(i + 1000 * (k - 1))
            end do
        end do
    end function
end module
