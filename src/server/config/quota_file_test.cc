#include "server/config/quota_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/byte_units.h"
#include "common/base/strings.h"

namespace taut::server {
namespace {

std::string QuotaErrorOf(std::string_view yaml) {
  return std::string(Message(ParseQuotaFile(yaml, "q.yaml").status()));
}

TEST(QuotaFile, IsRead) {
  const absl::StatusOr<QuotaFile> file = ParseQuotaFile(R"(
groups:
  - name: pool
  - name: search
    parent: pool
    quotas:
      - {tier: production, resource: cpu, nominal: 9.5, borrowing_limit: 1}
      - {tier: production, resource: memory, nominal: 64GiB, lending_limit: 0B}
      - {tier: production, resource: gpu, nominal: 3}
  - {name: maps, parent: pool, max_requests: 20}
pools:
  - {name: friends, members: [search, maps], tiers: [production]}
in_use:
  - {group: search, tier: production, cpu: 2, memory: 4GiB, gpu: 1, until: "2026-03-01T12:00:00Z"}
  - {group: search, tier: production, cpu: 1, until: "2026-02-01T12:00:00Z"}
)",
                                                        "q.yaml");
  ASSERT_TRUE(file.ok()) << file.status();
  const brain::QuotaGroup& search = file->spec.groups.at(1);
  EXPECT_EQ(search.quotas.at(0).nominal, 9500);
  EXPECT_EQ(search.quotas.at(0).borrowing_limit, 1000);
  EXPECT_EQ(search.quotas.at(1).nominal, static_cast<int64_t>(64 * kGiB));
  EXPECT_EQ(search.quotas.at(1).lending_limit, 0);
  EXPECT_FALSE(search.quotas.at(2).lending_limit.has_value());
  EXPECT_FALSE(search.max_requests.has_value());
  EXPECT_EQ(file->spec.groups.at(2).max_requests, 20);
  EXPECT_EQ(file->in_use.at(0).amounts.Get("gpu"), 1);
  ASSERT_EQ(file->releases.size(), 2U);
  EXPECT_EQ(file->releases[0].use.amounts.Get("cpu"), 1000) << "in the order of their time";
  EXPECT_TRUE(brain::QuotaTree::Make(file->spec, file->in_use).ok());
}

TEST(QuotaFile, HasTheCapacityOfTheMachines) {
  const absl::StatusOr<QuotaFile> file = ParseQuotaFile(R"(
groups: [{name: a}]
capacity:
  - {resource: cpu, amount: 100, availability: 97.5%, oversold: accept}
  - {resource: memory, amount: 1TiB, availability: 0.5, oversold: refuse}
  - {resource: gpu, amount: 8}
)",
                                                        "q.yaml");
  ASSERT_TRUE(file.ok()) << file.status();
  const std::vector<brain::QuotaCapacity>& capacity = file->spec.capacity;
  ASSERT_EQ(capacity.size(), 3U);
  EXPECT_EQ(capacity[0].in_service(), 97'500);
  EXPECT_TRUE(capacity[0].accepts_oversold);
  EXPECT_EQ(capacity[1].in_service(), int64_t{1} << 39);
  EXPECT_FALSE(capacity[1].accepts_oversold);
  EXPECT_EQ(capacity[2].in_service(), 8);
  EXPECT_EQ(QuotaErrorOf("capacity: [{resource: cpu}]"),
            "q.yaml:1: expected a capacity with resource and amount");
  for (const char* bad : {"0", "101%", "1.1", "nan", "-1%", "x%"}) {
    EXPECT_EQ(QuotaErrorOf(StrCat("capacity: [{resource: cpu, amount: 1, availability: ", bad, "}]")),
              StrCat("q.yaml:1: availability: \"", bad, "\": expected above 0 and at most 100%"));
  }
  EXPECT_EQ(QuotaErrorOf("capacity: [{resource: cpu, amount: 1, oversold: yes}]"),
            "q.yaml:1: oversold: \"yes\": expected accept or refuse");
}

TEST(QuotaFile, SaysWhereAndWhatIsWrong) {
  EXPECT_EQ(QuotaErrorOf(""), "q.yaml: there are no groups");
  EXPECT_EQ(QuotaErrorOf("group: []"), "q.yaml:1: unknown key \"group\"; did you mean \"groups\"?");
  EXPECT_EQ(QuotaErrorOf("groups:\n  - {name: a, quotas: [{tier: t, resource: cpu, nominal: many}]}"),
            "q.yaml:2: nominal: \"many\": expected a number of cores such as 1.5");
  EXPECT_EQ(QuotaErrorOf("groups:\n  - {name: a, quotas: [{resource: cpu, nominal: 1}]}"),
            "q.yaml:2: expected a quota with tier, resource and nominal");
  EXPECT_EQ(QuotaErrorOf("groups: [{name: a, max_requests: -1}]"),
            "q.yaml:1: max_requests: \"-1\": expected 0 to 1000000");
  EXPECT_EQ(QuotaErrorOf("in_use: [{group: a, tier: t, gpu: 1.5}]"),
            "q.yaml:1: gpu: \"1.5\": expected a whole number");
  EXPECT_EQ(QuotaErrorOf("in_use: [{group: a, tier: t, until: noon}]"),
            "q.yaml:1: until: \"noon\" is not a time; expected one such as 2026-03-01T12:00:00Z");
  EXPECT_EQ(QuotaErrorOf("in_use: [3]"), "q.yaml:1: in_use: expected keys and values");
}

}  // namespace
}  // namespace taut::server
