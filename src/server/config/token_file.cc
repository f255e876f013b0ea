// Reads tokens and other secrets, each from a separate file.
#include <algorithm>

#include "common/base/nearest.h"
#include "common/base/printable.h"
#include "common/base/strings.h"
#include "common/settings/file_text.h"
#include "server/config/daemon_config.h"

namespace taut::server {
namespace {

constexpr size_t kMaxNameBytes = 64;
constexpr size_t kMaxSecretBytes = size_t{64} << 10;

// Returns the bytes of a file with secrets. Errors do not contain any of these bytes.
absl::StatusOr<std::string> ReadSmallFile(const std::string& path) {
  std::optional<std::string> text = ReadFileText(path, kMaxSecretBytes);
  if (!text.has_value()) return absl::NotFoundError(StrCat("cannot read the secret file ", path));
  if (text->size() > kMaxSecretBytes)
    return absl::InvalidArgumentError(StrCat(path, ": too large for a secret"));
  return *std::move(text);
}

// Parses "owner shop,media anna": the text after the token in a file of groups' tokens.
absl::Status TakeBindings(std::string_view text, AccessToken& token) {
  const auto next = [&text] {
    const size_t blank = std::min(text.find_first_of(" \t"), text.size());
    const std::string_view word = text.substr(0, blank);
    text = StripSpace(text.substr(blank));
    return word;
  };
  const std::string_view role = next();
  const std::optional<GroupRole> as = GroupRoleNamed(role);
  if (!as.has_value()) {
    // The text may be a misplaced token, so the error must not contain it.
    return absl::InvalidArgumentError(
        StrCat("no role after the token: expected ", Join(kGroupRoleNames, ", ")));
  }
  for (const std::string_view group : Split(next(), ',')) {
    if (!group.empty()) token.bindings.push_back({std::string(group), *as});
  }
  if (token.bindings.empty()) return absl::InvalidArgumentError("no group after the role");
  if (text.empty()) {
    return absl::InvalidArgumentError("no name after the groups: what the person does is recorded under it");
  }
  token.name = text;
  return absl::OkStatus();
}

// Adds a token. A token on several lines gets the bindings of all these lines.
void AddBound(AccessToken token, std::vector<AccessToken>& tokens) {
  for (AccessToken& known : tokens) {
    if (known.token != token.token) continue;
    known.bindings.insert(known.bindings.end(), token.bindings.begin(), token.bindings.end());
    return;
  }
  tokens.push_back(std::move(token));
}

enum class TokenLines : uint8_t { kNamed, kBound };

absl::Status ReadTokens(const std::string& path, std::vector<AccessToken>& tokens,
                        TokenLines form = TokenLines::kNamed) {
  if (path.empty()) return absl::OkStatus();
  const absl::StatusOr<std::string> text = ReadSmallFile(path);
  if (!text.ok()) return text.status();
  int number = 0;
  for (const std::string_view line : Split(*text, '\n')) {
    ++number;
    const std::string_view both = StripSpace(line.substr(0, line.find('#')));
    if (both.empty()) continue;
    const size_t blank = both.find_first_of(" \t");
    const std::string_view rest =
        blank == std::string_view::npos ? std::string_view() : StripSpace(both.substr(blank));
    AccessToken token(std::string(both.substr(0, blank)), std::string(rest));
    if (absl::Status s = CheckToken(token.token); !s.ok())
      return absl::InvalidArgumentError(StrCat(path, ":", number, ": ", Message(s)));
    if (form == TokenLines::kBound) {
      if (absl::Status s = TakeBindings(rest, token); !s.ok())
        return absl::InvalidArgumentError(StrCat(path, ":", number, ": ", Message(s)));
    }
    if (token.name.size() > kMaxNameBytes || !IsPrintableUtf8(token.name)) {
      return absl::InvalidArgumentError(StrCat(
          path, ": invalid name after a token: expected printable text of up to ", kMaxNameBytes, " bytes"));
    }
    if (form == TokenLines::kBound) {
      AddBound(std::move(token), tokens);
    } else {
      tokens.push_back(std::move(token));
    }
  }
  if (tokens.empty()) {
    return absl::InvalidArgumentError(
        StrCat(path, ": contains no token; create one with `openssl rand -hex 32 > ", path, "`"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ServerOptions> OpenServerOptions(const ServerConfig& config) {
  ServerOptions options = config.options;
  if (absl::Status s = ReadTokens(config.writer_tokens_file, options.writer_tokens); !s.ok()) return s;
  if (absl::Status s = ReadTokens(config.group_tokens_file, options.group_tokens, TokenLines::kBound);
      !s.ok())
    return s;
  if (absl::Status s = ReadTokens(config.reader_tokens_file, options.reader_tokens); !s.ok()) return s;
  if (absl::Status s = ReadTokens(config.platform_tokens_file, options.platform_tokens); !s.ok()) return s;
  if (absl::Status s = ReadTokens(config.operator_tokens_file, options.operator_tokens); !s.ok()) return s;
  if (absl::Status s = options.Check(); !s.ok()) return s;
  return options;
}

absl::Status CheckBoundGroup(std::string_view where, const GroupBinding& binding,
                             const std::string& quota_file, std::span<const std::string> groups) {
  if (quota_file.empty()) {
    return absl::InvalidArgumentError(
        StrCat(where, " binds to group \"", binding.group,
               "\", but quota.file is empty: groups are those of a quota file"));
  }
  if (std::ranges::find(groups, binding.group) != groups.end()) return absl::OkStatus();
  const std::vector<std::string_view> known(groups.begin(), groups.end());
  return absl::InvalidArgumentError(StrCat(where, " binds to group \"", Printable(binding.group),
                                           "\", which is not in ", quota_file, "; did you mean \"",
                                           NearestName(binding.group, known), "\"?"));
}

absl::Status CheckBoundGroups(const ServerConfig& config, const ServerOptions& options,
                              const std::string& quota_file, std::span<const std::string> groups) {
  for (const AccessToken& token : options.group_tokens) {
    for (const GroupBinding& binding : token.bindings) {
      const std::string where = StrCat(config.group_tokens_file, ": the token of ", token.name);
      if (absl::Status s = CheckBoundGroup(where, binding, quota_file, groups); !s.ok()) return s;
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::string>> ReadTokenFile(const std::string& path) {
  std::vector<AccessToken> tokens;
  if (absl::Status s = ReadTokens(path, tokens); !s.ok()) return s;
  std::vector<std::string> out;
  for (AccessToken& token : tokens) out.push_back(std::move(token.token));
  return out;
}

absl::StatusOr<std::string> ReadSecretFile(const std::string& path) {
  if (path.empty()) return std::string();
  const absl::StatusOr<std::string> text = ReadSmallFile(path);
  if (!text.ok()) return text.status();
  const std::string_view secret = StripSpace(*text);
  if (secret.empty() || secret.find('\n') != std::string_view::npos) {
    return absl::InvalidArgumentError(StrCat(path, ": must be one line with the secret"));
  }
  return std::string(secret);
}

}  // namespace taut::server
