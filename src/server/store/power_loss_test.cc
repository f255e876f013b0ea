// Tests a loss of power, in which data that were not synced may be lost in whole or in part. A virtual file system
// between SQLite and the real file system remembers the synced data.
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <map>
#include <random>
#include <sstream>

#include "common/testing/test_scale.h"
#include "server/store/sqlite_store.h"
#include "server/store/store_fixture.h"

namespace taut::server {
namespace {

constexpr size_t kSectorBytes = 512;

std::string Contents(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return std::move(text).str();
}

// Synced contents, by path.
std::map<std::string, std::string>& Synced() {
  static std::map<std::string, std::string> synced;
  return synced;
}

// A file of the real file system with its path. xSync stores the synced contents.
struct WatchedFile {
  sqlite3_file base;
  const char* path;  // SQLite keeps the text until the file is closed
  sqlite3_file* real;
};
sqlite3_file* Real(sqlite3_file* file) { return reinterpret_cast<WatchedFile*>(file)->real; }

int Sync(sqlite3_file* file, int flags) {
  const int code = Real(file)->pMethods->xSync(Real(file), flags);
  const char* path = reinterpret_cast<WatchedFile*>(file)->path;
  if (code == SQLITE_OK && path != nullptr) Synced()[path] = Contents(path);
  return code;
}
int Close(sqlite3_file* file) {
  const int code = Real(file)->pMethods->xClose(Real(file));
  sqlite3_free(Real(file));
  return code;
}

const sqlite3_io_methods* Methods() {
  static const sqlite3_io_methods methods = [] {
    sqlite3_io_methods m{};
    m.iVersion = 2;
    m.xClose = Close;
    m.xSync = Sync;
    m.xRead = [](sqlite3_file* f, void* to, int n, sqlite3_int64 at) {
      return Real(f)->pMethods->xRead(Real(f), to, n, at);
    };
    m.xWrite = [](sqlite3_file* f, const void* from, int n, sqlite3_int64 at) {
      return Real(f)->pMethods->xWrite(Real(f), from, n, at);
    };
    m.xTruncate = [](sqlite3_file* f, sqlite3_int64 n) { return Real(f)->pMethods->xTruncate(Real(f), n); };
    m.xFileSize = [](sqlite3_file* f, sqlite3_int64* n) { return Real(f)->pMethods->xFileSize(Real(f), n); };
    m.xLock = [](sqlite3_file* f, int level) { return Real(f)->pMethods->xLock(Real(f), level); };
    m.xUnlock = [](sqlite3_file* f, int level) { return Real(f)->pMethods->xUnlock(Real(f), level); };
    m.xCheckReservedLock = [](sqlite3_file* f, int* held) {
      return Real(f)->pMethods->xCheckReservedLock(Real(f), held);
    };
    m.xFileControl = [](sqlite3_file* f, int op, void* arg) {
      return Real(f)->pMethods->xFileControl(Real(f), op, arg);
    };
    m.xSectorSize = [](sqlite3_file*) { return static_cast<int>(kSectorBytes); };
    m.xDeviceCharacteristics = [](sqlite3_file*) { return 0; };  // the device guarantees nothing
    m.xShmMap = [](sqlite3_file* f, int page, int size, int extend, void volatile** to) {
      return Real(f)->pMethods->xShmMap(Real(f), page, size, extend, to);
    };
    m.xShmLock = [](sqlite3_file* f, int at, int n, int flags) {
      return Real(f)->pMethods->xShmLock(Real(f), at, n, flags);
    };
    m.xShmBarrier = [](sqlite3_file* f) { Real(f)->pMethods->xShmBarrier(Real(f)); };
    m.xShmUnmap = [](sqlite3_file* f, int remove) { return Real(f)->pMethods->xShmUnmap(Real(f), remove); };
    return m;
  }();
  return &methods;
}

sqlite3_vfs* RealVfs() { return sqlite3_vfs_find("unix"); }

int OpenFile(sqlite3_vfs*, const char* path, sqlite3_file* file, int flags, int* out_flags) {
  auto* watched = reinterpret_cast<WatchedFile*>(file);
  watched->base.pMethods = nullptr;
  watched->path = path;
  watched->real = static_cast<sqlite3_file*>(sqlite3_malloc(RealVfs()->szOsFile));
  const int code = RealVfs()->xOpen(RealVfs(), path, watched->real, flags, out_flags);
  if (code != SQLITE_OK) {
    sqlite3_free(watched->real);
    return code;
  }
  watched->base.pMethods = Methods();
  return SQLITE_OK;
}
int Delete(sqlite3_vfs*, const char* path, int sync_directory) {
  // A file whose deletion was not synced may reappear; in this simulation it reappears.
  if (sync_directory != 0) Synced().erase(path);
  return RealVfs()->xDelete(RealVfs(), path, sync_directory);
}

// While the object exists, all files that SQLite opens are recorded.
class WatchedFiles {
 public:
  WatchedFiles() {
    Synced().clear();
    vfs_ = *RealVfs();
    vfs_.zName = "watched";
    vfs_.szOsFile = sizeof(WatchedFile);
    vfs_.xOpen = OpenFile;
    vfs_.xDelete = Delete;
    sqlite3_vfs_register(&vfs_, 1);
  }
  ~WatchedFiles() {
    sqlite3_vfs_register(RealVfs(), 1);
    sqlite3_vfs_unregister(&vfs_);
  }

