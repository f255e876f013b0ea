#include "common/boosting/train_forest.h"

#include <xgboost/c_api.h>

#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "common/base/strings.h"
#include "common/json/json_tree.h"
#include "fmt/format.h"

namespace taut {
namespace {

absl::Status Checked(int code) {
  if (code == 0) return absl::OkStatus();
  std::string_view message = XGBGetLastError();
  return absl::InternalError(StrCat("XGBoost: ", message.substr(0, message.find('\n'))));
}

// A handle of XGBoost with the function that frees it.
class Handle {
 public:
  explicit Handle(int (*free)(void*)) : free_(free) {}
  ~Handle() {
    if (handle_ != nullptr) free_(handle_);
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  void** out() { return &handle_; }
  void* get() const { return handle_; }

 private:
  int (*free_)(void*);
  void* handle_ = nullptr;
};

absl::Status SetParameters(void* booster, const BoostingSettings& s, size_t features, uint64_t seed) {
  std::string constraints = "(";
  for (size_t f = 0; f < features; ++f) constraints += "0,";
  constraints += "-1)";
  const std::pair<const char*, std::string> parameters[] = {
      {"objective", "binary:logistic"},
      {"base_score", "0.5"},  // so that the score is the sum of the leaves
      {"tree_method", "hist"},
      {"grow_policy", "lossguide"},
      {"max_depth", "0"},
      {"max_leaves", fmt::format("{}", s.leaves)},
      {"max_bin", fmt::format("{}", s.bins)},
      {"eta", fmt::format("{}", s.learning_rate)},
      {"subsample", fmt::format("{}", s.rows_per_tree)},
      {"colsample_bytree", fmt::format("{}", s.features_per_tree)},
      {"min_child_weight", fmt::format("{}", s.least_weight)},
      {"lambda", fmt::format("{}", s.ridge)},
      {"monotone_constraints", constraints},
      {"nthread", "1"},  // sums of floats depend on the number of threads
      {"seed", fmt::format("{}", seed % std::numeric_limits<int32_t>::max())},
      {"verbosity", "0"},
  };
  for (const auto& [key, value] : parameters) {
    if (absl::Status status = Checked(XGBoosterSetParam(booster, key, value.c_str())); !status.ok())
      return status;
  }
  return absl::OkStatus();
}

std::vector<double> Numbers(JsonNode array) {
  std::vector<double> numbers;
  array.ForEachItem([&](JsonNode item) { numbers.push_back(item.number().value_or(0)); });
  return numbers;
}

// Reads a tree of a model in XGBoost's JSON. The nodes are renumbered, so that siblings are adjacent.
absl::StatusOr<BoostedForest::Tree> ReadTree(JsonNode json) {
  const std::vector<double> left = Numbers(json["left_children"]), right = Numbers(json["right_children"]),
                            value = Numbers(json["split_conditions"]),
                            feature = Numbers(json["split_indices"]),
                            missing_left = Numbers(json["default_left"]);
  const size_t size = left.size();
  const absl::Status odd = absl::InternalError("XGBoost: a tree of an unknown form");
  if (size == 0 || right.size() != size || value.size() != size || feature.size() != size ||
      missing_left.size() != size)
    return odd;
  BoostedForest::Tree tree(1);
  std::vector<size_t> from = {0};  // XGBoost's numbers by the new numbers
  for (size_t i = 0; i < tree.size() && tree.size() <= size; ++i) {
    const size_t old = from[i];
    BoostedForest::Node node;
    node.value = static_cast<float>(value[old]);
    if (left[old] >= 0) {
      const auto children = {static_cast<size_t>(left[old]), static_cast<size_t>(right[old])};
      if (std::max(children) >= size) return odd;
      node.left = static_cast<uint16_t>(tree.size());
      node.feature = static_cast<uint8_t>(feature[old]);
      node.missing_left = missing_left[old] != 0;
      from.insert(from.end(), children);
      tree.resize(tree.size() + 2);
    }
    tree[i] = node;
  }
  if (tree.size() > size) return odd;
  return tree;
}

absl::StatusOr<BoostedForest> ReadModel(void* booster, size_t features, std::span<const float> grid) {
  bst_ulong size = 0;
  const char* bytes = nullptr;
  if (absl::Status s = Checked(XGBoosterSaveModelToBuffer(booster, R"({"format": "json"})", &size, &bytes));
      !s.ok())
    return s;
  JsonTree json;
  if (absl::Status s = json.Parse({bytes, size}); !s.ok()) return s;
  std::vector<BoostedForest::Tree> trees;
  absl::Status status;
  json.root()["learner"]["gradient_booster"]["model"]["trees"].ForEachItem([&](JsonNode node) {
    absl::StatusOr<BoostedForest::Tree> tree = ReadTree(node);
    if (tree.ok()) {
      trees.push_back(std::move(*tree));
    } else {
      status = tree.status();
    }
  });
  if (!status.ok()) return status;
  if (trees.empty()) return absl::InternalError("XGBoost: a model without trees");
  return BoostedForest::Make(features, {grid.begin(), grid.end()}, trees);
}

}  // namespace

absl::StatusOr<BoostedForest> TrainForest(const BoostingRows& rows, std::span<const float> grid,
                                          const BoostingSettings& settings, uint64_t seed) {
  const size_t columns = rows.features + 1, count = rows.shares.size();
  if (count == 0 || rows.cells.size() != count * columns)
    return absl::InvalidArgumentError("training of a forest without rows");
  Handle matrix(XGDMatrixFree), booster(XGBoosterFree);
  absl::Status s = Checked(XGDMatrixCreateFromMat(rows.cells.data(), count, columns,
                                                  std::numeric_limits<float>::quiet_NaN(), matrix.out()));
  if (s.ok()) s = Checked(XGDMatrixSetFloatInfo(matrix.get(), "label", rows.shares.data(), count));
  const DMatrixHandle data[] = {matrix.get()};
  if (s.ok()) s = Checked(XGBoosterCreate(data, 1, booster.out()));
  if (s.ok()) s = SetParameters(booster.get(), settings, rows.features, seed);
  for (int i = 0; s.ok() && i < settings.trees; ++i)
    s = Checked(XGBoosterUpdateOneIter(booster.get(), i, matrix.get()));
  if (!s.ok()) return s;
  return ReadModel(booster.get(), rows.features, grid);
}

}  // namespace taut
