// A recommender for tests: logs its calls, and recommends the index of the window.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "brain/recommend/recommender.h"
#include "common/base/strings.h"

namespace taut::brain {

enum class Answers : uint8_t { kWindow, kNothing };

class Scribe final : public Recommender {
 public:
  // `kills`: receives the events of kills in addition to the log; nullptr: log only.
  Scribe(std::vector<std::string>* log, Answers answers, std::vector<OomEvent>* kills = nullptr)
      : log_(log), kills_(kills), answers_(answers) {}
  void Observe(const Signal& s) override { Note("observe", s.window.index); }
  void ObserveOom(const OomEvent& e) override {
    Note("oom", e.window.index);
    if (kills_ != nullptr) kills_->push_back(e);
  }
  std::optional<double> Recommend(WindowId next) override {
    Note("recommend", next.index);
    return answers_ == Answers::kWindow ? std::optional<double>(next.index) : std::nullopt;
  }
  void StartDay(int32_t day) override { Note("start", day); }
  void EndDay(int32_t day, FleetRows&) override { Note("end", day); }
  void Explain(Reason&) const override {}
  std::unique_ptr<Recommender> Clone() const override { return std::make_unique<Scribe>(*this); }
  size_t state_bytes() const override { return sizeof(*this); }
  void Save(ByteWriter&) const override {}
  absl::Status Load(ByteReader&) override { return absl::OkStatus(); }

 private:
  void Note(const char* what, int32_t n) { log_->push_back(StrCat(what, " ", n)); }

  std::vector<std::string>* log_;
  std::vector<OomEvent>* kills_;
  Answers answers_;
};

}  // namespace taut::brain
