// Settings of a job from its owner (annotations) and from its cluster (allowed amounts). No decision is made for a
// job before the source of its settings has answered.
#pragma once

#include <string>
#include <vector>

#include "common/model/labels.h"
#include "common/model/resource.h"
#include "common/model/rollout.h"

namespace taut::server {

struct JobQuestion {
  JobRecord record;
  PerResource<bool> of_request = {};  // true: the owner's amount is a request
};

struct JobAnswer {
  enum class State : uint8_t {
    kNotMine,  // the source has no settings for jobs of this name
    kUnknown,  // the source cannot answer yet
    kKnown
  };
  State state = State::kNotMine;
  std::vector<Label> labels = {};  // settings of a kKnown job (kSettingLabel), ascending
};

class JobSettingsSource {
 public:
  virtual ~JobSettingsSource() = default;
  // Returns the present answer. A pass calls this function for each new job, so it must be cheap. One thread
  // calls it, with no lock held.
  virtual JobAnswer SettingsOf(const JobQuestion& question) = 0;
  // Returns true if an autoscaler depends on the request of the job's container, so that the request must not
  // change. Thread-safe.
  virtual bool RequestStays(const Workload& /*job*/, Resource /*r*/) const { return false; }
};

}  // namespace taut::server
