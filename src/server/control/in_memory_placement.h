// Placement source whose machines a test sets.
#pragma once

#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "server/control/placement.h"

namespace taut::server {

class InMemoryPlacement final : public PlacementSource {
 public:
  explicit InMemoryPlacement(std::string name) : name_(std::move(name)) {}

  void Set(std::vector<PlacedMachine> machines) {
    const std::lock_guard lock(mutex_);
    machines_ = std::move(machines);
  }

  std::string_view placement_name() const override { return name_; }
  std::vector<PlacedMachine> Placement() const override {
    const std::lock_guard lock(mutex_);
    return machines_;
  }

 private:
  const std::string name_;
  mutable std::mutex mutex_;
  std::vector<PlacedMachine> machines_;
};

}  // namespace taut::server
