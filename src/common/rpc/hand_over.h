// Annotations for ThreadSanitizer: gRPC runs callbacks on other threads. Locks order a callback after the start of
// its operation, but ThreadSanitizer cannot see these locks in Debian's build of gRPC. The annotations are empty
// in other builds.
#pragma once

#if defined(__SANITIZE_THREAD__)
#define TAUT_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TAUT_TSAN 1
#endif
#endif
#ifdef TAUT_TSAN
#include <sanitizer/tsan_interface.h>
#endif

namespace taut {

// Call before an operation of `object` is started.
inline void HandOver([[maybe_unused]] void* object) {
#ifdef TAUT_TSAN
  __tsan_release(object);
#endif
}
// Call first in the callback that ends the operation.
inline void TakeOver([[maybe_unused]] void* object) {
#ifdef TAUT_TSAN
  __tsan_acquire(object);
#endif
}

// Annotates a whole callback, from beginning to end. Must not be used in an object's last callback, which destroys
// the object.
class Reaction {
 public:
  explicit Reaction(void* object) : object_(object) { TakeOver(object_); }
  ~Reaction() { HandOver(object_); }
  Reaction(const Reaction&) = delete;
  Reaction& operator=(const Reaction&) = delete;

 private:
  void* const object_;
};

}  // namespace taut
