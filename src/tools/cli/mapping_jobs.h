// Collects the jobs that result from many series under the mapping rules, with the tasks and the known
// amounts of each job.
#pragma once

#include <map>
#include <set>
#include <string>

#include "server/ingest/mapping_rules.h"
#include "tools/cli/json_text.h"

namespace taut::tools {

class MappedJobs {
 public:
  // Adds a series. A series without a rule is counted by its metric.
  void Add(const server::Mapping& mapping);
  void AddUnmapped(std::string_view metric);

  // Returns a table of the jobs, and below the table the number of series without a rule.
  std::string Text() const;
  Json ToJson() const;

 private:
  struct Job {
    std::set<std::string> tasks;
    size_t series = 0;
    bool cpu = false, memory = false, cpu_limit = false, memory_limit = false;
    bool oom_survivors = false, oom = false;
  };
  static std::string_view OomText(const Job& job);

  std::map<std::string, Job> jobs_;
  std::map<std::string, size_t> unmapped_;  // number of series by metric
  size_t facts_ = 0;
};

}  // namespace taut::tools
