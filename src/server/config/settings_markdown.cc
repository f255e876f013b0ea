// Generates docs/reference/configuration.md from the tables.
#include <algorithm>
#include <vector>

#include "common/base/strings.h"
#include "server/config/agent_config.h"
#include "server/config/daemon_config.h"
#include "server/config/settings_file.h"

namespace taut::server {
namespace {

constexpr std::string_view kIntro = R"(# Configuration of tautd and tautlet

<!-- Generated from the tables in the code. To regenerate: TAUT_WRITE_DOCS=1 config_tests -->

For operators. This page has every key of both configuration files, with its default and meaning.

tautd reads one YAML file. It is optional: every key has a default. `docs/tautd.example.yaml` is an example. An
unknown or repeated key and an invalid value are rejected with the file, the line, and the nearest valid key. A key
`a.b` is `b:` below `a:`. Amounts have units: `512MiB`, `1.5GiB`, `250ms`, `90s`, `30m`, `12h`, `2w`; a share is
`0.05` or `5%`. Keys of earlier versions that contained a unit are read with a warning that names the new key.
Secrets are read from separate files and are never shown. [tautlet](#tautlet) has its own file and keys.

SIGHUP reloads the keys marked *(reloaded)*, rules, settings of jobs and recommenders. tautd logs each other key
that has changed: it takes effect after a restart.
)";

constexpr std::string_view kLists =
    R"(
## Mapping rules: `ingest.mapping`

A list of rules that assign series to jobs. The first matching rule applies. These rules precede the built-in ones
(see `docs/reference/ingest.md`); with `ingest.builtin_mapping: false` there are no others.

| Key | Meaning |
|---|---|
| `name` | name of the rule, shown by `taut mapping test` |
| `metric` | pattern of the metric's name: `*` is any text, `a\|b` is a or b |
| `match` | labels and patterns, all of which must match; `!` at the start negates |
| `kind` | cpu_seconds_total, cpu_cores, memory_bytes, cpu_limit_cores, memory_limit_bytes, cpu_request_cores, memory_request_bytes, oom_total, )"
    R"(owner, restarts_total, oom_reason, oom_ended, init_container, pod_labels, load, load_total, cpu_periods_total, cpu_throttled_periods_total, replicas, replicas_ready, start_time, last_ended, memory_peak or waiting |
| `job`, `task`, `part` | templates of text and `{label}`; `{a\|b}` is the first label that is not empty |
| `whole_machine` | `true`: the job is a whole machine; it gets the label `workload=machine`, )"
    R"(and counts in no sum, saving, cost or capacity |
| `signal` | with kind load or load_total: not the job's load, but this signal for `replicas.function.target` |
| `scale` | factor from the sample to cores or bytes; negative: the part is subtracted |

## Rules: `rules`

A list of settings for the jobs that match. Later rules override earlier ones; settings of one job override all
rules.

| Key | Meaning |
|---|---|
| `name` | name of the rule, shown as the source of a setting |
| `match` | `job` (the name) or a label, and a pattern as above; all must match |
| `set` | keys of the table below, `memory.upper: 4GiB` or `upper: 4GiB` below `memory:` |
| `cap` | bounds on the values of rules and annotations ([caps](../kubernetes/use.md#steering-with-kubectl)): `mode`, )"
    R"(`cpu.upper`, `memory.upper`, `replicas.max` |
)";

// Escapes '|', which would end the cell of a table.
std::string Cell(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '|') out += '\\';
    out += c;
  }
  return out;
}

std::string Code(std::string_view text) { return text.empty() ? "" : StrCat("`", Cell(text), "`"); }

void AddRow(std::string_view key, std::string_view value, std::string_view help, std::string& out) {
  StrAppend(&out, "| `", key, "` | ", Code(value), " | ", Cell(help), " |\n");
}

constexpr std::string_view kHead = "\n| Key | Default | Meaning |\n|---|---|---|\n";

void AddAgent(std::string& out) {
  StrAppend(&out,
            "\n## tautlet\n\ntautlet reads its own YAML file; `docs/tautlet.example.yaml` is an example.\n",
            kHead);
  const AgentConfig defaults;
  for (const AgentSetting& s : AgentSettingsTable()) {
    AddRow(s.key, GetSetting(s, defaults), s.help, out);
  }
  StrAppend(
      &out,
      "\nEach item of `tasks`; the first that matches a task applies:\n\n| Key | Meaning |\n|---|---|\n");
  for (const TaskRuleKey& k : TaskRuleKeys()) StrAppend(&out, "| `", k.key, "` | ", Cell(k.help), " |\n");
  StrAppend(
      &out,
      "\nEach item of `tiers.rules`; the first that fits a task applies, before the task's own rule:\n\n"
      "| Key | Meaning |\n|---|---|\n");
  for (const TaskRuleKey& k : TierRuleKeys()) StrAppend(&out, "| `", k.key, "` | ", Cell(k.help), " |\n");
}

}  // namespace

std::string DaemonSettingsMarkdown() {
  std::string out(kIntro);
  const DaemonConfig defaults;
  std::vector<std::string_view> sections;  // names of sections in the order of their first keys
  const auto section_of = [](const DaemonSetting& s) { return s.key.substr(0, s.key.find('.')); };
  for (const DaemonSetting& s : DaemonSettingsTable()) {
    if (std::ranges::find(sections, section_of(s)) == sections.end()) sections.push_back(section_of(s));
  }
  for (const std::string_view section : sections) {
    StrAppend(&out, "\n## `", section, "`\n", kHead);
    for (const DaemonSetting& s : DaemonSettingsTable()) {
      if (section_of(s) != section) continue;
      AddRow(s.key, GetSetting(s, defaults), StrCat(s.help, s.extras.reloads ? " *(reloaded)*" : ""), out);
    }
  }
  StrAppend(&out, kLists);
  StrAppend(&out, "\n## Settings of jobs: `defaults`, and `set` of rules\n\n",
            "The same keys can be set for a single job in the dashboard and over the API.\n", kHead);
  const brain::JobPolicy policy;
  for (const brain::JobSetting& s : brain::JobSettingsTable()) {
    std::string help(s.help);
    if (s.kind == brain::SettingKind::kChoice && s.key == "recommender") {
      StrAppend(&help, ": ", Join(s.choices, ", "));
    }
    AddRow(s.key, brain::GetJobSetting(s.key, policy), help, out);
  }
  StrAppend(&out, "\n## Recommenders: `recommenders`\n\n",
            "The same keys that `taut replay` reads from a settings file and `taut tune` writes.\n", kHead);
  const brain::VerticalSettings vertical;
  for (const brain::VerticalSetting& s : brain::VerticalSettingRows())
    AddRow(s.key, GetSetting(s, vertical), s.help, out);
  AddAgent(out);
  out += ChangedDefaultsMarkdown(ChangedDefaults());
  return out;
}

}  // namespace taut::server
