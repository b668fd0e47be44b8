# An interpreter: tagged values, hash tables, a garbage collector, all memory from one realloc-like function.
packages=lua5.4
sampled=900 traced=60
build() {
    : > src/lua5.4-deb-multiarch.h
    $CC $CFLAGS -DLUA_USE_LINUX -DDEB_HOST_MULTIARCH='"none"' -o lua $(ls src/*.c | grep -v luac.c) -lm -ldl
}
run() {
    cat > input.lua <<'L'
local size = tonumber(arg[1])
local function tree(depth)
    if depth == 0 then return { value = 1 } end
    return { left = tree(depth - 1), right = tree(depth - 1), value = depth }
end
local function sum(node) if not node then return 0 end return node.value + sum(node.left) + sum(node.right) end
local kept, total = tree(14), 0
for i = 1, 4 * size / 10 do total = total + sum(kept) + sum(tree(8)) end
local words, counts = {}, {}
for i = 1, 3000 * size do local word = "w" .. (i * 7919 % 20011); counts[word] = (counts[word] or 0) + 1 end
for word in pairs(counts) do words[#words + 1] = word end
table.sort(words)
local sieve = {}
for i = 2, 20000 * size do sieve[i] = true end
for i = 2, math.floor(math.sqrt(20000 * size)) do if sieve[i] then for k = i * i, 20000 * size, i do sieve[k] = false end end end
local primes = 0
for _, prime in pairs(sieve) do if prime then primes = primes + 1 end end
print(total, #words, words[17], primes)
L
    $WITH "$TREE/lua" input.lua "$SIZE"
}