 private:
  sqlite3_vfs vfs_;
};

// Copies the files of `from` to `to` as a disk may have them after a loss of power: synced contents, and each
// later sector with probability `lucky`.
void LosePower(const TempDir& from, const TempDir& to, double lucky, std::mt19937& random) {
  std::bernoulli_distribution written(lucky);
  for (const char* name : {"store.db", "store.db-wal"}) {
    std::error_code ignored;
    std::filesystem::remove(to.File(name), ignored);
    const auto found = Synced().find(from.File(name));
    if (found == Synced().end()) continue;
    std::string bytes = found->second;
    const std::string now = Contents(from.File(name));
    if (now.size() > bytes.size() && written(random)) bytes.resize(now.size());
    for (size_t at = 0; at < std::min(bytes.size(), now.size()); at += kSectorBytes) {
      const size_t n = std::min({kSectorBytes, bytes.size() - at, now.size() - at});
      if (std::memcmp(&bytes[at], &now[at], n) != 0 && written(random)) bytes.replace(at, n, now, at, n);
    }
    std::ofstream(to.File(name), std::ios::binary) << bytes;
  }
}

// Checks that the store has the ledger's entries up to `last`, and `last` as its state. The next acknowledged pass
// must have synced these entries and the state.
void ExpectAll(int last, States& states) {
  int entries = 0;
  EXPECT_TRUE(states.budgets()
                  .Read([&](const RequestLogEntry& e) { EXPECT_EQ(e.text, StrCat(entries++)); },
                        [](const std::string& damage) { ADD_FAILURE() << damage; })
                  .ok());
  EXPECT_EQ(entries, last + 1);
  EXPECT_EQ(*states.Get("machines"), StrCat(last));
}

// Commits passes. After each pass, opens a copy of the files as they may be after a loss of power. `look` receives
// the number of passes in the copy and the number of acknowledged passes.
void CutThePower(SqliteStore::Sync sync, int passes, absl::FunctionRef<void(size_t, size_t)> look) {
  const TempDir dir, after;
  std::mt19937 random(11);
  const WatchedFiles watched;
  SqliteStore::Options options;
  options.path = dir.File("store.db");
  options.keep = {100'000, 100'000};
  options.regroup_after_hours = 0;
  options.sync = sync;
  auto store = SqliteStore::Open(options);
  ASSERT_TRUE(store.ok()) << store.status();
  PassMaker maker(1, 100, {20'000 * kWindowsPerDay});
  std::vector<std::string> states = {WindowsText(**store, {0}) + RestoreText(**store)};
  for (int i = 0; i < passes; ++i) {
    OwnedPass pass = maker.Pass(12);
    // The checkpoints are large, so that the log is reused from its start.
    pass.checkpoints = {{static_cast<uint32_t>(i % 3), {i}, std::string(800'000, 'c')}};
    const RequestLogEntry entry{static_cast<uint64_t>(i), i, "ann", StrCat(i)};
    ASSERT_TRUE((*store)->states().budgets().Append({&entry, 1}).ok());
    ASSERT_TRUE((*store)->states().Put("machines", entry.text).ok());
    ASSERT_TRUE((*store)->Commit(pass.View()).ok());
    if (i % 4 == 0) {
      ASSERT_TRUE((*store)->Maintain({maker.next_window() - 1}).ok());
    }
    states.push_back(WindowsText(**store, {0}) + RestoreText(**store));
    const double lucky[] = {0, 0.5, 0.95};
    LosePower(dir, after, lucky[i % 3], random);
    SqliteStore::Options again = options;
    again.path = after.File("store.db");
    const auto reopened = SqliteStore::Open(again);
    ASSERT_TRUE(reopened.ok()) << "pass " << i << ": " << reopened.status();
    const std::string state = WindowsText(**reopened, {0}) + RestoreText(**reopened);
    ASSERT_TRUE((*reopened)->damage().empty());
    const auto found = std::ranges::find(states, state);
    ASSERT_NE(found, states.end()) << "pass " << i << ": a state that never was";
    if (sync == SqliteStore::Sync::kPowerLoss) ExpectAll(i, (*reopened)->states());
    look(static_cast<size_t>(found - states.begin()), states.size() - 1);
  }
}

TEST(PowerLossTest, AcknowledgedPassesSurvive) {
  CutThePower(SqliteStore::Sync::kPowerLoss, Shortened(40),
              [](size_t found, size_t acknowledged) { EXPECT_EQ(found, acknowledged); });
}

// Without the syncs the last passes are lost, which shows that the test above detects losses.
TEST(PowerLossTest, WithoutSyncsOnlyTheLastPassesGo) {
  size_t lost = 0;
  CutThePower(SqliteStore::Sync::kProcess, Shortened(40),
              [&lost](size_t found, size_t acknowledged) { lost = std::max(lost, acknowledged - found); });
  EXPECT_GT(lost, 0U);
}

}  // namespace
}  // namespace taut::server
