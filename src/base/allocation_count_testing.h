#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

// Counts every allocation of the test program that includes this, in one of its files: it replaces operator new and
// delete, all forms of them, so that what one form gives the matching one takes back.

namespace weft::testing {

/// Since the program began; only differences mean something.
inline uint64_t allocation_count = 0;

inline void* counted(size_t size, size_t alignment) noexcept {
  ++allocation_count;
  const size_t rounded = (size + alignment - 1) / alignment * alignment;
  return std::aligned_alloc(alignment, rounded == 0 ? alignment : rounded);
}

inline void* counted_or_throw(size_t size, size_t alignment) {
  if (void* const memory = counted(size, alignment)) return memory;
  throw std::bad_alloc();
}

inline constexpr size_t kPlain = alignof(std::max_align_t);

}  // namespace weft::testing

// Not inlined, so that the compiler pairs each new with its delete and not with what is inside.
// NOLINTBEGIN(misc-definitions-in-headers): the replacements must not be inline
[[gnu::noinline]] void* operator new(size_t size) {
  return weft::testing::counted_or_throw(size, weft::testing::kPlain);
}
[[gnu::noinline]] void* operator new[](size_t size) {
  return weft::testing::counted_or_throw(size, weft::testing::kPlain);
}
[[gnu::noinline]] void* operator new(size_t size, const std::nothrow_t&) noexcept {
  return weft::testing::counted(size, weft::testing::kPlain);
}
[[gnu::noinline]] void* operator new[](size_t size, const std::nothrow_t&) noexcept {
  return weft::testing::counted(size, weft::testing::kPlain);
}
[[gnu::noinline]] void* operator new(size_t size, std::align_val_t alignment) {
  return weft::testing::counted_or_throw(size, static_cast<size_t>(alignment));
}
[[gnu::noinline]] void* operator new[](size_t size, std::align_val_t alignment) {
  return weft::testing::counted_or_throw(size, static_cast<size_t>(alignment));
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete[](void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete[](void* memory, size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete[](void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, size_t, std::align_val_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete[](void* memory, size_t, std::align_val_t) noexcept { std::free(memory); }
// NOLINTEND(misc-definitions-in-headers)
