// The jobs that come of many series under the mapping rules: how many tasks, and what is known of each.
#pragma once

#include <map>
#include <set>
#include <string>

#include "server/ingest/mapping_rules.h"
#include "tools/cli/json_text.h"

namespace taut::tools {

class MappedJobs {
 public:
  // A series that no rule takes counts by its metric.
  void Add(const server::Mapping& mapping);
  void AddUnmapped(std::string_view metric);

  // A table of the jobs and, below it, how many series no rule took.
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
  std::map<std::string, size_t> unmapped_;  // by metric
  size_t facts_ = 0;
};

}  // namespace taut::tools
