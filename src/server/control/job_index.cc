#include "server/control/job_index.h"

#include <algorithm>
#include <cctype>

namespace taut::server {
namespace {

constexpr char kEnd = '\0';

char Fold(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

}  // namespace

std::string Folded(std::string_view text) {
  std::string folded(text);
  for (char& c : folded) c = Fold(c);
  return folded;
}

JobIndex::JobIndex(std::span<const JobRecord* const> jobs, const JobIndex* before, bool same_labels) {
  numbers_.reserve(jobs.size());
  begins_.reserve(jobs.size() + 1);
  if (before != nullptr) text_.reserve(before->text_.size());
  size_t old = 0;
  for (const JobRecord* job : jobs) {
    numbers_.push_back(job->id.value);
    begins_.push_back(text_.size());
    if (before != nullptr && same_labels) {
      while (old < before->numbers_.size() && before->numbers_[old] < job->id.value) ++old;
      if (old < before->numbers_.size() && before->numbers_[old] == job->id.value) {
        text_.append(before->TextOf(old));
        continue;
      }
    }
    AddText(*job);
  }
  begins_.push_back(text_.size());
  if (before != nullptr) TakeOrder(*before, jobs);
  const auto name_before = [&](uint32_t a, uint32_t b) { return jobs[a]->name < jobs[b]->name; };
  // Adds the jobs that are not in `before`.
  std::vector<uint8_t> is_there(jobs.size());
  for (const uint32_t place : by_name_) is_there[place] = 1;
  std::vector<uint32_t> fresh;
  for (uint32_t place = 0; place < jobs.size(); ++place) {
    if (is_there[place] == 0) fresh.push_back(place);
  }
  std::sort(fresh.begin(), fresh.end(), name_before);
  std::vector<uint32_t> merged;
  merged.reserve(jobs.size());
  auto from = by_name_.begin();
  for (const uint32_t place : fresh) {
    const auto to = std::lower_bound(from, by_name_.end(), place, name_before);
    merged.insert(merged.end(), from, to);
    merged.push_back(place);
    from = to;
  }
  merged.insert(merged.end(), from, by_name_.end());
  by_name_ = std::move(merged);
  ranks_.resize(jobs.size());
  for (uint32_t rank = 0; rank < by_name_.size(); ++rank) ranks_[by_name_[rank]] = rank;
}

void JobIndex::AddText(const JobRecord& job) {
  const auto add = [this](std::string_view text) {
    for (const char c : text) text_.push_back(Fold(c));
  };
  add(job.name);
  text_.push_back(kEnd);
  for (const auto& [key, value] : job.labels) {
    add(key);
    text_.push_back('=');
    add(value);
    text_.push_back(kEnd);
  }
}

void JobIndex::TakeOrder(const JobIndex& before, std::span<const JobRecord* const> jobs) {
  constexpr uint32_t kGone = UINT32_MAX;
  std::vector<uint32_t> place_of(before.numbers_.size(), kGone);
  size_t old = 0;
  for (uint32_t place = 0; place < jobs.size(); ++place) {
    while (old < place_of.size() && before.numbers_[old] < numbers_[place]) ++old;
    if (old < place_of.size() && before.numbers_[old] == numbers_[place]) place_of[old] = place;
  }
  by_name_.reserve(jobs.size());
  for (const uint32_t at : before.by_name_) {
    if (place_of[at] != kGone) by_name_.push_back(place_of[at]);
  }
}

std::vector<uint8_t> JobIndex::Find(std::span<const std::string> words) const {
  const size_t jobs = ranks_.size();
  std::vector<uint8_t> fits(jobs, words.empty() ? 1 : 0);
  // No name or label contains kEnd, which ends each name and label in the text.
  const auto has_end = [](const std::string& word) { return word.find(kEnd) != std::string::npos; };
  if (words.empty() || std::any_of(words.begin(), words.end(), has_end)) return fits;
  // The longest word is probably in the fewest jobs.
  const std::string& first =
      *std::max_element(words.begin(), words.end(),
                        [](const std::string& a, const std::string& b) { return a.size() < b.size(); });
  const std::string_view text = text_;
  size_t place = 0;
  for (size_t at = text.find(first); at != std::string_view::npos; at = text.find(first, begins_[place])) {
    while (begins_[place + 1] <= at) ++place;
    const std::string_view own = TextOf(place);
    fits[place] = std::all_of(words.begin(), words.end(), [&](const std::string& word) {
      return &word == &first || own.find(word) != std::string_view::npos;
    });
    ++place;
  }
  return fits;
}

size_t JobIndex::state_bytes() const {
  return sizeof(*this) + text_.capacity() + begins_.capacity() * sizeof(size_t) +
         (numbers_.capacity() + by_name_.capacity() + ranks_.capacity()) * sizeof(uint32_t);
}

}  // namespace taut::server
