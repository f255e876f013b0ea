#include "python_lane.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <utility>

namespace taut::python {

absl::StatusOr<std::vector<tools::DayAnswer>> PythonLane::AnswersFor(int32_t day,
                                                                     const std::vector<JobDay>& jobs) {
  std::vector<tools::DayAnswer> out;
  {
    const nb::gil_scoped_acquire locked;
    const nb::object stopped = nb::cpp_function([this] { return watch_.console.should_stop(); });
    nb::list names;
    for (const JobDay& job : jobs) names.append(source_.jobs()[job.job.value].name);
    for (size_t r = 0; r < resources_.size(); ++r) {
      const nb::object usage = last_.empty() ? nb::none() : nb::cast(last_[r]);
      const nb::object answers =
          ask_(int64_t{day} * kDaySeconds, std::string(Name(resources_[r])), names, usage, stopped);
      for (const auto& [at, limit] : nb::cast<std::vector<std::pair<size_t, double>>>(answers)) {
        out.push_back(
            {jobs.at(at).job,
             resources_[r],
             {WindowId{(day + 1) * kWindowsPerDay - 1}, limit, "a function of Python answered it"}});
      }
    }
  }
  last_.clear();
  for (const Resource resource : resources_) last_.push_back(UsageOf(resource, jobs));
  return out;
}

std::shared_ptr<const ArrowTable> PythonLane::UsageOf(Resource resource,
                                                      const std::vector<JobDay>& jobs) const {
  ArrowTable::Times times;
  ArrowTable::Names names;
  ArrowTable::Integers tasks;
  ArrowTable::Reals means, peaks, owners;
  const auto real = [](float value) { return value >= 0 ? std::optional(double{value}) : std::nullopt; };
  for (const JobDay& job : jobs) {
    const auto number = static_cast<int32_t>(names.names.size());
    names.names.push_back(source_.jobs()[job.job.value].name);
    for (const JobWindow& window : job.windows) {
      for (uint32_t i = 0; i < window.num_tasks; ++i) {
        const TaskWindow& task = job.tasks[window.first_task + i];
        if (task.mean(resource) < 0) continue;
        times.us.push_back(window.window.start_s() * kMicrosPerSecond);
        names.of_row.push_back(number);
        tasks.emplace_back(int64_t{task.task});
        means.push_back(real(task.mean(resource)));
        peaks.push_back(real(task.peak(resource)));
        owners.push_back(real(window.limit(resource)));
      }
    }
  }
  ArrowTable out;
  out.Add("time", std::move(times));
  out.Add("job", std::move(names));
  out.Add("task", std::move(tasks));
  out.Add("mean", std::move(means));
  out.Add("peak", std::move(peaks));
  out.Add("owner_limit", std::move(owners));
  return std::make_shared<const ArrowTable>(std::move(out));
}

}  // namespace taut::python
