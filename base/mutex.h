// A mutex that clang's thread-safety analysis understands (-Wthread-safety).
#pragma once

#include <mutex>

#if defined(__clang__)
#define CAPI_THREAD_ANNOTATION(x) __attribute__((x))
#else
#define CAPI_THREAD_ANNOTATION(x)
#endif

#define CAPI_GUARDED_BY(x) CAPI_THREAD_ANNOTATION(guarded_by(x))
#define CAPI_REQUIRES(...) CAPI_THREAD_ANNOTATION(requires_capability(__VA_ARGS__))
#define CAPI_EXCLUDES(...) CAPI_THREAD_ANNOTATION(locks_excluded(__VA_ARGS__))

namespace capi {

// Thread-safe. BasicLockable, so std::condition_variable_any waits on it directly.
class CAPI_THREAD_ANNOTATION(capability("mutex")) Mutex {
 public:
  void lock() CAPI_THREAD_ANNOTATION(acquire_capability()) { mu_.lock(); }
  void unlock() CAPI_THREAD_ANNOTATION(release_capability()) { mu_.unlock(); }
  // For the analysis, which doesn't know who calls a lambda: in those that a wait runs while the mutex is held.
  void AssertHeld() const CAPI_THREAD_ANNOTATION(assert_capability(this)) {}
  bool try_lock() CAPI_THREAD_ANNOTATION(try_acquire_capability(true)) { return mu_.try_lock(); }

 private:
  std::mutex mu_;
};

// Holds a Mutex for a scope.
class CAPI_THREAD_ANNOTATION(scoped_lockable) MutexLock {
 public:
  explicit MutexLock(Mutex& mu) CAPI_THREAD_ANNOTATION(acquire_capability(mu)) : mu_(mu) { mu_.lock(); }
  ~MutexLock() CAPI_THREAD_ANNOTATION(release_capability()) { mu_.unlock(); }
  MutexLock(const MutexLock&) = delete;
  MutexLock& operator=(const MutexLock&) = delete;

 private:
  Mutex& mu_;
};

}  // namespace capi
