#include "brain/replicas/external_count.h"

#include <optional>
#include <utility>

#include "brain/replicas/policy_wrapper.h"
#include "brain/replicas/stored_values.h"
#include "common/base/strings.h"

namespace taut::brain {
namespace {

class ExternalCount final : public ReplicaPolicyWrapper {
 public:
  ExternalCount(std::unique_ptr<ReplicaPolicy> inner, const ReplicaBounds& bounds)
      : ReplicaPolicyWrapper(std::move(inner)), bounds_(bounds) {}

  std::optional<int> TakeExternal(std::optional<ExternalTasks> answer) override {
    answer_ = std::move(answer);
    const bool held = std::exchange(holds_, answer_.has_value());
    if (answer_.has_value()) return bounds_.Clamp(answer_->count);
    return held ? std::optional(own_) : std::nullopt;
  }
  int Decide(const LoadSample& sample) override {
    own_ = inner().Decide(sample);
    holds_ = answer_.has_value() && sample.at <= answer_->until;
    return holds_ ? bounds_.Clamp(answer_->count) : own_;
  }
  void Explain(Reason& reason) const override {
    if (!holds_) {
      inner().Explain(reason);
      if (answer_.has_value()) reason.sentence += " The external recommender's last answer has expired.";
      return;
    }
    Reason own;
    inner().Explain(own);
    reason.recommender = "external";
    reason.sentence = answer_->why.empty() ? "The external recommender answered this number of tasks."
                                           : StrCat("The external recommender: ", answer_->why);
    if (bounds_.Clamp(answer_->count) != answer_->count)
      reason.facts.push_back(
          {"answer outside replicas.min .. replicas.max", double(answer_->count), "tasks"});
    reason.facts.push_back({StrCat("tasks by ", own.recommender), static_cast<double>(own_), "tasks"});
  }
  std::string NoNumber() const override { return holds_ ? "" : inner().NoNumber(); }
  std::unique_ptr<ReplicaPolicy> Clone() const override {
    auto copy = std::make_unique<ExternalCount>(inner().Clone(), bounds_);
    copy->answer_ = answer_;
    copy->own_ = own_;
    copy->holds_ = holds_;
    return copy;
  }
  void Save(ByteWriter& out) const override {
    inner().Save(out);
    if (!answer_.has_value()) return;
    out.Put(answer_->count);
    out.Put(answer_->until.us);
    out.PutString(answer_->why);
  }
  absl::Status Load(ByteReader& in) override {
    absl::StatusOr<std::unique_ptr<ReplicaPolicy>> loaded = LoadedInner(in);
    if (!loaded.ok()) return loaded.status();
    std::optional<ExternalTasks> answer;
    if (in.remaining() > 0) {
      StoredValues values(in);
      answer.emplace();
      answer->count = values.Count();
      answer->until = values.Time();
      answer->why = in.GetString();
      if (absl::Status s = values.status("an external count"); !s.ok()) return s;
    }
    ReplaceInner(*std::move(loaded));
    answer_ = std::move(answer);
    return absl::OkStatus();
  }
  size_t state_bytes() const override { return sizeof(*this) + inner().state_bytes(); }

 private:
  ReplicaBounds bounds_;
  std::optional<ExternalTasks> answer_;
  int own_ = 0;  // last count of `inner`
  bool holds_ = false;
};

}  // namespace

std::unique_ptr<ReplicaPolicy> WithExternalCount(std::unique_ptr<ReplicaPolicy> inner,
                                                 const ReplicaBounds& bounds) {
  return std::make_unique<ExternalCount>(std::move(inner), bounds);
}

}  // namespace taut::brain
