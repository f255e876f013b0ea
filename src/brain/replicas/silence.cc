#include "brain/replicas/silence.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "brain/replicas/policy_wrapper.h"
#include "brain/replicas/stored_values.h"
#include "common/base/strings.h"
#include "common/base/time.h"
#include "common/model/counted.h"
#include "common/model/units.h"
#include "fmt/format.h"

namespace taut::brain {
namespace {

int64_t DayUntil(int64_t at_s) { return FloorDiv(at_s - 1, int64_t{kDaySeconds}); }

class SafePolicy final : public ReplicaPolicyWrapper {
 public:
  SafePolicy(std::unique_ptr<ReplicaPolicy> inner, double silent_s)
      : ReplicaPolicyWrapper(std::move(inner)), silent_s_(silent_s) {}

  int Decide(const LoadSample& sample) override {
    const int own = inner().Decide(sample);
    missing_ = MissingText(inner(), sample);
    if (missing_.empty()) {
      safe_.TakeHeard(sample.at.seconds(), own);
      raised_.reset();
      return own;
    }
    raised_ = safe_.After(sample.at.seconds(), silent_s_);
    return std::max(own, raised_.value_or(0));
  }
  void Explain(Reason& reason) const override {
    inner().Explain(reason);
    if (raised_.has_value())
      reason.sentence = StrCat(SafeSentence(missing_, silent_s_, *raised_), " ", reason.sentence);
  }
  std::unique_ptr<ReplicaPolicy> Clone() const override {
    auto copy = std::make_unique<SafePolicy>(inner().Clone(), silent_s_);
    copy->safe_ = safe_;
    copy->missing_ = missing_;
    copy->raised_ = raised_;
    return copy;
  }
  void Save(ByteWriter& out) const override {
    // The inner state is stored with its length, because it may end with an optional part, which a reader can
    // only detect at the end of the bytes.
    std::string bytes;
    ByteWriter its(&bytes);
    inner().Save(its);
    out.PutString(bytes);
    safe_.Save(out);
  }
  absl::Status Load(ByteReader& in) override {
    ByteReader its(in.GetString());
    absl::StatusOr<std::unique_ptr<ReplicaPolicy>> loaded = LoadedInner(its);
    if (!loaded.ok()) return loaded.status();
    if (absl::Status s = safe_.Load(in); !s.ok()) return s;
    ReplaceInner(*std::move(loaded));
    return absl::OkStatus();
  }
  size_t state_bytes() const override { return sizeof(*this) + missing_.capacity() + inner().state_bytes(); }

 private:
  double silent_s_;
  SafeCount safe_;
  std::string missing_;        // missing inputs of the last sample
  std::optional<int> raised_;  // the safe count; absent while the silence is shorter than silent_s_
};

}  // namespace

void SafeCount::TakeHeard(int64_t at_s, int count) {
  const int64_t days = has_heard() ? DayUntil(at_s) - DayUntil(heard_s_) : 2;
  if (days > 0) highest_ = {0, days == 1 ? highest_[0] : 0};
  highest_[0] = std::max(highest_[0], count);
  heard_s_ = at_s;
}

int SafeCount::count() const { return std::max(highest_[0], highest_[1]); }

std::optional<int> SafeCount::After(int64_t at_s, double silent_s) const {
  if (!has_heard() || static_cast<double>(at_s - heard_s_) < silent_s) return std::nullopt;
  return count();
}

void SafeCount::Save(ByteWriter& out) const {
  for (const int count : highest_) out.Put(count);
  out.Put(heard_s_);
}

absl::Status SafeCount::Load(ByteReader& in) {
  SafeCount read;
  StoredValues values(in);
  for (int& count : read.highest_) count = values.Count();
  constexpr int64_t kFarSeconds = int64_t{1} << 40;
  read.heard_s_ = in.Get<int64_t>();
  values.Require(!read.has_heard() || (read.heard_s_ > -kFarSeconds && read.heard_s_ < kFarSeconds));
  if (absl::Status s = values.status("the safe count of a job"); !s.ok()) return s;
  *this = read;
  return absl::OkStatus();
}

std::string MissingText(const ReplicaPolicy& policy, const LoadSample& sample) {
  std::vector<std::string> missing = policy.Missing(sample);
  if (missing.size() < 2) return missing.empty() ? "" : std::move(missing.front());
  const std::string last = std::move(missing.back());
  missing.pop_back();
  return fmt::format("{} and {}", Join(missing, ", "), last);
}

std::string SafeSentence(std::string_view missing, double silent_s, int safe) {
  return fmt::format(
      "Not measured for {}: {}. The highest number of the last day, {}, is safe until it is measured.",
      FormatDuration(static_cast<int64_t>(silent_s)), missing, Counted(static_cast<uint64_t>(safe), "task"));
}

std::unique_ptr<ReplicaPolicy> WithSafeCount(std::unique_ptr<ReplicaPolicy> inner, double silent_s) {
  return std::make_unique<SafePolicy>(std::move(inner), silent_s);
}

}  // namespace taut::brain
