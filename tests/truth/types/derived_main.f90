! Fills the data of derived.f90 and calls its loops; apart from it, so that they are not inlined.
program derived
    use bodies
    implicit none
    integer :: rounds, i, many
    character(len=20) :: text
    type(item), pointer :: first, one
    type(mesh) :: grid
    real(8) :: total
    real(8) :: left, right
    real(8) :: wall(200000)
    common /walls/ left, right, wall
    rounds = 10
    if (command_argument_count() > 0) then
        call get_command_argument(1, text)
        read (text, *) rounds
    end if
    many = 300000
    allocate (swarm(many))
    allocate (grid%cells(many))
    allocate (grid%heat(1000, 400))
    grid%count = many
    grid%heat = 1
    first => null()
    do i = 1, many
        swarm(i)%position = vector(i, 1, 2)
        swarm(i)%velocity = vector(1, 1, 2)
        swarm(i)%mass = i
        swarm(i)%kind = i
        swarm(i)%history = 0
        allocate (one)
        one%value = i
        one%price = 1
        one%next => first
        first => one
    end do
    grid%cells = swarm
    do i = 1, size(shelf)
        shelf(i)%value = i
        shelf(i)%price = i
    end do
    field = 1
    wall = 2
    total = 0
    do i = 1, rounds
        total = total + kinetic(swarm) + prices() + follow(first) + cells(grid) + diffuse() + diffuse()
        call drift(0.5d0)
        call remember(many, swarm)
        call warm(grid)
    end do
    print *, total
end program
