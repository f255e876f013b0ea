#include "server/control/stored_kills.h"

#include <algorithm>

namespace taut::server {

void StoredKills::Add(const OomRecord& oom) {
  const int64_t latest_s = oom.shown_s.value_or(oom.time_s);
  kills_.insert({{oom.job.value, latest_s}, std::min(oom.since_s.value_or(latest_s), latest_s)});
}

bool StoredKills::Meet(const OomSighting& oom) {
  const int64_t shown_s = oom.shown.value_or(oom.time).seconds();
  auto kill = kills_.lower_bound({oom.job.value, shown_s});
  const auto is_of_job = [&] { return kill != kills_.end() && kill->first.first == oom.job.value; };
  // A kill that was stored with this second matches first. Otherwise, a kill that was stored without a known time
  // matches if its range includes the second.
  const bool is_dated = oom.shown.has_value();
  while (is_of_job() && kill->first.second != shown_s && !(is_dated && kill->second <= shown_s)) ++kill;
  if (!is_of_job()) return false;
  kills_.erase(kill);
  return true;
}

}  // namespace taut::server
