// How the process gets its memory.
#pragma once

namespace capi {

// Has what is freed go back to the system rather than wait for a next time. For `main`, before any thread.
void KeepHeapSmall();

}  // namespace capi
