// Runs work of the engine for a Python caller: the interpreter's lock is free meanwhile, progress is shown, Ctrl-C
// stops the work, and errors become exceptions.
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

// Receives a text, and the done and total amount of work.
using Progress = std::function<void(const std::string&, double, double)>;

// Returns the text with options named as in Python: "warmup" instead of "--warmup".
std::string PythonNames(std::string_view text);

// Thrown by a work; becomes FileNotFoundError.
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

// Argument of a work. The console has on_progress and should_stop. Thread-safe.
struct Watch {
  tools::Console console;
  Progress tell;  // shows progress; like console.on_progress, with an amount of work
};

// Runs `work` in a thread of its own and returns after its end. Meanwhile the calling thread shows progress and
// lets Python handle signals. An exception of `progress` or of a signal's handler stops the work, and is thrown
// after the work's end; so is an exception of `work`. Warnings of the console become warnings of Python.
// REQUIRES: the caller has the interpreter's lock, and `work` does not.
void RunWatched(const Progress& progress, const std::function<void(Watch&)>& work);

// Takes `table.__arrow_c_stream__()`, and sets the console's read_usage to a function that reads it.
class GivenTable {
 public:
  explicit GivenTable(const nb::object& table);
  void PutInto(Watch& watch) const;

 private:
  nb::object capsule_;  // owns stream_
  ArrowArrayStream* stream_;
};

}  // namespace taut::python
