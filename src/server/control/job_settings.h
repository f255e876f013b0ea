// What the owner of a job and the place where it runs ask for it: the settings of annotations, and the amounts
// that a cluster allows. A source answers before anything is decided for a job.
#pragma once

#include <string>
#include <vector>

#include "common/model/labels.h"
#include "common/model/resource.h"
#include "common/model/rollout.h"

namespace taut::server {

struct JobQuestion {
  JobRecord record;
  PerResource<bool> of_request = {};  // whether the owner's amount is a request
};

struct JobAnswer {
  enum class State : uint8_t {
    kNotMine,  // the source has no settings of jobs of this name
    kUnknown,  // the source cannot answer yet
    kKnown
  };
  State state = State::kNotMine;
  std::vector<Label> labels = {};  // of kKnown: those that are settings (kSettingLabel), ascending
};

class JobSettingsSource {
 public:
  virtual ~JobSettingsSource() = default;
  // The answer as of now. Cheap: a pass asks it for each new job. One thread calls it, with no lock held.
  virtual JobAnswer SettingsOf(const JobQuestion& question) = 0;
  // Whether an autoscaler counts on the request of the job's container, which therefore stays. From any thread.
  virtual bool RequestStays(const Workload& /*job*/, Resource /*r*/) const { return false; }
};

}  // namespace taut::server
