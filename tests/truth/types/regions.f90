! A parallel region with more arrays than registers, compiled for vectors: they are handed over in a record, and kept on a stack that
! was aligned.
module regions
    implicit none
contains
    subroutine flow(low, high, a, b, c, d, e, f, g, h, p, q, r, s)
        integer :: low, high
        real(8), dimension(low - 2:high + 2, low - 2:high + 2) :: a, b, c, d, e, f, g, h, p, q, r, s
        integer :: j, k
        real(8) :: left, right
        !$omp parallel
        !$omp do private(left, right)
        do k = low, high
            do j = low, high
                left = a(j, k) * (b(j, k) + c(j, k)) + d(j - 1, k) * e(j, k + 1)
                right = f(j, k) * g(j + 1, k) - h(j, k) / p(j, k)
                q(j, k) = left - right
                r(j, k) = min(left, right) + s(j, k)
            end do
        end do
        !$omp do
        do k = low, high
            do j = low, high
                d(j, k) = q(j, k) * a(j, k) + r(j, k - 1) * c(j, k) + s(j - 1, k) / h(j, k + 1)
                e(j, k) = sqrt(b(j, k)) * f(j, k) + g(j, k) * p(j, k)
            end do
        end do
        !$omp end parallel
    end subroutine
end module

program regions_main
    use regions
    implicit none
    integer, parameter :: n = 100
    real(8), dimension(n + 4, n + 4, 12) :: m
    m = 1
    call flow(1, n, m(:, :, 1), m(:, :, 2), m(:, :, 3), m(:, :, 4), m(:, :, 5), m(:, :, 6), m(:, :, 7), m(:, :, 8), &
              m(:, :, 9), m(:, :, 10), m(:, :, 11), m(:, :, 12))
    print *, m(5, 5, 4)
end program
