// Helpers for tests of reports that search a document in its JSON form.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tools/report/document.h"

namespace taut::tools {

using Json = nlohmann::ordered_json;

inline Json Parsed(const Document& document) { return Json::parse(DocumentJson(document)); }

// Returns all parts of a kind in the section titled `section`; empty if the document has no such section.
inline std::vector<Json> PartsOf(const Json& document, std::string_view section, std::string_view kind) {
  std::vector<Json> out;
  for (const Json& s : document["sections"]) {
    if (s["title"] != section) continue;
    for (const Json& part : s["parts"]) {
      if (part["is"] == kind) out.push_back(part);
    }
  }
  return out;
}

inline std::vector<std::string> TitlesOf(const Json& document) {
  std::vector<std::string> out;
  for (const Json& section : document["sections"]) out.push_back(section["title"]);
  return out;
}

inline std::vector<std::string> HeadsOf(const Json& table) {
  std::vector<std::string> out;
  for (const Json& column : table["columns"]) out.push_back(column["head"]);
  return out;
}

// Returns the names of a list's elements, such as a chart's lines or points.
inline std::vector<std::string> NamesOf(const Json& list) {
  std::vector<std::string> out;
  for (const Json& one : list) out.push_back(one["name"]);
  return out;
}

// Returns the answer of a document as one text, with the numbers in their JSON form.
inline std::string AnswerText(const Json& document) {
  std::string out;
  for (const Json& part : document["answer"])
    out += part.is_string()            ? part.get<std::string>()
           : part["value"].is_string() ? part["value"].get<std::string>()
                                       : part["value"].dump();
  return out;
}

}  // namespace taut::tools
