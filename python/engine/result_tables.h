// The results of a replay as Arrow tables. tautline/__init__.py documents the columns.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "arrow_table.h"
#include "common/model/usage.h"
#include "tools/sim/replay.h"

namespace taut::python {

// `label`: name of the only recommender; "": lanes have the names of their recommenders.
std::shared_ptr<const ArrowTable> ScoresTable(const tools::ReplayResult& result, const std::string& label);
std::shared_ptr<const ArrowTable> JobsTable(const tools::ReplayResult& result,
                                            const std::vector<JobInfo>& jobs, const std::string& label);
// Returns the changes of one job, or of all jobs if `only` is absent.
std::shared_ptr<const ArrowTable> DecisionsTable(const std::vector<tools::LimitChange>& changes,
                                                 const std::vector<JobInfo>& jobs, std::optional<JobId> only,
                                                 const std::string& label);

}  // namespace taut::python
