// Predicts a machine's peak as the sum of the reservations of its tasks.
#include <utility>
#include <vector>

#include "brain/overcommit/history.h"
#include "brain/overcommit/statistics.h"
#include "fmt/format.h"

namespace taut::brain {
namespace {

class ReservationPredictor final : public PeakPredictor {
 public:
  explicit ReservationPredictor(const ReservationSettings& settings) : settings_(settings) {}

  void Observe(WindowId window, uint32_t machine, const MachineWindow& load) override {
    if (machine >= machines_.size()) machines_.resize(size_t{machine} + 1);
    Machine& m = machines_[machine];
    m.limit = load.limit;
    m.reserved = 0;
    const auto states = m.tasks.Match(load.tasks, [] { return Reservation(); });
    for (size_t i = 0; i < load.tasks.size(); ++i) {
      const TaskLoad& t = load.tasks[i];
      Reservation::Figures figures;
      if (t.measured()) figures.usage = t.capped();
      figures.asked = figures.cap = t.limit;
      m.reserved += states[i].state.Step(window, figures, settings_).value_or(t.limit);
    }
  }
  double Predict(uint32_t machine) const override {
    return machine < machines_.size() ? machines_[machine].reserved : 0;
  }
  void Explain(uint32_t machine, Reason& reason) const override {
    reason.recommender = "reservation";
    if (machine >= machines_.size()) return;
    const Machine& m = machines_[machine];
    const size_t tasks = m.tasks.entries().size();
    reason.sentence = fmt::format("The reservations of {} task{} add up to {:.6g} of their limits, {:.6g}.",
                                  tasks, tasks == 1 ? "" : "s", m.reserved, m.limit);
  }

 private:
  struct Machine {
    TaskStates<Reservation> tasks;
    double limit = 0, reserved = 0;
  };
  ReservationSettings settings_;
  std::vector<Machine> machines_;
};

}  // namespace

std::unique_ptr<PeakPredictor> NewReservationPredictor(const ReservationSettings& settings) {
  return std::make_unique<ReservationPredictor>(settings);
}

}  // namespace taut::brain
