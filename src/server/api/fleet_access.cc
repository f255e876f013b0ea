#include "server/api/fleet_access.h"

#include <algorithm>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "common/base/nearest.h"
#include "common/base/short_text.h"
#include "common/base/strings.h"
#include "common/model/units.h"

namespace taut::server {
namespace {

// Returns up to three jobs that the caller may have meant by `name`: jobs whose names contain `name`, or else the
// jobs with the most similar names.
std::vector<std::string> NearestJobs(const FleetView& view, std::string_view name) {
  constexpr size_t kMost = 3, kMostCompared = 20'000;
  std::vector<std::string> out;
  if (name.size() > 200) return out;
  JobsQuery query;
  query.search = std::string(name);
  query.sort.by = SortBy::kName;
  query.ascending = true;
  query.limit = kMost;
  for (const JobId id : ListJobs(view, query).jobs) out.push_back(view.Find(id)->record->name);
  if (!out.empty() || view.jobs.empty() || view.jobs.size() > kMostCompared) return out;
  std::vector<std::string_view> names;
  for (const JobView& job : view.jobs) {
    if (job.record != nullptr) names.push_back(job.record->name);
  }
  return NearestNames(name, names, kMost);
}

}  // namespace

int64_t FleetAccess::NowSeconds() const {
  const std::shared_ptr<const FleetView> view = control().view();
  return view->window.has_value() ? view->window->next().start_s() : Now().seconds();
}

std::shared_ptr<const JobRecord> FleetAccess::RecordOf(JobId id) const {
  const std::shared_ptr<const FleetView> view = control().view();
  if (const JobView* job = view->Find(id); job != nullptr) return job->record;
  // The store has the records of forgotten jobs.
  absl::StatusOr<JobRecord> record = control().history().Job(id);
  if (!record.ok()) record = JobRecord(id, StrCat("job ", id.value), {}, 0);
  return std::make_shared<const JobRecord>(*std::move(record));
}

Reach FleetAccess::ReachOf(const HttpRequest& request, Act act) const {
  return Reach::Of(request, act, parts_.quota != nullptr ? parts_.quota->scheme() : nullptr);
}

bool FleetAccess::Reaches(const Reach& reach, JobId id) const {
  if (reach.all()) return true;
  bool has = false;
  if (control().Look(id, [&](const brain::LiveJob& job) { has = reach.Has(*job.record); })) return has;
  // The store has the labels of forgotten jobs.
  const absl::StatusOr<JobRecord> record = control().history().Job(id);
  return record.ok() && reach.Has(*record);
}

std::optional<JobId> FleetAccess::FindJob(std::string_view name, const Reach& reach) const {
  const std::optional<JobId> id = control().Find(name);
  return id.has_value() && Reaches(reach, *id) ? id : std::nullopt;
}

std::function<bool(JobId)> FleetAccess::ReachedJobs(const Reach& reach) const {
  return [this, reach, known = std::make_shared<absl::flat_hash_map<uint32_t, bool>>()](JobId id) {
    const auto [it, is_new] = known->try_emplace(id.value, false);
    if (is_new) it->second = Reaches(reach, id);
    return it->second;
  };
}

const Prices& FleetAccess::PricesFor(const HttpRequest& request, const Reach& shown) const {
  static const Prices kNoPrices;
  if (shown.all() && May(request.role, Act::kSeeMoney)) return parts_.prices;
  const Reach money = ReachOf(request, Act::kSeeMoney);
  const bool all = !shown.all() && std::ranges::all_of(shown.groups(), [&](const std::string& group) {
    return money.Has(group);
  });
  return all ? parts_.prices : kNoPrices;
}

bool FleetAccess::ReachesNamed(const Reach& reach, std::string_view job) const {
  return reach.all() || FindJob(job, reach).has_value();
}

HttpResponse FleetAccess::NoJob(std::string_view name, const Reach& reach) const {
  const std::shared_ptr<const FleetView> view = ViewOf(reach);
  std::string text = StrCat("no job \"", ShortText(name), "\"");
  const std::vector<std::string> near = NearestJobs(*view, name);
  if (!near.empty()) {
    StrAppend(&text, "; did you mean \"", Join(near, "\" or \""), "\"?");
  } else if (!view->window.has_value()) {
    const std::optional<Timestamp> first = control().ingest().time.first_close();
    text += first.has_value() ? StrCat(": no window has closed yet; the first closes at ",
                                       FormatTime(first->seconds()), " UTC")
                              : ": no sample has arrived yet";
  } else {
    text += "; GET /api/v1/jobs?search= finds names, which go into a path percent-encoded";
  }
  return ErrorResponse(404, text);
}

}  // namespace taut::server
