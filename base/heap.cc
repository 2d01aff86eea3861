#include "base/heap.h"

#include <malloc.h>

namespace capi {

void KeepHeapSmall() {
  // One arena: the many threads mostly wait, and what one frees another should get.
  mallopt(M_ARENA_MAX, 1);
  // Texts (a release, a CRD, a response) come and go whole. glibc raises this limit by itself with the first of them,
  // and then they leave holes in the heap instead.
  mallopt(M_MMAP_THRESHOLD, 64 << 10);
  mallopt(M_TRIM_THRESHOLD, 128 << 10);
}

}  // namespace capi
