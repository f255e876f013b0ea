// The commands of taut as functions: run_command(), command_options(), and table() for the rows of a result.
#include <nanobind/nanobind.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings.h"
#include "tools/cli/cli.h"
#include "tools/cli/embedded.h"
#include "watched.h"

namespace taut::python {
namespace {

// Runs the command and returns its output. `table` is None, or the usage that the path kGivenUsage represents.
std::string RunCommand(const std::vector<std::string>& words, const nb::object& table,
                       const Progress& progress) {
  std::optional<GivenTable> given;
  if (!table.is_none()) given.emplace(table);
  std::string text;
  std::string error;
  int code = 0;
  RunWatched(progress, [&](Watch& watch) {
    if (given.has_value()) given->PutInto(watch);
    code = tools::RunEmbedded(words, watch.console);
    text = std::move(watch.console.text);
    error = std::move(watch.console.error);
    if (code == tools::kExitFailed && error.starts_with("no such file")) throw FileMissing(error);
  });
  if (code == tools::kExitOk || (code == tools::kExitPartial && error.empty())) return text;
  const std::string message = PythonNames(error);
  if (code == tools::kExitUsage) throw nb::value_error(message.c_str());
  throw std::runtime_error(message);
}

std::shared_ptr<const ArrowTable> TableOf(const std::vector<std::pair<std::string, nb::list>>& columns) {
  ArrowTable out;
  for (const auto& [name, values] : columns) {
    bool is_text = false, is_real = false;
    for (const nb::handle value : values) {
      is_text = is_text || nb::isinstance<nb::str>(value);
      is_real = is_real || nb::isinstance<nb::float_>(value);
    }
    if (is_text) {
      ArrowTable::Texts texts;
      for (const nb::handle value : values) {
        texts.push_back(value.is_none() ? std::nullopt
                                        : std::optional(nb::cast<std::string>(nb::str(value))));
      }
      out.Add(name, std::move(texts));
    } else if (is_real) {
      ArrowTable::Reals reals;
      for (const nb::handle value : values)
        reals.push_back(value.is_none() ? std::nullopt : std::optional(nb::cast<double>(value)));
      out.Add(name, std::move(reals));
    } else {
      ArrowTable::Integers integers;
      for (const nb::handle value : values)
        integers.push_back(value.is_none() ? std::nullopt : std::optional(nb::cast<int64_t>(value)));
      out.Add(name, std::move(integers));
    }
  }
  return std::make_shared<const ArrowTable>(std::move(out));
}

// An option: name, type, help text, default value, and the values of is_flag and is_list of CommandOption.
using Option = std::tuple<std::string, std::string, std::string, std::string, bool, bool>;

std::vector<Option> CommandOptions(const std::string& command) {
  std::vector<Option> out;
  for (const tools::CommandOption& o : tools::OptionsOf(command))
    out.emplace_back(o.name, o.type, o.help, o.default_value, o.is_flag, o.is_list);
  return out;
}

}  // namespace

void BindCommands(nb::module_& m) {
  m.def("run_command", &RunCommand, nb::arg("words"), nb::arg("table").none(), nb::arg("progress").none());
  m.def("command_options", &CommandOptions);
  m.def("table", &TableOf);
  m.attr("GIVEN_USAGE") = std::string(tools::kGivenUsage);
}

}  // namespace taut::python
