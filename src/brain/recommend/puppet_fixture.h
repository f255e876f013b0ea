// For tests of wrappers: a recommender that recommends the value set by the test.
#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "brain/recommend/recommender.h"

namespace taut::brain {

class Puppet final : public Recommender {
 public:
  explicit Puppet(std::shared_ptr<std::optional<double>> says) : says_(std::move(says)) {}
  void Observe(const Signal&) override {}
  void ObserveOom(const OomEvent&) override {}
  std::optional<double> Recommend(WindowId) override { return *says_; }
  void Explain(Reason& reason) const override {
    if (says_->has_value()) reason.steps.push_back({"raw", 0, **says_});
  }
  std::unique_ptr<Recommender> Clone() const override { return std::make_unique<Puppet>(says_); }
  size_t state_bytes() const override { return sizeof(*this); }
  void Save(ByteWriter&) const override {}
  absl::Status Load(ByteReader&) override { return absl::OkStatus(); }

 private:
  std::shared_ptr<std::optional<double>> says_;
};

struct PuppetStage {
  std::shared_ptr<std::optional<double>> says = std::make_shared<std::optional<double>>();
  std::unique_ptr<Recommender> puppet() const { return std::make_unique<Puppet>(says); }
};

}  // namespace taut::brain
