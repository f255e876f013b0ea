// The parts of the module tautline._engine, each in its own source file.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>

#include "arrow_table.h"

namespace taut::python {

void BindCommands(nanobind::module_& m);
void BindRecommender(nanobind::module_& m);
void BindParts(nanobind::module_& m);
void BindAnalysis(nanobind::module_& m);

}  // namespace taut::python
