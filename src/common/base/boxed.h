// An optional value on the heap, for large values that most objects do not have. The object itself is one
// pointer wide.
#pragma once

#include <memory>
#include <utility>

namespace taut {

// Behaves as std::optional: copying copies the value, and a const object gives access to a const value. `*`
// and `->` require has_value(). A moved-from object is empty.
template <typename T>
class Boxed {
 public:
  Boxed() = default;
  Boxed(T value) : value_(std::make_unique<T>(std::move(value))) {}  // NOLINT: implicit, as in std::optional
  Boxed(const Boxed& other) : value_(other.has_value() ? std::make_unique<T>(*other) : nullptr) {}
  Boxed(Boxed&& other) noexcept = default;
  Boxed& operator=(const Boxed& other) {
    if (this != &other) *this = Boxed(other);
    return *this;
  }
  Boxed& operator=(Boxed&& other) noexcept = default;
  ~Boxed() = default;

  bool has_value() const { return value_ != nullptr; }
  T& operator*() { return *value_; }
  const T& operator*() const { return *value_; }
  T* operator->() { return value_.get(); }
  const T* operator->() const { return value_.get(); }
  void reset() { value_.reset(); }
  // Replaces the value, if any, by a default-constructed value.
  T& emplace() {
    value_ = std::make_unique<T>();
    return *value_;
  }

 private:
  std::unique_ptr<T> value_;
};

}  // namespace taut
