#include "tools/report/static_page.h"

#include "common/base/html_text.h"
#include "common/base/strings.h"
#include "tools/report/svg_chart.h"

namespace taut::tools {
namespace {

constexpr std::string_view kStyle =
    "body{font:15px/1.5 system-ui,sans-serif;max-width:68em;margin:2em auto;padding:0 1em;color:#1d2733;"
    "background:#fff}"
    "h1{font-size:1.5em}h2{font-size:1.15em;margin-top:2em}h3{font-size:1em;margin:1.2em 0 0}"
    "table{border-collapse:collapse;margin:1em 0;display:block;overflow-x:auto}"
    "th,td{padding:.25em .6em;border-bottom:1px solid #dde3ea;text-align:right}td{white-space:nowrap}"
    "th{font-size:.85em}"
    "th:first-child,td:first-child{text-align:left}.muted{color:#5d6b7b}svg{max-width:100%;height:auto}"
    "td.published{color:#5d6b7b}"
    // Charts have the colours of the light page; inverting turns their lightness and keeps their hues.
    ":root{color-scheme:light dark}"
    "@media(prefers-color-scheme:dark){body{color:#e5eaf0;background:#0e1318}th,td{border-color:#2b343f}"
    ".muted,td.published{color:#9ba8b6}svg{filter:invert(.88) hue-rotate(180deg)}}";

}  // namespace

std::string StaticPageHead(std::string_view title) {
  return StrCat(
      "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport "
      "content=\"width=device-width\"><title>",
      EscapedHtml(title), "</title><style>", kStyle, "</style><h1>", EscapedHtml(title), "</h1>");
}

std::string TableCell(std::string_view text) { return StrCat("<td>", EscapedHtml(text), "</td>"); }

}  // namespace taut::tools
