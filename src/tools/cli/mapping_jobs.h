// Collects the jobs to which mapping rules assign series, with each job's tasks and known amounts.
#pragma once

#include <map>
#include <set>
#include <string>

#include "server/ingest/mapping_rules.h"
#include "tools/cli/json_text.h"

namespace taut::tools {

class MappedJobs {
 public:
  // Adds a series with a rule. AddUnmapped() counts a series without a rule by its metric.
  void Add(const server::Mapping& mapping);
  void AddUnmapped(std::string_view metric);

  // Returns a table of the jobs, followed by the number of series without a rule.
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
  std::map<std::string, size_t> unmapped_;  // number of series without a rule, by metric
  size_t facts_ = 0;
};

}  // namespace taut::tools
