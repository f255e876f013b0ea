#include "server/control/forest_trainer.h"

#include <sys/resource.h>

#include <chrono>
#include <utility>

#include "brain/fleet/live_fleet.h"
#include "brain/recommend/boosted_fleet.h"

namespace taut::server {
namespace {

constexpr int kNice = 10;  // of a training: the daemon's other threads go first

}  // namespace

void ForestTrainer::Step(SharedFleet& fleet) {
  for (const Resource r : kResources) {
    std::optional<Running>& running = running_[IndexOf(r)];
    if (running.has_value()) {
      if (running->forest.wait_for(std::chrono::seconds(0)) != std::future_status::ready) continue;
      fleet.Write()->models->boosted_of(r).Adopt(running->day, running->forest.get());
      running.reset();
    }
    std::optional<brain::BoostedTraining> due = fleet.unlocked().models->boosted_of(r).DueTraining();
    if (!due.has_value()) continue;
    const int32_t day = due->day;
    auto train = [training = *std::move(due)]() mutable {
      setpriority(PRIO_PROCESS, 0, kNice);  // of this thread alone
      return training.Train();
    };
    running = Running{day, std::async(std::launch::async, std::move(train))};
  }
}

}  // namespace taut::server
