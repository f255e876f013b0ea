#include "brain/recommend/external.h"

#include <string>
#include <utility>

#include "brain/recommend/stored_values.h"
#include "brain/recommend/wrappers.h"
#include "common/base/strings.h"

namespace taut::brain {
namespace {

class ExternalWrapper final : public RecommenderWrapper {
 public:
  ExternalWrapper(std::unique_ptr<Recommender> in, Resource resource)
      : RecommenderWrapper(std::move(in)), resource_(resource) {}

  void TakeExternal(const ExternalLimit& limit) override { answer_ = limit; }
  std::optional<double> Recommend(WindowId next) override {
    own_ = inner().Recommend(next);
    holds_ = answer_.has_value() && next <= answer_->until;
    return holds_ ? std::optional(answer_->limit) : own_;
  }
  void Explain(Reason& reason) const override {
    if (!holds_) {
      inner().Explain(reason);
      if (answer_.has_value()) reason.sentence += " The external recommender's last answer has expired.";
      return;
    }
    if (!reason.limit.has_value()) reason.limit = answer_->limit;
    Reason own;
    inner().Explain(own);
    reason.recommender = "external";
    reason.sentence = answer_->why.empty() ? "The external recommender answered this limit."
                                           : StrCat("The external recommender: ", answer_->why);
    reason.why = answer_->why.empty() ? "the external recommender answered it" : answer_->why;
    if (own_.has_value()) reason.facts.push_back({StrCat("limit by ", own.recommender), *own_, UnitName()});
    // The steps of outer wrappers start from this limit.
    reason.steps.push_back({"answer of the external recommender", answer_->limit, answer_->limit, ""});
  }
  std::unique_ptr<Recommender> Clone() const override {
    auto copy = std::make_unique<ExternalWrapper>(inner().Clone(), resource_);
    copy->answer_ = answer_;
    copy->own_ = own_;
    copy->holds_ = holds_;
    return copy;
  }
  size_t state_bytes() const override { return sizeof(*this) + inner().state_bytes(); }
  // The wrapper's fields precede the inner state, because only `inner` can find the end of its state.
  void Save(ByteWriter& out) const override {
    out.Put(static_cast<uint8_t>(answer_.has_value()));
    if (answer_.has_value()) {
      out.Put(answer_->until.index);
      out.Put(answer_->limit);
      out.PutString(answer_->why);
    }
    inner().Save(out);
  }
  absl::Status Load(ByteReader& in) override {
    std::optional<ExternalLimit> answer;
    if (in.Get<uint8_t>() != 0) {
      answer.emplace();
      answer->until.index = in.Get<int32_t>();
      answer->limit = in.Get<double>();
      answer->why = in.GetString();
      if (absl::Status s = in.status("an external limit"); !s.ok()) return s;
      if (!IsStoredWindow(answer->until.index) || !IsStoredAmount(answer->limit))
        return absl::DataLossError("an external limit: invalid amount or window");
    }
    if (absl::Status s = inner().Load(in); !s.ok()) return s;
    answer_ = std::move(answer);
    return absl::OkStatus();
  }

 private:
  std::string UnitName() const { return std::string(taut::UnitName(resource_)); }

  Resource resource_;
  std::optional<ExternalLimit> answer_;
  std::optional<double> own_;  // limit of `inner` at the last Recommend
  bool holds_ = false;
};

}  // namespace

std::unique_ptr<Recommender> WithExternal(std::unique_ptr<Recommender> inner, Resource resource) {
  return std::make_unique<ExternalWrapper>(std::move(inner), resource);
}

}  // namespace taut::brain
