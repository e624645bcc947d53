// A word to the memory system that an address is read soon. Host code only.
#pragma once

namespace warptsp {

inline void prefetch(const void *address) {
#if defined(__GNUC__)
  __builtin_prefetch(address);
#else
  (void)address;
#endif
}

}  // namespace warptsp
