// gRPC calls us back on other threads, after what we did before we started the operation. It does so by locks
// that ThreadSanitizer does not see in Debian's build; here it is annotated. Nothing in other builds.
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

// Before an operation of `object` is started.
inline void HandOver([[maybe_unused]] void* object) {
#ifdef TAUT_TSAN
  __tsan_release(object);
#endif
}
// First in what gRPC calls when it is done.
inline void TakeOver([[maybe_unused]] void* object) {
#ifdef TAUT_TSAN
  __tsan_acquire(object);
#endif
}

// All of a callback but an object's last: what comes after it is annotated too.
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
