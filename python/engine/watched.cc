#include "watched.h"

#include <nanobind/stl/function.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <thread>

#include "table_trace.h"

namespace taut::python {
namespace {

constexpr std::chrono::milliseconds kLook{50};  // interval between checks of progress and signals

struct Step {
  std::string text;
  double done = 0, total = 0;
};

// State that the working and the calling thread share.
struct Shared {
  std::mutex mutex;
  std::condition_variable changed;
  std::optional<Step> step;  // newest step that is not shown yet; absent: none
  bool stop = false, ended = false;
  std::exception_ptr failed;

  void Put(Step next) {
    const std::lock_guard lock(mutex);
    step = std::move(next);
  }
  bool stops() {
    const std::lock_guard lock(mutex);
    return stop;
  }
};

void Work(Shared& shared, Watch& watch, const std::function<void(Watch&)>& work) {
  std::exception_ptr failed;
  try {
    work(watch);
  } catch (...) {
    failed = std::current_exception();
  }
  const std::lock_guard lock(shared.mutex);
  shared.failed = failed;
  shared.ended = true;
  shared.changed.notify_all();
}

// Waits until kLook has passed or the work has ended. Returns the step to show. REQUIRES: the caller does not hold
// the interpreter's lock.
std::optional<Step> Look(Shared& shared, bool& ended) {
  std::unique_lock lock(shared.mutex);
  shared.changed.wait_for(lock, kLook, [&] { return shared.ended; });
  ended = shared.ended;
  return std::exchange(shared.step, std::nullopt);
}

}  // namespace

std::string PythonNames(std::string_view text) {
  std::string out;
  bool in_option = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto letter = [&](size_t at) {
      return at < text.size() && std::isalnum(static_cast<unsigned char>(text[at])) != 0;
    };
    if (!in_option && text.substr(i).starts_with("--") && letter(i + 2) && (i == 0 || !letter(i - 1))) {
      in_option = true;
      ++i;
      continue;
    }
    in_option = in_option && (letter(i) || (text[i] == '-' && letter(i + 1)));
    out += in_option && text[i] == '-' ? '_' : text[i];
  }
  return out;
}

void Raise(const absl::Status& status) {
  const std::string text = PythonNames(Message(status));
  switch (status.code()) {
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kFailedPrecondition:
    case absl::StatusCode::kOutOfRange:
      throw nb::value_error(text.c_str());
    case absl::StatusCode::kNotFound:
      throw nb::key_error(text.c_str());
    default:
      throw std::runtime_error(text);
  }
}

void RunWatched(const Progress& progress, const std::function<void(Watch&)>& work) {
  Shared shared;
  Watch watch;
  watch.tell = [&](const std::string& text, double done, double total) { shared.Put({text, done, total}); };
  watch.console.on_progress = [&](std::string_view what, double share) {
    shared.Put({std::string(what), share, 1});
  };
  watch.console.should_stop = [&] { return shared.stops(); };
  std::optional<nb::python_error> error;
  {
    const nb::gil_scoped_release released;
    std::thread thread(Work, std::ref(shared), std::ref(watch), std::cref(work));
    for (bool ended = false; !ended;) {
      const std::optional<Step> step = Look(shared, ended);
      const nb::gil_scoped_acquire locked;
      if (error.has_value()) continue;
      try {
        if (progress && step.has_value()) progress(step->text, step->done, step->total);
        if (PyErr_CheckSignals() != 0) throw nb::python_error();
      } catch (nb::python_error& e) {
        error.emplace(std::move(e));
        const std::lock_guard lock(shared.mutex);
        shared.stop = true;
      }
    }
    thread.join();
  }
  if (error.has_value()) throw std::move(*error);
  try {
    if (shared.failed != nullptr) std::rethrow_exception(shared.failed);
  } catch (const FileMissing& missing) {
    PyErr_SetString(PyExc_FileNotFoundError, missing.what());
    throw nb::python_error();
  }
  for (const std::string& warning : watch.console.warnings) {
    if (PyErr_WarnEx(PyExc_UserWarning, PythonNames(warning).c_str(), 2) != 0) throw nb::python_error();
  }
}

GivenTable::GivenTable(const nb::object& table) : capsule_(table.attr("__arrow_c_stream__")()) {
  stream_ = static_cast<ArrowArrayStream*>(PyCapsule_GetPointer(capsule_.ptr(), "arrow_array_stream"));
  if (stream_ == nullptr) throw nb::python_error();
}

void GivenTable::PutInto(Watch& watch) const {
  watch.console.read_usage = [stream = stream_, &watch](const tools::TraceOptions& options,
                                                        tools::TraceSink& sink, tools::ReadReport& report) {
    return ReadTable(*stream, options.strict, sink, report, [&](uint64_t rows) {
      watch.tell(StrCat("reading row ", rows), 0, 0);
      return !watch.console.should_stop();
    });
  };
}

}  // namespace taut::python
