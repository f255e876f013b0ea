// Settings of the daemon as a whole, and the table of all settings.
#include "common/base/byte_units.h"
#include "common/base/strings.h"
#include "server/config/daemon_section.h"

namespace taut::server {
namespace {

using enum FieldUnit;

constexpr EnumName<ClockSource> kClocks[] = {{ClockSource::kWall, "wall"},
                                             {ClockSource::kSamples, "samples"}};
constexpr EnumName<ActuatorKind> kActuators[] = {{ActuatorKind::kDryRun, "dry_run"},
                                                 {ActuatorKind::kAgents, "agents"},
                                                 {ActuatorKind::kKubernetes, "kubernetes"}};

const DaemonSetting kCellRows[] = {
    {kCompatibilityKey,
     "version whose defaults apply to keys that are not set; empty: this program's. See Changes of "
     "defaults",
     kPlain, 0, 0, TAUT_DAEMON_FIELD(compatibility)},
    {"cell.name", "name of this cell, shown in the dashboard", kPlain, 0, 0, TAUT_DAEMON_FIELD(cell.name)},
    {"cell.links", "links to other cells' dashboards, NAME=URL", kPlain, 0, 0, TAUT_DAEMON_FIELD(cell.links)},
    {"clock",
     "wall: the clock of this machine; samples: the time of the newest sample, for replayed or accelerated "
     "data",
     kPlain, 0, 0, TAUT_DAEMON_CHOICE(kClocks, clock)},
    {"clock_wait",
     "after a start more than an hour beyond the stored data, tautd decides nothing for this time, unless "
     "samples of two other machines or an operator confirm the clock; 0: no wait",
     kDuration, 0, brain::kDay, TAUT_DAEMON_FIELD(clock_wait_s)},
    {"store.path", "file of the store, created if missing; memory: lost when tautd stops", kPlain, 0, 0,
     TAUT_DAEMON_FIELD(store.path)},
    {"store.history", "time for which usage is kept, in whole days", kDuration, brain::kDay,
     3650 * brain::kDay, TAUT_DAEMON_FIELD(store.history_days),
     Was("store.history_days", brain::kDay, brain::kDay)},
    {"store.decisions", "time for which decisions, OOM kills, fleet totals and costs are kept, in whole days",
     kDuration, brain::kDay, 3650 * brain::kDay, TAUT_DAEMON_FIELD(store.decision_days),
     Was("store.decision_days", brain::kDay, brain::kDay)},
    {"store.checkpoint_windows",
     "each job is saved once per this many five-minute windows; a restart re-processes at most this many",
     kPlain, 1, 288, TAUT_DAEMON_FIELD(store.checkpoint_windows)},
    {"store.forget_jobs_after",
     "a job without usage for this time, in whole days, is forgotten; a younger job after the time for which "
     "it was known when last used, at least a day",
     kDuration, brain::kDay, 3650 * brain::kDay, TAUT_DAEMON_FIELD(store.forget_jobs_days),
     Was("store.forget_jobs_days", brain::kDay, brain::kDay)},
};

const DaemonSetting kRolloutRows[] = {
    {"migration.enabled", "move small jobs from observe to auto automatically, after a notice", kPlain, 0, 0,
     TAUT_DAEMON_FIELD(migration.enabled), Reloads()},
    {"migration.max_cpu", "a job is small if the limits of all its tasks are at most this many cores", kPlain,
     0, 1e6, TAUT_DAEMON_FIELD(migration.max_cpu_cores), Reloads()},
    {"migration.max_memory", "and at most this much memory", kBytes, 0, 1024 * kGiB * 1024,
     TAUT_DAEMON_FIELD(migration.max_memory_bytes), Reloads()},
    {"migration.observe", "least time in mode observe, in whole days", kDuration, brain::kDay,
     3650 * brain::kDay, TAUT_DAEMON_FIELD(migration.observe_days),
     Reloads(Was("migration.observe_days", brain::kDay, brain::kDay))},
    {"migration.max_days_over", "highest share of these days with usage above the recommended limit", kPlain,
     0, 1, TAUT_DAEMON_FIELD(migration.max_days_over), Reloads()},
    {"migration.notice", "time between the notice and the move, in whole days", kDuration, 0,
     365 * brain::kDay, TAUT_DAEMON_FIELD(migration.notice_days),
     Reloads(Was("migration.notice_days", brain::kDay, brain::kDay))},
    {"actuator.kind",
     "part that applies limits: dry_run (decisions are only stored), agents, kubernetes "
     "(kubernetes.kubeconfig), or [agents, kubernetes] (pods of the cluster through its API server, other "
     "jobs through agents). With webhook.url, jobs of webhook.jobs are excluded",
     kPlain, 0, 0, +[](DaemonConfig& c) { return ChoicesOf<kActuators>(&c.actuators); }},
};

const DaemonSetting kLogRows[] = {
    {"log.level", "lowest level that is logged on standard error: debug, info, warning or error", kPlain, 0,
     0, TAUT_DAEMON_FIELD(log.level)},
    {"log.format", "text: key=value; json: an object per line", kPlain, 0, 0, TAUT_DAEMON_FIELD(log.format)},
};

absl::Status CheckRollout(const DaemonConfig& config) {
  std::vector<ActuatorKind> kinds = config.actuators;
  std::ranges::sort(kinds);
  if (std::ranges::adjacent_find(kinds) != kinds.end())
    return absl::InvalidArgumentError("actuator.kind has one kind twice");
  if (kinds.size() > 1 && config.SetsThrough(ActuatorKind::kDryRun))
    return absl::InvalidArgumentError(
        "actuator.kind: dry_run stands alone, since nothing is applied with it");
  return absl::OkStatus();
}

absl::Status CheckCell(const DaemonConfig& config) {
  if (config.store.path.empty())
    return absl::InvalidArgumentError("store.path is empty: expected a file, or memory");
  for (const std::string& link : config.cell.links) {
    if (const auto parsed = ParseCellLink(link); !parsed.ok()) return parsed.status();
  }
  return absl::OkStatus();
}

}  // namespace

std::span<const DaemonSection> DaemonSections() {
  static const DaemonSection kSections[] = {ServerSection(),
                                            {kCellRows, CheckCell},
                                            IngestSection(),
                                            PoolSection(),
                                            {kRolloutRows, CheckRollout},
                                            WebhookSection(),
                                            KubernetesSection(),
                                            AgentsSection(),
                                            ExternalSection(),
                                            {kLogRows},
                                            NotifySection()};
  return kSections;
}

std::span<const DaemonSetting> DaemonSettingsTable() {
  static const std::vector<DaemonSetting> kTable = [] {
    std::vector<DaemonSetting> table;
    for (const DaemonSection& section : DaemonSections())
      table.insert(table.end(), section.rows.begin(), section.rows.end());
    return table;
  }();
  return kTable;
}

absl::StatusOr<std::pair<std::string, std::string>> ParseCellLink(std::string_view link) {
  const size_t equals = link.find('=');
  const std::string_view name = StripSpace(link.substr(0, equals));
  const std::string_view url =
      equals == std::string_view::npos ? std::string_view() : StripSpace(link.substr(equals + 1));
  if (name.empty() || !(url.starts_with("http://") || url.starts_with("https://"))) {
    return absl::InvalidArgumentError(
        StrCat("cell.links: \"", link, "\" is not NAME=URL with http:// or https://"));
  }
  return std::pair(std::string(name), std::string(url));
}

std::vector<std::string> ChangedKeys(const DaemonConfig& before, const DaemonConfig& after) {
  std::vector<std::string> changed;
  for (const DaemonSetting& setting : DaemonSettingsTable()) {
    if (GetSetting(setting, before) != GetSetting(setting, after)) changed.emplace_back(setting.key);
  }
  const auto text = [](const std::vector<MappingRule>& rules) {
    std::string out;
    for (const MappingRule& r : rules) {
      StrAppend(&out, r.name, "\n", r.metric, "\n", static_cast<int>(r.kind), "\n", r.job, "\n", r.task, "\n",
                r.part, "\n", r.scale, "\n", r.source, "\n", r.signal, "\n", r.whole_machine, "\n");
      for (const LabelMatch& m : r.match) StrAppend(&out, m.label, "\n", m.pattern, "\n", m.negate, "\n");
    }
    return out;
  };
  if (text(before.ingest.mapping) != text(after.ingest.mapping)) changed.emplace_back("ingest.mapping");
  return changed;
}

std::vector<const DaemonSetting*> ReloadableOf(std::string_view section) {
  std::vector<const DaemonSetting*> out;
  for (const DaemonSetting& setting : DaemonSettingsTable()) {
    if (setting.extras.reloads && setting.key.substr(0, setting.key.rfind('.')) == section)
      out.push_back(&setting);
  }
  return out;
}

void TakeReloadable(std::string_view section, const DaemonConfig& next, DaemonConfig& running) {
  DaemonConfig from = next;
  for (const DaemonSetting* setting : ReloadableOf(section)) {
    setting->field(from).CopyTo(setting->field(running));
  }
}

}  // namespace taut::server
