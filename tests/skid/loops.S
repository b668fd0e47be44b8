# Labelled loops whose hot instruction, object and field are known by construction (loops.c tells which).
# Each function has unwind information, as compiled code has. Arguments: rdi, rsi, rdx, rcx; the last is the count.

.macro begin name
    .p2align 4
    .globl skid_\name
    .type skid_\name, @function
skid_\name:
    .cfi_startproc
.endm

.macro end name
    .cfi_endproc
    .size skid_\name, . - skid_\name
    .globl skid_\name\()_end
skid_\name\()_end:
.endm

.macro at name # the next instruction is a labelled access
    .globl at_\name
at_\name:
.endm

    .text

# Pointer chase through the field at 8; the address register does not survive. (node, count)
begin chase
1:
at chase
    mov 8(%rdi), %rdi
    dec %rsi
    jnz 1b
    mov %rdi, %rax
    ret
end chase

# The same through the field at 0, with 20 independent instructions before the next step. (node, count)
begin chase_alu
1:
at chase_alu
    mov (%rdi), %rdi
    .rept 5
    add $3, %r8
    xor %r8, %r9
    lea 7(%r10), %r10
    add $5, %r11
    .endr
    dec %rsi
    jnz 1b
    mov %rdi, %rax
    ret
end chase_alu

# (%rdi,%rax,8) with the index overwritten: a chase by index. (array, index, count)
begin index
    mov %rsi, %rax
1:
at index
    mov (%rdi,%rax,8), %rax
    dec %rdx
    jnz 1b
    ret
end index

# A chase by a load-op: the field at 16 is the distance to the next node. (node, count)
begin loadop
1:
at loadop
    add 16(%rdi), %rdi
    dec %rsi
    jnz 1b
    mov %rdi, %rax
    ret
end loadop

# The same with cheap instructions around it, with which the load-op retires: the processor takes some 5 % of the
# interrupts a few instructions later. lea and prefetch are no accesses. (node, any, count)
begin slips
    xor %r8d, %r8d
1:
    xor %ecx, %ecx
at slips
    add 8(%rdi,%r8), %rcx
    mov %rcx, %rdi
    lea 40(%rdi,%r8), %r9
    prefetcht0 (%rsi)
    dec %rdx
    jnz 1b
    mov %rcx, %rax
    ret
end slips

# A compare in memory fused with its jump is the first to touch a line; the load that leads on finds it. (node, count)
begin compare
    xor %ecx, %ecx
    mov $1, %r9d
1:
at compare
    cmp %r9, 24(%rdi)
    je 2f
    lea 1(%rcx), %rcx
2:
at compare_next
    mov 8(%rdi), %rdi
    dec %rsi
    jnz 1b
    mov %rcx, %rax
    ret
end compare

# The same where the jump is taken, over a return and what aligns its target: the instructions in front of that never run. (node, count)
begin found
    xor %r9d, %r9d
1:
at found
    cmp %r9, 24(%rdi)
    je 2f
    mov %r9, %rax
    ret
    .p2align 5
    .nops 7
2:
    lea 1(%rcx), %rcx
at found_next
    mov 8(%rdi), %rdi
    dec %rsi
    jnz 1b
    mov %rcx, %rax
    ret
end found

# Two compares in memory lead back, by flags alike: the second touches a new line each time, the first never jumps. Only a register
# distinguishes them. (far node, near node, count)
begin joined
    mov $1, %r9d
    xor %r8d, %r8d
1:
    dec %rdx
    jz 2f
    mov $1, %ecx
at joined_near
    cmp %r8, 24(%rsi)
    jne 1b
at joined_next
    mov 8(%rdi), %rdi
    mov $2, %ecx
at joined_far
    cmp %r9, 24(%rdi)
    jne 1b
2:
    mov %rdi, %rax
    ret
end joined

# One load that misses (chase, field at 8) among three that hit a small table and a store that hits. (node, table, count)
begin mixed
    xor %eax, %eax
1:
at mixed_hit1
    mov (%rsi,%rax,8), %r8
    add $1, %eax
    and $63, %eax
at mixed_miss
    mov 8(%rdi), %rdi
at mixed_hit2
    add (%rsi,%rax,8), %r9
at mixed_hit3
    mov 8(%rsi), %r10
at mixed_store
    mov %r9, 512(%rsi,%rax,8)
    dec %rdx
    jnz 1b
    mov %rdi, %rax
    ret
end mixed

# Two chases side by side, only one of which misses; the other stays in a ring of 8 nodes. (far node, near node, count)
begin pair
1:
at pair_near
    mov 8(%rsi), %rsi
at pair_far
    mov 8(%rdi), %rdi
    dec %rdx
    jnz 1b
    lea (%rdi,%rsi), %rax
    ret
end pair

# Four chases by index at once: a gather's addresses are in a vector register. (array, four indices, count)
begin gather
    vmovdqu (%rsi), %ymm1
