// The options of the verbs that speak with the daemon, beside those in tools/cli/parse.cc.
#pragma once

#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"
#include "tools/cli/commands.h"

namespace taut::tools {

void AddConnection(CLI::App& app, ConnectionArgs& args, const char* url_option = "--server");
void AddOutputForm(CLI::App& app, OutputForm& form);
// The options that every question to the daemon has: the connection and the form of the output.
void AddDaemon(CLI::App& app, DaemonArgs& args);
// --limit, from 1 to `most`.
void AddLimit(CLI::App& app, int& limit, const char* help, int most);

class DaemonVerbs {
 public:
  // Adds the verbs; this must outlive the parsing.
  explicit DaemonVerbs(CLI::App& app);
  // Runs the verb that was typed: its exit code. nullopt: it is none of these.
  std::optional<int> Run() const;

 private:
  void AddJobs(CLI::App& app);
  void AddJob(CLI::App& app);
  void AddSet(CLI::App& app);
  void AddExport(CLI::App& app);
  void AddDecisions(CLI::App& app);
  void AddTop(CLI::App& app);
  void AddStatus(CLI::App& app);
  void AddConfirmClock(CLI::App& app);
  void AddAgents(CLI::App& app);
  void AddMachines(CLI::App& app);
  void AddCapacity(CLI::App& app);
  void AddEvents(CLI::App& app);
  void AddPromises(CLI::App& app);
  void AddMapping(CLI::App& app);

  JobsArgs jobs_;
  JobArgs job_;
  SetArgs set_;
  ExportArgs export_;
  DecisionsArgs decisions_;
  TopArgs top_;
  StatusArgs status_;
  DaemonArgs confirm_clock_;
  DaemonArgs agents_;
  MachinesArgs machines_;
  CapacityArgs capacity_;
  EventsArgs events_;
  DaemonArgs promises_;
  MappingTestArgs mapping_test_;
  std::vector<std::pair<const CLI::App*, std::function<int()>>> verbs_;
};

}  // namespace taut::tools
