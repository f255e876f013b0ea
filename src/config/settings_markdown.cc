// docs/configuration.md, from the tables.
#include "base/strings.h"
#include "config/agent_config.h"
#include "config/daemon_config.h"
#include "config/settings_file.h"

namespace taut {
namespace {

constexpr std::string_view kIntro = R"(# Configuration of tautd and tautlet

<!-- Made from the tables in the code; a test compares. To make it anew: TAUT_WRITE_DOCS=1 config_tests -->

One YAML file, and none is needed: everything has a default. `docs/tautd.example.yaml` is an example. A key that
does not exist, one that is there twice or a value that cannot be is refused with the file, the line, and what was
probably meant. A key `a.b` is `b:` below `a:`. Amounts are written as people write them: `512MiB`, `1.5GiB`,
`90s`, `30m`, `12h`, `2w`, `0.05` or `5%` where a job's setting is a share. Secrets come from files of their own
and are never shown. What tautlet can be told stands at the end.
)";

constexpr std::string_view kLists = R"(
## Mapping rules: `ingest.mapping`

A list: which series is which job's usage. The first rule that fits a series decides; these come before the
built-in ones (see `docs/formats.md`), or stand alone with `ingest.builtin_mapping: false`.

| Key | What |
|---|---|
| `name` | for people |
| `metric` | pattern of the metric's name: `*` is any text, `a\|b` is a or b |
| `match` | labels and patterns, all of which must fit; `!` at the start negates |
| `kind` | cpu_seconds_total, cpu_cores, memory_bytes, cpu_limit_cores, memory_limit_bytes, oom_total, owner, )"
                                    R"(restarts_total, oom_reason, oom_ended, init_container or pod_labels |
| `job`, `task`, `part` | names made of text and `{label}`; `{a\|b}` is the first that is not empty |
| `scale` | the sample times this is in cores or bytes; below 0 the part is subtracted |

## Rules: `rules`

A list: what holds for which jobs. Later rules win over earlier ones, and what a person sets for one job wins over
all.

| Key | What |
|---|---|
| `name` | for people; it is shown where a value came from |
| `match` | `job` (the name) or a label, and a pattern as above; all must fit |
| `set` | keys of the table below, `memory.upper: 4GiB` or `upper: 4GiB` below `memory:` |
)";

// A '|' would end the cell.
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

constexpr std::string_view kHead = "\n| Key | Default | What |\n|---|---|---|\n";

void AddAgent(std::string& out) {
  StrAppend(&out, "\n## tautlet\n\nA file of its own; `docs/agent.md` has an example.\n", kHead);
  AgentConfig defaults;
  for (const AgentSetting& s : AgentSettingsTable()) {
    AddRow(s.key, ShowField(s.spec(), s.field(defaults)), s.help, out);
  }
  StrAppend(&out,
            "\nEach item of `tasks`; the first that fits a task decides:\n\n| Key | What |\n|---|---|\n");
  for (const TaskRuleKey& k : TaskRuleKeys()) StrAppend(&out, "| `", k.key, "` | ", Cell(k.help), " |\n");
}

}  // namespace

std::string DaemonSettingsMarkdown() {
  std::string out(kIntro);
  const DaemonConfig defaults;
  std::string_view section;
  for (const DaemonSetting& s : DaemonSettingsTable()) {
    const std::string_view its = s.key.substr(0, s.key.find('.'));
    if (its != section) StrAppend(&out, "\n## `", its, "`\n", kHead);
    section = its;
    AddRow(s.key, GetDaemonSetting(s, defaults), s.help, out);
  }
  StrAppend(&out, kLists);
  StrAppend(&out, "\n## Settings of jobs: `defaults`, and `set` of rules\n\n",
            "The same keys can be set for a single job in the dashboard and over the API.\n", kHead);
  const JobPolicy policy;
  for (const JobSetting& s : JobSettingsTable()) {
    std::string help(s.help);
    if (s.kind == SettingKind::kChoice && s.key == "recommender") {
      StrAppend(&help, ": ", fmt::join(s.choices, ", "));
    }
    AddRow(s.key, GetJobSetting(s.key, policy), help, out);
  }
  StrAppend(&out, "\n## Recommenders: `recommenders`\n\n",
            "The same keys that `taut replay` reads from a settings file and `taut tune` writes.\n", kHead);
  const VerticalSettings vertical;
  for (const Setting& s : SettingsTable()) AddRow(s.key, GetSetting(s, vertical), s.help, out);
  AddAgent(out);
  return out;
}

}  // namespace taut
