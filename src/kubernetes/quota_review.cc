#include "kubernetes/quota_review.h"

#include "base/json_writer.h"
#include "base/strings.h"

namespace taut {
namespace {

constexpr size_t kMaxWarning = 256, kMaxWarnings = 4096;

std::string Quoted(std::string_view text) {
  JsonWriter json;
  json.String(text);
  return json.Take();
}

// The first `most` bytes at the most, and no half of a character.
std::string_view Cut(std::string_view text, size_t most) {
  if (text.size() <= most) return text;
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0U) == 0x80U) --most;
  return text.substr(0, most);
}

}  // namespace

std::string QuotaAnswer(std::string_view uid, bool allowed, std::span<const std::string> sentences) {
  std::string out =
      StrCat(R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{"uid":)",
             Quoted(uid), R"(,"allowed":)", allowed ? "true" : "false");
  if (!allowed) {
    std::string message = "quota:";
    for (const std::string& sentence : sentences) StrAppend(&message, " ", sentence);
    StrAppend(&out, R"(,"status":{"code":403,"reason":"Forbidden","message":)", Quoted(message), "}");
  } else if (!sentences.empty()) {
    size_t left = kMaxWarnings;
    std::string warnings;
    for (const std::string& sentence : sentences) {
      const std::string whole = StrCat("quota: ", sentence);
      const std::string_view text = Cut(whole, kMaxWarning);
      if (text.size() > left) break;
      left -= text.size();
      StrAppend(&warnings, warnings.empty() ? "" : ",", Quoted(text));
    }
    StrAppend(&out, R"(,"warnings":[)", warnings, "]");
  }
  return StrCat(out, "}}");
}

}  // namespace taut
