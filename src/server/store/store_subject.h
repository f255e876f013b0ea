// Both implementations of Store, for tests of their common contract.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>

#include "server/store/in_memory_store.h"
#include "server/store/sqlite_store.h"
#include "server/store/store_fixture.h"

namespace taut::server {

// Store and History of one implementation. Reopen() closes and opens the file of a SqliteStore, like a
// restart.
class Subject {
 public:
  virtual ~Subject() = default;
  virtual Store& store() = 0;
  virtual History& history() = 0;
  virtual States& states() = 0;
  virtual void Reopen() {}
};

class MemorySubject final : public Subject {
 public:
  explicit MemorySubject(const Retention& keep) : store_(keep) {}
  Store& store() override { return store_; }
  History& history() override { return store_; }
  States& states() override { return store_.states(); }

 private:
  InMemoryStore store_;
};

class SqliteSubject final : public Subject {
 public:
  explicit SqliteSubject(const Retention& keep, int32_t regroup_after_hours = 0) {
    options_.path = dir_.File("store.db");
    options_.keep = keep;
    options_.sync = SqliteStore::Sync::kProcess;
    options_.regroup_after_hours = regroup_after_hours;
    Reopen();
  }
  Store& store() override { return *store_; }
  History& history() override { return *store_; }
  States& states() override { return store_->states(); }
  void Reopen() override {
    store_.reset();
    auto opened = SqliteStore::Open(options_);
    if (!opened.ok()) throw std::runtime_error(opened.status().ToString());
    store_ = *std::move(opened);
  }

 private:
  TempDir dir_;
  SqliteStore::Options options_;
  std::unique_ptr<SqliteStore> store_;
};

enum class Which { kMemory, kSqlite };
inline std::unique_ptr<Subject> Make(Which which, const Retention& keep = {}) {
  if (which == Which::kMemory) return std::make_unique<MemorySubject>(keep);
  return std::make_unique<SqliteSubject>(keep);
}

inline void MaintainAll(Store& store, WindowId now) {
  for (int calls = 0; calls < 10'000; ++calls) {
    const absl::StatusOr<bool> more = store.Maintain(now);
    ASSERT_TRUE(more.ok()) << more.status();
    if (!*more) return;
  }
  FAIL() << "no end of housekeeping";
}

}  // namespace taut::server