1:
    vpcmpeqd %ymm2, %ymm2, %ymm2
at gather
    vpgatherqq %ymm2, (%rdi,%ymm1,8), %ymm3
    vmovdqa %ymm3, %ymm1
    dec %rdx
    jnz 1b
    vmovq %xmm1, %rax
    vzeroupper
    ret
end gather

# (to, from, words, -)
begin rep_movs
    mov %rdx, %rcx
    cld
at rep_movs
    rep movsq
    ret
end rep_movs

# (to, words)
begin rep_stos
    mov %rsi, %rcx
    xor %eax, %eax
    cld
at rep_stos
    rep stosq
    ret
end rep_stos

# A loop of stores and no load: field at 16 of 64-byte elements, in random order. (array, mask, count)
begin stores
    mov $777, %eax
1:
    imul $1664525, %rax, %rax
    add $1013904223, %rax
    mov %rax, %r8
    shr $20, %r8
    and %rsi, %r8
    shl $6, %r8
at stores
    mov %rax, 16(%rdi,%r8)
    dec %rdx
    jnz 1b
    ret
end stores

# Four loads of one 32-byte element, base advanced after them. (array, end, passes)
begin unrolled
    xor %eax, %eax
    mov %rdi, %r8
1:  mov %r8, %rdi
2:
at unrolled0
    add (%rdi), %rax
at unrolled8
    add 8(%rdi), %rax
at unrolled16
    mov 16(%rdi), %ecx
    add %rcx, %rax
at unrolled24
    movzwl 24(%rdi), %ecx
    add %rcx, %rax
    add $32, %rdi
    cmp %rsi, %rdi
    jne 2b
    dec %rdx
    jnz 1b
    ret
end unrolled

# A vector load and a vector store, base + index + displacement. (from, to, bytes, passes)
begin vector
1:  xor %eax, %eax
2:
at vector_load
    movups 32(%rdi,%rax), %xmm0
    addps %xmm0, %xmm0
at vector_store
    movups %xmm0, (%rsi,%rax)
    add $64, %rax
    cmp %rdx, %rax
    jb 2b
    dec %rcx
    jnz 1b
    ret
end vector

# Thread-local storage through fs. (offset from fs, mask, count)
begin tls
    xor %eax, %eax
    xor %ecx, %ecx
1:
at tls
    add %fs:(%rdi,%rcx,8), %rax
    add $3, %rcx
    and %rsi, %rcx
    dec %rdx
    jnz 1b
    ret
end tls

# What memory held before a store is no guide to what is loaded after it: the slot points at the decoy until the store
# of this very pass makes it point at the node. (slot, node, decoy, count)
begin rewritten
1:
    mov %rsi, %rax
at rewritten_store
    mov %rax, (%rdi)
at rewritten_slot
    mov (%rdi), %r8
at rewritten_node
    add 8(%r8), %r9
at rewritten_back
    mov %rdx, (%rdi)
    dec %rcx
    jnz 1b
    ret
end rewritten

# A switch whose cases are entered by an indirect jump and by falling through, with another base register each time:
# at a case label the instruction before it may not have been the last one. (first array, second array, count)
begin cases
    xor %eax, %eax
    lea cases_table(%rip), %r9
1:
    mov %edx, %ecx
    and $3, %ecx
    imul $40503, %rdx, %r10
    shr $4, %r10
    and $0x7ffff, %r10
    shl $6, %r10
    mov %rdi, %r8
at cases_table_load
    movslq (%r9,%rcx,4), %rcx
    add %r9, %rcx
    lea (%rsi,%r10), %r11
    jmp *%rcx
case0:
    lea (%r8,%r10), %r11
at cases_first
    add 8(%r11), %rax
case1: # r11: in the first array after falling through, else in the second
    add $1, %rax
    add $1, %rax
case2:
    add $1, %rax
    dec %rdx
    jnz 1b
    ret
case3:
at cases_second
    add 40(%r11), %rax
    lea (%r8,%r10), %r11
at cases_third
    add 16(%r11), %rax
    jmp case2
    .p2align 2
end cases
    .section .rodata
    .p2align 2
cases_table:
    .long case0 - cases_table, case1 - cases_table, case2 - cases_table, case3 - cases_table
    .text

# No stall at all: dependent arithmetic between loads that hit, entered after a load of another object. (table, other, count)
begin compute
    mov $7, %eax
at compute_before
    mov (%rsi), %rcx
1:
    imul %rax, %rax
    imul %rax, %rax
    imul %rax, %rax
    imul %rax, %rax
    or $7, %rax
    imul %rax, %rax
    imul %rax, %rax
    imul %rax, %rax
    imul %rax, %rax
    dec %rdx
    jnz 1b
    ret
end compute

    .section .note.GNU-stack, "", @progbits
