#include "brain/fleet/live_job.h"

#include <algorithm>
#include <span>

#include "common/base/strings.h"
#include "common/model/allocation_plan.h"

namespace taut::brain {
namespace {

// Resources whose lanes every version saves. Lanes of later resources are saved at the end (SaveLater), which
// older versions do not read.
std::span<const Resource> FirstResources() { return std::span(kResources).first(kFirstResources); }
std::span<const Resource> LaterResources() { return std::span(kResources).subspan(kFirstResources); }

// Configuration on which a lane's saved state depends. An external recommender around the lane's recommender, or
// scaling of tasks, changes the format of the state.
struct MadeWith {
  PolicyPair recommenders;
  uint8_t around = 0;                    // bits for the external recommender and for ScaledBy
  PerResource<uint8_t> order_classes{};  // JobPolicy::order_class; memory also has kOfProbe

  bool Same(const MadeWith& other, Resource r) const {
    return recommenders.of(r) == other.recommenders.of(r) && around == other.around &&
           order_classes[IndexOf(r)] == other.order_classes[IndexOf(r)];
  }
};

// The low bits of `around` encode the recommender of both resources. kOneEach: the recommenders differ, and two
// bytes follow, one for each resource.
constexpr uint8_t kExternal = 0x80, kScaled = 0x20, kRecommenderBits = 0x1F, kOneEach = 0x1F;

// Bit for a recommender that learns from probes. Older versions interpret this bit as another class and discard
// the state, which they cannot use.
constexpr uint8_t kOfProbe = 0x80;

MadeWith MadeWithOf(const JobPolicy& policy) {
  const uint8_t of_probe = policy.memory_signal == MemorySignal::kProbe ? kOfProbe : 0;
  const auto scaled = kScaled * static_cast<uint8_t>(ScaledByOf(policy));
  MadeWith made{.recommenders = policy.recommenders(),
                .around = static_cast<uint8_t>(scaled | (policy.external ? kExternal : 0))};
  for (const Resource r : kResources) made.order_classes[IndexOf(r)] = policy.order_class(r);
  made.order_classes[kMemoryIndex] |= of_probe;
  return made;
}

void Save(const MadeWith& made, ByteWriter& out) {
  const std::optional<Policy> one = made.recommenders.one();
  out.Put(static_cast<uint8_t>(made.around | (one.has_value() ? static_cast<uint8_t>(*one) : kOneEach)));
  if (!one.has_value()) {
    out.Put(static_cast<uint8_t>(made.recommenders.cpu));
    out.Put(static_cast<uint8_t>(made.recommenders.memory));
  }
  for (const Resource r : FirstResources()) out.Put(made.order_classes[IndexOf(r)]);
}

MadeWith LoadMadeWith(ByteReader& in) {
  MadeWith made;
  const auto first = in.Get<uint8_t>();
  made.around = first & static_cast<uint8_t>(~kRecommenderBits);
  const auto one = static_cast<uint8_t>(first & kRecommenderBits);
  if (one == kOneEach) {
    made.recommenders.cpu = static_cast<Policy>(in.Get<uint8_t>());
    made.recommenders.memory = static_cast<Policy>(in.Get<uint8_t>());
  } else {
    made.recommenders = PolicyPair(static_cast<Policy>(one));
  }
  for (const Resource r : FirstResources()) made.order_classes[IndexOf(r)] = in.Get<uint8_t>();
  return made;
}

// Encodes the lanes that need history: 0 none, 1 both (older versions wrote only 0 and 1), 2 CPU, 3 memory.
uint8_t SavedNeed(const LiveJob& job) {
  const bool cpu = job.of(Resource::kCpu).needs_history, memory = job.of(Resource::kMemory).needs_history;
  if (cpu && memory) return 1;
  return cpu ? 2 : memory ? 3 : 0;
}
bool IsNeeded(uint8_t saved, Resource r) { return saved == 1 || saved == (r == Resource::kCpu ? 2 : 3); }

// Versions of the second part of the state. The first part has the format of the first version. A state is
// written in the lowest version that contains its data, so that older programs can read it after a downgrade.
// 2: the owner's earlier amounts
// 3: starts of tasks
// 4: a flag for starts, and kernel peaks
// 5: the last OOM kill, and standing peaks
// 6: the owner's requests in addition to limits
constexpr uint8_t kMoreVersion = 1, kOwnersVersion = 2, kStartsVersion = 3, kPeaksVersion = 4,
                  kOomsVersion = 5, kRequestsVersion = 6;
// Flag in the version byte: lanes of later resources follow.
constexpr uint8_t kHasLater = 0x80;

bool KnowsOwners(const LiveLane& lane) {
  return lane.ordered_before >= 0 || lane.owner_before != lane.owner_limit;
}

void SaveStarts(const JobStarts& starts, ByteWriter& out) {
  starts.peaks.Save(out);
  for (const float given : starts.given) out.Put(given);
}

absl::Status LoadStarts(ByteReader& in, JobStarts& starts) {
  if (absl::Status s = starts.peaks.Load(in); !s.ok()) return s;
  for (float& given : starts.given) given = in.Get<float>();
  return absl::OkStatus();
}

void SaveLane(const LiveLane& lane, ByteWriter& out) {
  for (const float v : {lane.usage_mean, lane.usage_peak, lane.owner_limit}) out.Put(v);
  out.Put(lane.tasks);
  out.PutString(lane.hold);
  lane.gate.Save(out);
  if (lane.lane.sleeps()) {
    out.PutString(lane.asleep);
    return;
  }
  std::string state;
  ByteWriter inner(&state);
  lane.lane.Save(inner);
  out.PutString(state);
}

// Loads a lane. `needed`: the lane needed history when it was saved. `same`: the lane has the saved recommender.
absl::Status LoadLane(ByteReader& in, bool needed, bool same, LiveLane& lane) {
  for (float* v : {&lane.usage_mean, &lane.usage_peak, &lane.owner_limit}) *v = in.Get<float>();
  lane.tasks = in.Get<uint32_t>();
  lane.hold = in.GetString();
  if (absl::Status s = lane.gate.Load(in); !s.ok()) return s;
  const std::string_view state = in.GetString();
  lane.needs_history = needed || !same;
  if (!same || in.failed()) return absl::OkStatus();
  if (lane.lane.sleeps()) {
    if (absl::Status s = lane.lane.LoadAsleep(state); !s.ok()) return s;
    lane.asleep = state;
    return absl::OkStatus();
  }
  ByteReader inner(state);
  if (absl::Status s = lane.lane.Load(inner); !s.ok()) return s;
  return inner.remaining() == 0 ? absl::OkStatus() : absl::DataLossError("a lane with trailing bytes");
}

void SaveLater(const LiveJob& job, const MadeWith& made, ByteWriter& out) {
  out.Put(static_cast<uint8_t>(LaterResources().size()));
  for (const Resource r : LaterResources()) {
    const LiveLane& lane = job.of(r);
    out.Put(made.order_classes[IndexOf(r)]);
    out.Put(static_cast<uint8_t>(lane.needs_history));
    SaveLane(lane, out);
    for (const float v : {lane.applied, lane.owner_before, lane.ordered_before}) out.Put(v);
  }
}

absl::Status LoadLater(ByteReader& in, MadeWith made, const MadeWith& wanted, LiveJob& job) {
  const auto saved = in.Get<uint8_t>();
  if (saved != LaterResources().size()) return absl::UnimplementedError("lanes of other resources");
  for (const Resource r : LaterResources()) {
    LiveLane& lane = job.of(r);
    made.order_classes[IndexOf(r)] = in.Get<uint8_t>();
    const bool needed = in.Get<uint8_t>() != 0;
    if (absl::Status s = LoadLane(in, needed, made.Same(wanted, r), lane); !s.ok()) return s;
    for (float* v : {&lane.applied, &lane.owner_before, &lane.ordered_before}) *v = in.Get<float>();
  }
  return absl::OkStatus();
}

absl::Status LoadMore(ByteReader& in, const MadeWith& made, const MadeWith& wanted, LiveJob& job) {
  const auto first = in.Get<uint8_t>();
  const auto version = static_cast<uint8_t>(first & ~kHasLater);
  const bool has_later = (first & kHasLater) != 0;
  if (version < kMoreVersion || version > kRequestsVersion) return absl::OkStatus();
  for (const Resource r : FirstResources()) job.of(r).applied = in.Get<float>();
  job.managed = in.Get<uint8_t>() != 0;
  job.periods = in.Get<float>();
  job.throttled = in.Get<float>();
  for (const Resource r : FirstResources()) {
    LiveLane& lane = job.of(r);
    lane.owner_before = version >= kOwnersVersion ? in.Get<float>() : lane.owner_limit;
    lane.ordered_before = version >= kOwnersVersion ? in.Get<float>() : kAbsent;
  }
  const bool has_starts = version >= kPeaksVersion ? in.Get<uint8_t>() != 0 : version == kStartsVersion;
  if (has_starts) {
    job.starts = std::make_unique<JobStarts>();
    if (absl::Status s = LoadStarts(in, *job.starts); !s.ok()) return s;
  }
  const bool has_peaks = version >= kOomsVersion ? in.Get<uint8_t>() != 0 : version == kPeaksVersion;
  if (has_peaks) job.Memory().kernel_peaks.Load(in);
  if (version >= kOomsVersion) {
    if (has_peaks && !job.Memory().standing_peaks.Load(in)) return absl::DataLossError("too many peaks");
    if (const uint64_t last = in.GetVarint(); last > 0) job.Memory().last_oom = last;
  }
  for (const Resource r : FirstResources()) {
    if (version == kRequestsVersion) job.of(r).owner_request = in.Get<float>();
  }
  if (has_later) {
    if (absl::Status s = LoadLater(in, made, wanted, job); !s.ok()) return s;
  }
  if (in.failed() || in.remaining() == 0) return absl::OkStatus();
  absl::StatusOr<LiveReplicas::Loaded> replicas = LiveReplicas::Load(in, *job.policy);
  if (!replicas.ok()) return replicas.status();
  job.replicas = std::move(replicas->replicas);
  if (replicas->has_lost) job.WantHistory();  // the state belonged to other settings
  return absl::OkStatus();
}

}  // namespace

bool LiveLane::IsOrdered(Resource r, double amount) const {
  const auto is = [&](std::optional<double> ordered) {
    return ordered.has_value() && IsAtLimit(r, amount, *ordered);
  };
  return is(gate.in_force) || (ordered_before >= 0 && is(ordered_before)) ||
         (trial() != nullptr && is(trial()->limit));
}

double LiveLane::Billed(Resource r, double amount, const Allocation& allocation) const {
  const std::optional<double> request =
      owner_request >= 0 ? std::optional<double>(owner_request) : std::nullopt;
  if (request_stays) return request.value_or(owner().value_or(amount));
  return BilledAmount(r, amount, allocation, {request, owner()});
}

uint32_t LiveJobState::OomsOfWeek(int32_t day_now) const {
  if (ooms_day == INT32_MIN) return 0;
  uint32_t sum = 0;
  for (int32_t d = std::max(day_now, ooms_day) - 6; d <= ooms_day; ++d) {
    sum += ooms_of_day[static_cast<size_t>((d % 7 + 7) % 7)];
  }
  return sum;
}

void LiveJobState::CountOoms(int32_t day_now, uint64_t kills) {
  // The day's array element is in use by a newer day.
  if (ooms_day != INT32_MIN && int64_t{ooms_day} - day_now >= 7) return;
  if (ooms_day == INT32_MIN || int64_t{day_now} - ooms_day >= 7) {
    ooms_of_day.fill(0);
  } else {
    for (int32_t d = ooms_day + 1; d <= day_now; ++d) ooms_of_day[static_cast<size_t>((d % 7 + 7) % 7)] = 0;
  }
  ooms_day = std::max(ooms_day, day_now);
  uint16_t& count = ooms_of_day[static_cast<size_t>((day_now % 7 + 7) % 7)];
  count = static_cast<uint16_t>(std::min<uint64_t>(count + kills, UINT16_MAX));
}

void LiveJobState::Sleep() {
  for (LiveLane& lane : lanes) {
    if (!lane.lane.sleeps()) lane.asleep = lane.lane.Sleep();
  }
}

void SaveLiveJob(const LiveJob& job, ByteWriter& out) {
  const MadeWith made = MadeWithOf(*job.policy);
  Save(made, out);
  out.Put(SavedNeed(job));
  out.Put(static_cast<uint8_t>(job.seen_today));
  out.Put(static_cast<uint8_t>(job.over_today));
  out.Put(job.day);
  out.Put(job.last_window.index);
  out.Put(job.last_oom_s);
  for (const uint16_t n : job.ooms_of_day) out.Put(n);
  out.Put(job.ooms_day);
  job.migration.Save(out);
  out.PutString(job.notice);
  for (const Resource r : FirstResources()) SaveLane(job.of(r), out);
  const bool owners = std::ranges::any_of(job.lanes, KnowsOwners);
  const bool starts = job.starts != nullptr;
  const bool peaks =
      job.memory != nullptr && !(job.memory->kernel_peaks.empty() && job.memory->standing_peaks.empty());
  const bool requests =
      std::ranges::any_of(job.lanes, [](const LiveLane& lane) { return lane.owner_request >= 0; });
  const bool ooms = peaks || job.last_oom() > 0 || requests;
  const uint8_t version = requests ? kRequestsVersion
                          : ooms   ? kOomsVersion
                          : starts ? kStartsVersion
                          : owners ? kOwnersVersion
                                   : kMoreVersion;
  out.Put(static_cast<uint8_t>(LaterResources().empty() ? version : version | kHasLater));
  for (const Resource r : FirstResources()) out.Put(job.of(r).applied);
  out.Put(static_cast<uint8_t>(job.managed));
  out.Put(job.periods);
  out.Put(job.throttled);
  for (const Resource r : FirstResources()) {
    if (!owners && !starts && !ooms) break;
    out.Put(job.of(r).owner_before);
    out.Put(job.of(r).ordered_before);
  }
  if (ooms) out.Put(static_cast<uint8_t>(starts));
  if (starts) SaveStarts(*job.starts, out);
  if (ooms) out.Put(static_cast<uint8_t>(peaks));
  if (peaks) {
    job.memory->kernel_peaks.Save(out);
    job.memory->standing_peaks.Save(out);
  }
  if (ooms) out.PutVarint(job.last_oom());
  for (const Resource r : FirstResources()) {
    if (requests) out.Put(job.of(r).owner_request);
  }
  if (!LaterResources().empty()) SaveLater(job, made, out);
  if (job.replicas != nullptr) job.replicas->Save(out);
}

void CopyNotSaved(const LiveJobState& from, LiveJobState& to) {
  for (const Resource r : kResources) {
    const LiveLane& lane = from.of(r);
    LiveLane& copy = to.of(r);
    // The gate's state has the numbers of the tasks on trial, and outcomes of the trial's order.
    copy.gate = lane.gate;
    copy.limit_risk = lane.limit_risk;
    copy.need_peak = lane.need_peak;
    copy.of_request = lane.of_request;
    copy.request_stays = lane.request_stays;
    copy.days = lane.days;
    copy.risk = lane.risk;
  }
  if (from.starts != nullptr) to.starts = std::make_unique<JobStarts>(*from.starts);
  if (from.memory != nullptr) to.memory = std::make_unique<JobMemory>(*from.memory);
  if (from.replicas != nullptr && to.replicas != nullptr) CopyNotSaved(*from.replicas, *to.replicas);
  to.awaits_owner = from.awaits_owner;
  to.oom_waits = from.oom_waits;
  to.setting_waits = from.setting_waits;
  to.measured_now = from.measured_now;
}

absl::Status LoadLiveJob(ByteReader& in, LiveJob& job) {
  const MadeWith made = LoadMadeWith(in), wanted = MadeWithOf(*job.policy);
  const auto need = in.Get<uint8_t>();
  job.seen_today = in.Get<uint8_t>() != 0;
  job.over_today = in.Get<uint8_t>() != 0;
  job.day = in.Get<int32_t>();
  job.last_window.index = in.Get<int32_t>();
  job.last_oom_s = in.Get<int64_t>();
  for (uint16_t& n : job.ooms_of_day) n = in.Get<uint16_t>();
  job.ooms_day = in.Get<int32_t>();
  if (absl::Status s = job.migration.Load(in); !s.ok()) return s;
  job.notice = in.GetString();
  for (const Resource r : FirstResources()) {
    if (absl::Status s = LoadLane(in, IsNeeded(need, r), made.Same(wanted, r), job.of(r)); !s.ok()) return s;
  }
  if (!in.failed() && in.remaining() > 0) {
    if (absl::Status s = LoadMore(in, made, wanted, job); !s.ok()) return s;
  }
  return in.status(StrCat("the state of job ", job.record->name));
}

}  // namespace taut::brain
