#include "brain/recommend/external.h"

#include <string>
#include <utility>
#include <vector>

#include "brain/recommend/stored_values.h"
#include "brain/recommend/wrappers.h"
#include "common/base/strings.h"
#include "fmt/format.h"

namespace taut::brain {
namespace {

class ExternalWrapper final : public RecommenderWrapper {
 public:
  ExternalWrapper(std::unique_ptr<Recommender> in, Resource resource)
      : RecommenderWrapper(std::move(in)), resource_(resource) {}

  void TakeExternal(const ExternalLimit& limit) override {
    // An answer's `until` has a fixed distance from its window, so it also tells the age of the answer.
    const int32_t until = limit.until.index;
    std::erase_if(higher_, [&](const Higher& past) {
      return past.until <= until - kExternalHoldWindows || past.until >= until || past.limit <= limit.limit;
    });
    if (answer_.has_value() && answer_->limit > limit.limit && answer_->until.index < until &&
        answer_->until.index > until - kExternalHoldWindows)
      higher_.push_back({answer_->limit, answer_->until.index});
    answer_ = limit;
  }
  std::optional<double> OwnLimit(std::optional<double> recommended) const override {
    return holds_ ? own_ : recommended;
  }
  std::optional<double> Recommend(WindowId next) override {
    own_ = inner().Recommend(next);
    holds_ = answer_.has_value() && next <= answer_->until;
    return holds_ ? std::optional(Held()) : own_;
  }
  void Explain(Reason& reason) const override {
    if (!holds_) {
      inner().Explain(reason);
      if (answer_.has_value()) reason.sentence += " The external recommender's last answer has expired.";
      return;
    }
    if (!reason.limit.has_value()) reason.limit = Held();
    Reason own;
    inner().Explain(own);
    reason.recommender = "external";
    reason.sentence = answer_->why.empty() ? "The external recommender answered this limit."
                                           : StrCat("The external recommender: ", answer_->why);
    reason.why = answer_->why.empty() ? "the external recommender answered it" : answer_->why;
    if (own_.has_value()) reason.facts.push_back({StrCat("limit by ", own.recommender), *own_, UnitName()});
    // The steps of outer wrappers start from this limit.
    reason.steps.push_back({"answer of the external recommender", answer_->limit, answer_->limit, ""});
    if (Held() > answer_->limit)
      reason.steps.push_back(
          {fmt::format("highest answer of the last {} min", kExternalHoldWindows * kWindowSeconds / 60),
           answer_->limit, Held(), "hold"});
  }
  std::unique_ptr<Recommender> Clone() const override {
    auto copy = std::make_unique<ExternalWrapper>(inner().Clone(), resource_);
    copy->answer_ = answer_;
    copy->higher_ = higher_;
    copy->own_ = own_;
    copy->holds_ = holds_;
    return copy;
  }
  size_t state_bytes() const override {
    return sizeof(*this) + higher_.capacity() * sizeof(Higher) + inner().state_bytes();
  }
  // The wrapper's fields precede the inner state, because only `inner` can find the end of its state.
  void Save(ByteWriter& out) const override {
    // 0: no answer, 1: an answer, 2: an answer and higher ones before it
    out.Put(static_cast<uint8_t>(!answer_.has_value() ? 0 : higher_.empty() ? 1 : 2));
    if (answer_.has_value()) {
      out.Put(answer_->until.index);
      out.Put(answer_->limit);
      out.PutString(answer_->why);
      if (!higher_.empty()) SaveHigher(out);
    }
    inner().Save(out);
  }
  absl::Status Load(ByteReader& in) override {
    std::optional<ExternalLimit> answer;
    std::vector<Higher> higher;
    if (const auto kind = in.Get<uint8_t>(); kind != 0) {
      answer.emplace();
      answer->until.index = in.Get<int32_t>();
      answer->limit = in.Get<double>();
      answer->why = in.GetString();
      if (absl::Status s = in.status("an external limit"); !s.ok()) return s;
      if (!IsStoredWindow(answer->until.index) || !IsStoredAmount(answer->limit))
        return absl::DataLossError("an external limit: invalid amount or window");
      if (absl::Status s = kind == 2 ? LoadHigher(in, higher) : absl::OkStatus(); !s.ok()) return s;
    }
    if (absl::Status s = inner().Load(in); !s.ok()) return s;
    answer_ = std::move(answer);
    higher_ = std::move(higher);
    return absl::OkStatus();
  }

 private:
  // An earlier answer within the hour, above the last one.
  struct Higher {
    double limit = 0;
    int32_t until = 0;
  };

  // The earlier answers fall strictly, so that the first is the highest.
  double Held() const { return higher_.empty() ? answer_->limit : higher_[0].limit; }

  void SaveHigher(ByteWriter& out) const {
    out.PutVarint(higher_.size());
    for (const Higher& past : higher_) {
      out.Put(past.until);
      out.Put(past.limit);
    }
  }
  static absl::Status LoadHigher(ByteReader& in, std::vector<Higher>& out) {
    const uint64_t size = in.GetVarint();
    bool is_possible = size < kExternalHoldWindows;
    for (uint64_t i = 0; is_possible && i < size; ++i) {
      Higher& past = out.emplace_back();
      past.until = in.Get<int32_t>();
      past.limit = in.Get<double>();
      is_possible = IsStoredWindow(past.until) && IsStoredAmount(past.limit) &&
                    (i == 0 || (past.until > out[i - 1].until && past.limit < out[i - 1].limit));
    }
    if (absl::Status s = in.status("earlier external limits"); !s.ok()) return s;
    return is_possible ? absl::OkStatus()
                       : absl::DataLossError("earlier external limits: no falling sequence of limits");
  }

  std::string UnitName() const { return std::string(taut::UnitName(resource_)); }

  Resource resource_;
  std::optional<ExternalLimit> answer_;
  std::vector<Higher> higher_;  // ascending by window, descending by limit
  std::optional<double> own_;   // limit of `inner` at the last Recommend
  bool holds_ = false;
};

}  // namespace

std::unique_ptr<Recommender> WithExternal(std::unique_ptr<Recommender> inner, Resource resource) {
  return std::make_unique<ExternalWrapper>(std::move(inner), resource);
}

}  // namespace taut::brain
