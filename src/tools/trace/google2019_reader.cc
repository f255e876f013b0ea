// Adapts Google2019Parser to FormatReader.
#include "tools/trace/format_reader.h"
#include "tools/trace/google2019.h"

namespace taut::tools {
namespace {

class Google2019Reader final : public FormatReader {
 public:
  explicit Google2019Reader(const ReadContext& context)
      : parser_(context.options, context.sink, context.report) {}

  absl::Status BeginFile(std::string_view name, int table) override {
    name_ = name;
    table_ = static_cast<GoogleTable>(table);
    return absl::OkStatus();
  }
  absl::Status ReadLines(const LineBlock& block) override {
    static_assert(LineBlocks::kPadding >= Google2019Parser::kPadding);
    return parser_.ParseLines(table_, name_, block.first_line, block.lines);
  }
  absl::Status Finish() override {
    parser_.Finish();
    return absl::OkStatus();
  }

 private:
  Google2019Parser parser_;
  std::string name_;
  GoogleTable table_ = GoogleTable::kInstanceUsage;
};

}  // namespace

std::unique_ptr<FormatReader> NewGoogle2019Reader(const ReadContext& context) {
  return std::make_unique<Google2019Reader>(context);
}

}  // namespace taut::tools
