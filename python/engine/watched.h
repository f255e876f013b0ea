// Runs work of the engine for a Python caller. The interpreter's lock is free while the work runs, progress is
// shown, Ctrl-C stops the work, and errors become exceptions.
#pragma once

#include <nanobind/nanobind.h>

#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "arrow_c.h"
#include "common/base/strings.h"
#include "tools/cli/console.h"

namespace taut::python {

namespace nb = nanobind;

// Receives a text, the amount of work done, and the total amount of work.
using Progress = std::function<void(const std::string&, double, double)>;

// Returns the text with options named as in Python: "warmup" instead of "--warmup".
std::string PythonNames(std::string_view text);

// Exception for a missing file, thrown by the work. Python receives FileNotFoundError.
struct FileMissing : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Throws ValueError for an invalid argument, KeyError for an unknown name, else RuntimeError.
[[noreturn]] void Raise(const absl::Status& status);
inline void Check(const absl::Status& status) {
  if (!status.ok()) Raise(status);
}
template <typename T>
T ValueOf(absl::StatusOr<T> value) {
  Check(value.status());
  return *std::move(value);
}

// Argument of the work that RunWatched() runs. In `console`, on_progress and should_stop are set. Thread-safe.
struct Watch {
  tools::Console console;
  Progress tell;  // shows progress as console.on_progress does, but in amounts of work
};

// Runs `work` in a thread of its own and returns after its end. While the work runs, the calling thread shows
// progress and lets Python handle signals. An exception of `progress` or of a signal's handler stops the work.
// RunWatched() throws this exception, or an exception of `work`, after the work has ended. Warnings of the console
// become warnings of Python. REQUIRES: the caller holds the interpreter's lock, and `work` does not.
void RunWatched(const Progress& progress, const std::function<void(Watch&)>& work);

// Calls `table.__arrow_c_stream__()`, and sets the console's read_usage to a function that reads the returned
// stream.
class GivenTable {
 public:
  explicit GivenTable(const nb::object& table);
  void PutInto(Watch& watch) const;
  ArrowArrayStream& stream() const { return *stream_; }

 private:
  nb::object capsule_;  // owns stream_
  ArrowArrayStream* stream_;
};

}  // namespace taut::python
