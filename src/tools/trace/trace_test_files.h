// Writes files for tests of the trace readers, and provides a sink that stores all rows.
#pragma once

#include <archive.h>
#include <archive_entry.h>
#include <isa-l/igzip_lib.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/testing/temp_dir.h"
#include "gtest/gtest.h"
#include "tools/trace/trace_reader.h"

namespace taut::tools {

// Compresses the text as one gzip member.
inline std::string Gzipped(std::string_view text) {
  isal_zstream stream;
  isal_deflate_init(&stream);
  std::string out(text.size() + text.size() / 8 + 4096, '\0');
  stream.gzip_flag = IGZIP_GZIP;
  stream.end_of_stream = 1;
  std::string in(text);
  stream.next_in = reinterpret_cast<uint8_t*>(in.data());
  stream.avail_in = static_cast<uint32_t>(in.size());
  stream.next_out = reinterpret_cast<uint8_t*>(out.data());
  stream.avail_out = static_cast<uint32_t>(out.size());
  EXPECT_EQ(isal_deflate(&stream), COMP_OK);
  out.resize(out.size() - stream.avail_out);
  return out;
}

enum class ArchiveKind { kZip, kTarGz };

// Writes an archive with entries of the given names and contents.
inline void WriteArchive(const std::string& path, ArchiveKind kind,
                         const std::vector<std::pair<std::string, std::string>>& entries) {
  archive* out = archive_write_new();
  if (kind == ArchiveKind::kZip) {
    archive_write_set_format_zip(out);
  } else {
    archive_write_add_filter_gzip(out);
    archive_write_set_format_pax_restricted(out);
  }
  ASSERT_EQ(archive_write_open_filename(out, path.c_str()), ARCHIVE_OK);
  for (const auto& [name, bytes] : entries) {
    archive_entry* entry = archive_entry_new();
    archive_entry_set_pathname(entry, name.c_str());
    archive_entry_set_size(entry, static_cast<la_int64_t>(bytes.size()));
    archive_entry_set_filetype(entry, AE_IFREG);
    archive_entry_set_perm(entry, 0644);
    ASSERT_EQ(archive_write_header(out, entry), ARCHIVE_OK);
    archive_write_data(out, bytes.data(), bytes.size());
    archive_entry_free(entry);
  }
  archive_write_close(out);
  archive_write_free(out);
}

// Stores all calls, and checks that readers keep their guarantees to every sink.
class KeepingSink final : public TraceSink {
 public:
  struct Limit {
    uint32_t job;
    int64_t time_us;
    std::optional<float> cpu, memory;
  };
  void OnJob(JobId id, const JobInfo& info) override {
    EXPECT_EQ(id.value, jobs.size()) << "ids are dense and ascending";
    jobs.push_back(info);
  }
  void OnUsage(const UsageRow& row) override {
    EXPECT_LT(row.job.value, jobs.size()) << "a job comes before its rows";
    EXPECT_LT(row.start.us, row.end.us);
    rows.push_back(row);
  }
  void OnLimit(JobId id, Timestamp t, std::optional<float> cpu, std::optional<float> memory) override {
    EXPECT_LT(id.value, jobs.size()) << "a job comes before its limits";
    limits.push_back({id.value, t.us, cpu, memory});
  }

  std::vector<JobInfo> jobs;
  std::vector<UsageRow> rows;  // spans in these rows are no longer valid
  std::vector<Limit> limits;
};

struct ReadResult {
  absl::Status status;
  KeepingSink sink;
  ReadReport report;

  uint64_t Skipped(const std::string& cause) const {
    const auto found = report.skipped.find(cause);
    return found == report.skipped.end() ? 0 : found->second.count;
  }
  uint64_t AllSkipped() const {
    uint64_t n = 0;
    for (const auto& [cause, what] : report.skipped) n += what.count;
    return n;
  }
};

inline ReadResult ReadWith(const TraceOptions& options) {
  ReadResult r;
  r.status = ReadTrace(options, r.sink, r.report);
  return r;
}
inline ReadResult ReadPaths(std::vector<std::string> paths) {
  TraceOptions options;
  options.paths = std::move(paths);
  return ReadWith(options);
}

}  // namespace taut::tools
