// A fuzz target: a function that checks what must hold for any input. libFuzzer runs it on inputs of its own (`make
// fuzz`), the unit tests on a few seeds and on the inputs that once broke it, which lie in fuzz/NAME beside the
// target's file.
//
//   CAPI_FUZZ(yaml, "base/yaml", {"a: 1\n", "- &x y\n- *x\n"}) { ... input, a std::string_view ... }
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace capi {

// A value.
struct FuzzTarget {
  std::string name;
  std::string folder;              // of its file, from the top of the tree
  std::vector<std::string> seeds;  // inputs that reach most of it
  void (*run)(std::string_view input) = nullptr;
};

// Those that are linked into this program. Filled before main.
inline std::vector<FuzzTarget>& FuzzTargets() {
  static std::vector<FuzzTarget> targets;
  return targets;
}

struct FuzzRegistration {
  explicit FuzzRegistration(FuzzTarget target) { FuzzTargets().push_back(std::move(target)); }
};

}  // namespace capi

// Ends the process, as a sanitizer does, when `condition` doesn't hold.
#define FUZZ_REQUIRE(condition)                                                           \
  do {                                                                                    \
    if (!(condition)) {                                                                   \
      std::fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                                       \
    }                                                                                     \
  } while (false)

#ifdef CAPI_LIBFUZZER
#define CAPI_FUZZ_ENTRY(target)                                                       \
  extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) { \
    target({reinterpret_cast<const char*>(data), size});                              \
    return 0;                                                                         \
  }
#else
#define CAPI_FUZZ_ENTRY(target)
#endif

// The rest of the arguments are the seeds, in braces.
#define CAPI_FUZZ(target, folder, ...)                                                                        \
  static void Fuzz_##target(std::string_view input);                                                          \
  static const ::capi::FuzzRegistration registration_##target({#target, folder, __VA_ARGS__, Fuzz_##target}); \
  CAPI_FUZZ_ENTRY(Fuzz_##target)                                                                              \
  static void Fuzz_##target(std::string_view input)
