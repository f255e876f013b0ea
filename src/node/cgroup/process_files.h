// The processes of this machine, through the files of /proc.
#pragma once

#include <memory>
#include <string>

#include "node/agent/process_table.h"

namespace taut::node {

// Returns the processes under `proc_dir`, the mount point of proc. Each Read reads two small files.
std::unique_ptr<ProcessTable> ProcessFiles(std::string proc_dir = "/proc");

}  // namespace taut::node
