#include "server/kubernetes/watch/replica_watch.h"

#include <span>
#include <utility>
#include <vector>

namespace taut::server {

ReplicaWatch::ReplicaWatch(ControlPlane& control) : control_(control) {
  control_.OnTick([this](const TickEvents& events) {
    if (!events.past && events.window != nullptr) OnWindow(*events.window);
  });
}

void ReplicaWatch::OnWindow(const ClosedWindow& window) {
  const std::shared_ptr<const FleetView> view = control_.view();
  for (const JobWindowData& data : window.jobs) {
    if (data.window.num_tasks < 2) continue;
    const JobView* job = view->Find(data.job);
    if (job == nullptr || job->record->workload().kind != "statefulset") continue;
    const auto tasks = std::span(window.tasks).subspan(data.window.first_task, data.window.num_tasks);
    std::vector<std::pair<JobId, uint32_t>> numbers;
    for (const TaskWindow& task : tasks) numbers.emplace_back(data.job, task.task);
    std::vector<std::string> names;
    control_.ingest().jobs.WithMapper(
        [&](SeriesMapper& mapper) { names = mapper.jobs().tasks.Names(numbers); });
    std::vector<ReplicaUse> uses;
    for (size_t i = 0; i < tasks.size(); ++i) {
      if (names[i].empty()) continue;
      ReplicaUse& use = uses.emplace_back();
      use.pod = names[i];
      if (tasks[i].cpu_mean_cores >= 0) use.used.cpu = tasks[i].cpu_mean_cores;
      if (tasks[i].memory_peak_bytes >= 0) use.used.memory = tasks[i].memory_peak_bytes;
    }
    spread_.Observe(job->record->name, uses);
  }
  spread_.EndWindow();
}

}  // namespace taut::server
