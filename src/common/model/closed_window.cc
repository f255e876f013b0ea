#include "common/model/closed_window.h"

#include <span>

namespace taut {

void TakeOwnersAmount(const Allocation& allocation, Resource resource, JobWindowData& job) {
  float& limit = job.window.limit(resource);
  const float request = job.requests.of(resource);
  // Without a request, keep the limit, which Kubernetes then also uses as the request.
  if (!(request > 0 && (limit < 0 || allocation.of_request()))) return;
  limit = request;
  job.of_request[IndexOf(resource)] = true;
}

void ToJobDay(const ClosedWindow& closed, size_t index, JobDay& out) {
  const JobWindowData& job = closed.jobs[index];
  const JobWindow& w = job.window;
  out.job = job.job;
  out.day = closed.window.day();
  out.windows.assign(1, w);
  out.windows[0].first_task = out.windows[0].first_bucket = out.windows[0].first_signal = 0;
  const auto tasks = std::span(closed.tasks).subspan(w.first_task, w.num_tasks);
  const auto buckets = std::span(closed.cpu_buckets).subspan(w.first_bucket, w.num_buckets);
  out.tasks.assign(tasks.begin(), tasks.end());
  out.cpu_buckets.assign(buckets.begin(), buckets.end());
  const auto signals = std::span(closed.signals).subspan(w.first_signal, w.num_signals);
  out.signals.assign(signals.begin(), signals.end());
}

}  // namespace taut
