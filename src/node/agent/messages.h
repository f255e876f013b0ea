// Conversion of the agent's data about a task to messages of proto/agent.proto.
#pragma once

#include "agent.pb.h"
#include "node/agent/agent_task.h"
#include "node/agent/ledger.h"

namespace taut::node {

taut::agent::v1::TaskName NameMessage(const FoundTask& task);
using LabelMap = google::protobuf::Map<std::string, std::string>;
LabelMap LabelMessage(const FoundTask& task);
taut::agent::v1::Task TaskMessage(const AgentTask& task, bool managed);
taut::agent::v1::TaskWindow WindowMessage(const AgentTask& task, const NodeWindow& window);

// True if the limits are equal up to the rounding of kernels and engines: pages of memory, 1 ms of quota in
// 100 ms, and weights that are converted to shares.
bool SameLimit(LimitKind kind, std::optional<double> a, std::optional<double> b);
// True if the kernel's value `holds` was written by the agent.
bool IsOurs(LimitKind kind, const LedgerValue& value, std::optional<double> holds);

}  // namespace taut::node
