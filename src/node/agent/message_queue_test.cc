#include "node/agent/message_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <vector>

#include "common/testing/temp_dir.h"

namespace taut::node {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

using Content = std::map<uint64_t, std::string>;

MessageQueueOptions At(const std::string& path, uint64_t max_bytes = 1 << 20,
                       uint64_t segment_bytes = 1 << 16) {
  MessageQueueOptions out;
  out.path = path;
  out.max_bytes = max_bytes;
  out.segment_bytes = segment_bytes;
  out.new_number = 4711;
  return out;
}

std::unique_ptr<MessageQueue> Open(const MessageQueueOptions& options) {
  auto queue = MessageQueue::Open(options);
  EXPECT_TRUE(queue.ok()) << queue.status();
  return std::move(queue).value();
}

Content All(MessageQueue& queue) {
  Content out;
  uint64_t after = 0;
  while (auto message = queue.Next(after)) {
    EXPECT_GT(message->sequence, after);
    after = message->sequence;
    out.emplace(after, std::move(message->bytes));
  }
  return out;
}

uint64_t Append(MessageQueue& queue, const std::string& bytes, int64_t now_us = 0) {
  const uint64_t sequence = queue.next_sequence();
  queue.Append(bytes, now_us);
  return sequence;
}

std::vector<std::string> Segments(const std::string& path) {
  std::vector<std::string> out;
  for (const auto& entry : fs::directory_iterator(path)) {
    if (entry.path().extension() == ".segment") out.push_back(entry.path().string());
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::string ReadBytes(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}
void WriteBytes(const std::string& file, const std::string& bytes) {
  std::ofstream(file, std::ios::binary | std::ios::trunc)
      .write(bytes.data(), static_cast<long>(bytes.size()));
}
// Copies the files that a kill at this moment would leave.
void CopyTo(const std::string& from, const std::string& to) {
  fs::remove_all(to);
  fs::copy(from, to, fs::copy_options::recursive);
}

TEST(MessageQueue, GivesBackInOrderUntilAcknowledged) {
  for (const bool on_disk : {true, false}) {
    const TempDir dir{TempDir::Where::kMemory};
    const auto queue = Open(At(on_disk ? dir.File("queue") : ""));
    EXPECT_EQ(queue->next_sequence(), 1U);
    EXPECT_FALSE(queue->Next(0));
    for (int i = 1; i <= 5; ++i) EXPECT_EQ(Append(*queue, StrCat("message ", i)), static_cast<uint64_t>(i));
    EXPECT_EQ(queue->messages(), 5U);
    EXPECT_EQ(queue->bytes(), 5 * (9 + kRecordHeaderBytes));
    EXPECT_EQ(queue->Next(3)->bytes, "message 4");
    EXPECT_EQ(queue->Next(0)->bytes, "message 1");
    queue->Acknowledge(3);
    EXPECT_EQ(queue->Next(0)->bytes, "message 4");
    EXPECT_EQ(queue->messages(), 2U);
    EXPECT_EQ(queue->bytes(), 2 * (9 + kRecordHeaderBytes));
    queue->Acknowledge(2);  // older than an earlier acknowledgement
    queue->Acknowledge(1000);
    EXPECT_FALSE(queue->Next(0));
    EXPECT_EQ(queue->messages(), 0U);
    EXPECT_EQ(queue->bytes(), 0U);
    EXPECT_EQ(queue->stored_bytes(), 0U);
    EXPECT_EQ(Append(*queue, "6"), 6U);
    EXPECT_EQ(queue->Next(0)->sequence, 6U);
    EXPECT_EQ(queue->error(), "");
    EXPECT_EQ(queue->Sync(), on_disk);
  }
}

TEST(MessageQueue, OutlivesItsProcess) {
  const TempDir dir{TempDir::Where::kMemory};
  {
    const auto queue = Open(At(dir.File("deep/er")));
    EXPECT_EQ(queue->number(), 4711U);
    for (int i = 0; i < 10; ++i) Append(*queue, StrCat(i));
    queue->Acknowledge(4);
    CopyTo(dir.File("deep/er"), dir.File("killed"));
  }
  MessageQueueOptions options = At(dir.File("deep/er"));
  options.new_number = 1;
  {
    const auto queue = Open(options);
    EXPECT_EQ(queue->number(), 4711U);
    EXPECT_EQ(queue->messages(), 6U);
    EXPECT_EQ(All(*queue).begin()->second, "4");
    EXPECT_EQ(Append(*queue, "10"), 11U) << "closed as it should be: no sequence is left out";
  }
  const auto killed = Open(At(dir.File("killed")));
  EXPECT_EQ(killed->messages(), 6U);
  EXPECT_EQ(killed->number(), 4711U);
  EXPECT_GT(Append(*killed, "10"), 11U) << "the disk may have lost the last ones, the daemon perhaps not";
  EXPECT_EQ(killed->damaged_segments(), 0U);
}

TEST(MessageQueue, IsForOneProcess) {
  const TempDir dir{TempDir::Where::kMemory};
  auto first = Open(At(dir.File("queue")));
  const auto second = MessageQueue::Open(At(dir.File("queue")));
  EXPECT_EQ(second.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(Message(second.status()),
              testing::AllOf(HasSubstr("another process"), HasSubstr("/queue/state")));
  first.reset();
  EXPECT_TRUE(MessageQueue::Open(At(dir.File("queue"))).ok());
  WriteBytes(dir.File("file"), "x");
  EXPECT_THAT(Message(MessageQueue::Open(At(dir.File("file"))).status()), HasSubstr("is not a directory"));
  EXPECT_FALSE(MessageQueue::Open(At(dir.File("zero"), 0)).ok());
}

TEST(MessageQueue, LetsTheOldestSegmentGo) {
  const TempDir dir{TempDir::Where::kMemory};
  const std::string kilobyte(1000, 'x');
  const auto queue = Open(At(dir.File("queue"), 20'000, 4'000));
  for (int i = 0; i < 100; ++i) {
    const uint64_t sequence = Append(*queue, kilobyte);
    EXPECT_LE(queue->stored_bytes(), 20'000U);
    EXPECT_EQ(queue->messages() + queue->dropped(), static_cast<uint64_t>(i + 1));
    EXPECT_EQ(All(*queue).rbegin()->first, sequence);
  }
  EXPECT_GE(queue->messages(), 15U);
  EXPECT_LE(Segments(dir.File("queue")).size(), 7U);
  // A message that is longer than the whole queue.
  const uint64_t dropped = queue->dropped();
  Append(*queue, std::string(30'000, 'x'));
  EXPECT_EQ(queue->dropped(), dropped + 1);
  EXPECT_EQ(queue->messages() + queue->dropped(), 101U);

  const auto memory = Open(At("", 20'000, 4'000));
  for (int i = 0; i < 100; ++i) Append(*memory, kilobyte);
  EXPECT_EQ(memory->messages(), 19U);
  EXPECT_EQ(memory->dropped(), 81U);
}

TEST(MessageQueue, RemembersHowManyItDropped) {
  const TempDir dir{TempDir::Where::kMemory};
  for (int run = 0; run < 2; ++run) {
    const auto queue = Open(At(dir.File("queue"), 1000, 300));
    EXPECT_EQ(queue->dropped() > 0, run > 0);
    for (int i = 0; i < 50; ++i) Append(*queue, std::string(100, 'x'));
  }
}

TEST(MessageQueue, CutsATornTailOffAtAnyByte) {
  const TempDir dir{TempDir::Where::kMemory};
  const std::string path = dir.File("queue");
  std::vector<uint64_t> ends;  // lengths of the file after each message
  {
    const auto queue = Open(At(path));
    for (const char* text : {"first", "", "a third and somewhat longer one", "4"}) {
      Append(*queue, text);
      ends.push_back(queue->stored_bytes());
    }
    CopyTo(path, dir.File("killed"));
  }
  const std::string name = Segments(dir.File("killed")).at(0);
  const std::string whole = ReadBytes(name);
  ASSERT_EQ(whole.size(), ends.back());
  for (size_t size = 0; size <= whole.size(); ++size) {
    WriteBytes(name, whole.substr(0, size));
    CopyTo(dir.File("killed"), dir.File("torn"));
    const auto queue = Open(At(dir.File("torn")));
    const auto sound = static_cast<uint64_t>(
        std::count_if(ends.begin(), ends.end(), [size](uint64_t end) { return end <= size; }));
    EXPECT_EQ(queue->messages(), sound) << size;
    EXPECT_EQ(queue->damaged_segments(), 0U) << size;
    EXPECT_EQ(All(*queue).size(), sound);
    EXPECT_GT(Append(*queue, "after"), 4U);
    EXPECT_EQ(All(*queue).size(), sound + 1);
  }
}

TEST(MessageQueue, ADamagedByteEndsItsSegmentOnly) {
  const TempDir dir{TempDir::Where::kMemory};
  const std::string path = dir.File("queue");
  Content before;
  {
    const auto queue = Open(At(path, 1 << 20, 200));
    for (int i = 0; i < 12; ++i) Append(*queue, StrCat("message number ", i));
    before = All(*queue);
    CopyTo(path, dir.File("killed"));
  }
  const std::string name = Segments(dir.File("killed")).at(1);
  const std::string whole = ReadBytes(name);
  for (size_t at = 0; at < whole.size(); ++at) {
    std::string bytes = whole;
    bytes[at] = static_cast<char>(bytes[at] ^ 0x10);
    WriteBytes(name, bytes);
    CopyTo(dir.File("killed"), dir.File("damaged"));
    const auto queue = Open(At(dir.File("damaged"), 1 << 20, 200));
    const Content after = All(*queue);
    EXPECT_LT(after.size(), before.size());
    EXPECT_GE(after.size(), 7U) << "there are five messages in a segment";
    EXPECT_EQ(after.rbegin()->first, 12U);
    for (const auto& [sequence, text] : after) EXPECT_EQ(text, before[sequence]);
    EXPECT_EQ(queue->messages(), after.size());
    // A length that reaches beyond the file looks like a torn write.
    EXPECT_LE(queue->damaged_segments(), 1U);
  }
}

TEST(MessageQueue, FindsDamageThatComesLater) {
  const TempDir dir{TempDir::Where::kMemory};
  const std::string path = dir.File("queue");
  const auto queue = Open(At(path, 1 << 20, 200));
  for (int i = 0; i < 12; ++i) Append(*queue, StrCat("message number ", i));
  EXPECT_EQ(queue->Next(0)->sequence, 1U);
  const std::string name = Segments(path).at(0);
  std::string bytes = ReadBytes(name);
  bytes[kSegmentMagic.size() + 40] = 'X';  // inside the second message
  WriteBytes(name, bytes);
  const uint64_t count = queue->messages();
  EXPECT_GT(queue->Next(1)->sequence, 2U);
  EXPECT_EQ(queue->damaged_segments(), 1U);
  EXPECT_EQ(queue->messages() + queue->dropped(), count);
  EXPECT_EQ(All(*queue).size(), queue->messages());
  queue->Acknowledge(12);
  EXPECT_EQ(queue->messages(), 0U);
  EXPECT_EQ(queue->bytes(), 0U);
}

TEST(MessageQueue, ALostStateKeepsTheMessages) {
  const TempDir dir{TempDir::Where::kMemory};
  const std::string path = dir.File("queue");
  {
    const auto queue = Open(At(path));
    for (int i = 0; i < 3; ++i) Append(*queue, "x");
    queue->Acknowledge(1);
  }
  const std::string state = ReadBytes(path + "/state");
  std::string torn = state;
  torn[20] = static_cast<char>(torn[20] ^ 1);
  WriteBytes(path + "/state", torn);
  MessageQueueOptions options = At(path);
  options.new_number = 99;
  EXPECT_EQ(Open(options)->number(), 4711U) << "the other of the two copies";
  WriteBytes(path + "/state", "nonsense");
  const auto queue = Open(options);
  EXPECT_EQ(queue->number(), 99U) << "sequences cannot be trusted any more: it is another queue";
  EXPECT_GE(queue->messages(), 2U);
  EXPECT_GT(queue->next_sequence(), 3U);
}

// Limits the size of all files, as on a full disk.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(uint64_t bytes) : old_handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    getrlimit(RLIMIT_FSIZE, &old_);
    rlimit limit = old_;
    limit.rlim_cur = bytes;
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    setrlimit(RLIMIT_FSIZE, &old_);
    std::signal(SIGXFSZ, old_handler_);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  rlimit old_{};
  void (*old_handler_)(int);
};

TEST(MessageQueue, GoesOnInMemoryWhileTheDiskIsFull) {
  const TempDir dir{TempDir::Where::kMemory};
  const std::string path = dir.File("queue");
  Content expected;
  const std::string text(300, 'x');
  {
    const auto queue = Open(At(path, 100'000));
    int64_t now = 1'000'000;
    {
      const FileSizeLimit full(3'000);
      for (int i = 0; i < 100; ++i) {
        const std::string message = StrCat(i, text);
        expected[Append(*queue, message, ++now)] = message;
      }
      EXPECT_THAT(queue->error(), HasSubstr("queued in memory"));
      EXPECT_EQ(All(*queue), expected);
      EXPECT_FALSE(queue->Sync());
      queue->Acknowledge(20);  // some messages on the disk, some in memory
      expected.erase(expected.begin(), expected.upper_bound(20));
      EXPECT_EQ(All(*queue), expected);
      EXPECT_EQ(queue->messages(), 80U);
      for (int i = 0; i < 1000; ++i) {
        expected[Append(*queue, text, ++now)] = text;
        EXPECT_LE(queue->stored_bytes(), 100'000U);
      }
      const Content left = All(*queue);
      EXPECT_TRUE(std::equal(left.rbegin(), left.rend(), expected.rbegin())) << "the newest";
      EXPECT_EQ(left.size() + queue->dropped(), expected.size());
      expected = left;
    }
    queue->Append("soon", now + 1000);
    EXPECT_NE(queue->error(), "") << "the disk is not tried each time";
    expected[queue->last_sequence()] = "soon";
    queue->Append("later", now + 6'000'000);
    expected[queue->last_sequence()] = "later";
    EXPECT_EQ(queue->error(), "");
    EXPECT_TRUE(queue->Sync());
    const Content now_there = All(*queue);
    EXPECT_TRUE(std::equal(now_there.rbegin(), now_there.rend(), expected.rbegin()));
    expected = now_there;
    CopyTo(path, dir.File("killed"));
  }
  EXPECT_EQ(All(*Open(At(dir.File("killed"), 100'000))), expected);
}

TEST(MessageQueue, WorksWithoutADirectoryAndMovesInLater) {
  const TempDir dir{TempDir::Where::kMemory};
  WriteBytes(dir.File("in-the-way"), "x");
  const std::string path = dir.File("in-the-way/queue");
  Content all;
  {
    const auto queue = Open(At(path));
    EXPECT_THAT(queue->error(), HasSubstr("in-the-way"));
    EXPECT_EQ(queue->number(), 4711U);
    for (int i = 0; i < 3; ++i) Append(*queue, StrCat(i), i);
    EXPECT_EQ(All(*queue).size(), 3U);
    fs::remove(dir.File("in-the-way"));
    Append(*queue, "3", 1000);
    EXPECT_NE(queue->error(), "");
    Append(*queue, "4", 10'000'000);
    EXPECT_EQ(queue->error(), "");
    EXPECT_TRUE(queue->Sync());
    all = All(*queue);
    EXPECT_EQ(all.size(), 5U);
  }
  const auto again = Open(At(path));
  EXPECT_EQ(All(*again), all);
  EXPECT_EQ(again->number(), 4711U);
}

TEST(MessageQueue, DoesNotMixWithAQueueThatItCouldNotReadAtTheStart) {
  const TempDir dir{TempDir::Where::kMemory};
  { Append(*Open(At(dir.File("old"))), "old"); }
  WriteBytes(dir.File("queue"), "x");
  fs::remove(dir.File("queue"));
  WriteBytes(dir.File("mount"), "x");
  MessageQueueOptions options = At(dir.File("mount/queue"));
  options.new_number = 5;
  {
    const auto queue = Open(options);
    Append(*queue, "new", 0);
    fs::remove(dir.File("mount"));
    fs::create_directories(dir.File("mount"));
    CopyTo(dir.File("old"), dir.File("mount/queue"));
    Append(*queue, "newer", 10'000'000);
    EXPECT_THAT(queue->error(), HasSubstr("at the next"));
    EXPECT_EQ(All(*queue).size(), 2U);
  }
  const auto queue = Open(options);
  EXPECT_EQ(queue->number(), 4711U);
  EXPECT_EQ(All(*queue).begin()->second, "old");
}

// A queue, and a model of its content.
class QueueModel {
 public:
  QueueModel(std::string path, uint64_t max_bytes, uint64_t segment_bytes)
      : path_(std::move(path)), options_(At(path_, max_bytes, segment_bytes)), queue_(Open(options_)) {}

  void Append(size_t size) {
    std::string bytes(size, static_cast<char>('a' + kept_.size() % 26));
    const uint64_t sequence = queue_->next_sequence();
    RC_ASSERT(sequence > last_);
    last_ = sequence;
    queue_->Append(bytes, 0);
    kept_.emplace(sequence, std::move(bytes));
  }
  void Acknowledge(size_t count) {
    if (kept_.empty()) return;
    const auto last =
        std::next(kept_.begin(), static_cast<std::ptrdiff_t>(std::min(count, kept_.size() - 1)));
    queue_->Acknowledge(last->first);
    kept_.erase(kept_.begin(), std::next(last));
  }
  void Reopen() {
    queue_.reset();
    queue_ = Open(options_);
  }
  void Kill() {
    const std::string copy = path_ + ".copy";
    CopyTo(path_, copy);
    queue_.reset();
    CopyTo(copy, path_);
    queue_ = Open(options_);
  }
  // Removes the last bytes of the last segment; only the newest messages may be lost.
  void Tear(size_t bytes) {
    const std::string copy = path_ + ".copy";
    CopyTo(path_, copy);
    queue_.reset();
    CopyTo(copy, path_);
    const auto segments = Segments(path_);
    if (!segments.empty()) {
      const auto size = fs::file_size(segments.back());
      fs::resize_file(segments.back(), size - std::min<uint64_t>(size, bytes));
    }
    queue_ = Open(options_);
    const Content left = All(*queue_);
    while (!kept_.empty() && (left.empty() || kept_.rbegin()->first > left.rbegin()->first)) {
      kept_.erase(std::prev(kept_.end()));
    }
  }
  // Checks that the queue contains every message or, if it is full, the newest messages.
  void Check() {
    const Content left = All(*queue_);
    RC_ASSERT(left.size() <= kept_.size());
    RC_ASSERT(std::equal(left.rbegin(), left.rend(), kept_.rbegin()));
    RC_ASSERT(queue_->messages() == left.size());
    RC_ASSERT(queue_->stored_bytes() <= options_.max_bytes);
    RC_ASSERT(queue_->dropped() - dropped_ == kept_.size() - left.size());
    RC_ASSERT(queue_->damaged_segments() == 0);
    RC_ASSERT(queue_->error().empty());
    dropped_ = queue_->dropped();
    kept_ = left;
    uint64_t bytes = 0;
    for (const auto& entry : left) bytes += entry.second.size() + kRecordHeaderBytes;
    RC_ASSERT(queue_->bytes() == bytes);
    for (const auto& [sequence, text] : left) RC_ASSERT(queue_->Next(sequence - 1)->bytes == text);
  }

 private:
  const std::string path_;
  const MessageQueueOptions options_;
  std::unique_ptr<MessageQueue> queue_;
  Content kept_;
  uint64_t last_ = 0;
  uint64_t dropped_ = 0;
};

RC_GTEST_PROP(MessageQueueProperty, HoldsWhatAModelHolds, ()) {
  const TempDir dir{TempDir::Where::kMemory};
  const bool is_small = *rc::gen::arbitrary<bool>();
  QueueModel model(dir.File("queue"), is_small ? 2'000 : 1 << 20, *rc::gen::inRange<uint64_t>(30, 1000));
  const int count = *rc::gen::inRange(1, 60);
  for (int i = 0; i < count; ++i) {
    const int choice = *rc::gen::inRange(0, 20);
    const auto size = *rc::gen::inRange<size_t>(0, 200);
    if (choice < 12) {
      model.Append(size);
    } else if (choice < 16) {
      model.Acknowledge(size % 10);
    } else if (choice == 16) {
      model.Reopen();
    } else if (choice == 17) {
      model.Kill();
    } else if (choice == 18) {
      model.Tear(size);
    }
    model.Check();
  }
}

}  // namespace
}  // namespace taut::node
