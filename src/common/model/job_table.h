// A table with one value per job, indexed by the job's number. Most of the numbers ever assigned may belong
// to jobs that no longer exist.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include "common/model/usage.h"

namespace taut {

// A value keeps its address until it is erased. A number without a value costs at most 8 bytes, and nothing if
// its page of 512 numbers is empty. Lookup is O(1). Iterates in ascending order. Not thread-safe.
template <typename T>
class JobTable {
 public:
  static constexpr uint32_t kPageJobs = 512;

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  // One above the highest number that ever had a value or was reserved.
  uint32_t end_id() const { return end_id_; }
  // Reserves the numbers below `end`: they are never assigned to new jobs.
  void Reserve(uint32_t end) { end_id_ = end > end_id_ ? end : end_id_; }

  T* Find(JobId id) { return const_cast<T*>(std::as_const(*this).Find(id)); }
  const T* Find(JobId id) const {
    const size_t page = id.value / kPageJobs;
    if (page >= pages_.size() || pages_[page] == nullptr) return nullptr;
    return pages_[page]->values[id.value % kPageJobs].get();
  }
  // REQUIRES: the job has a value.
  T& operator[](JobId id) { return *Find(id); }
  const T& operator[](JobId id) const { return *Find(id); }

  // Adds a default-constructed value. REQUIRES: the job has no value.
  T& Emplace(JobId id) {
    const size_t page = id.value / kPageJobs;
    if (page >= pages_.size()) pages_.resize(page + 1);
    if (pages_[page] == nullptr) pages_[page] = std::make_unique<Page>();
    std::unique_ptr<T>& value = pages_[page]->values[id.value % kPageJobs];
    value = std::make_unique<T>();
    ++pages_[page]->used;
    ++size_;
    Reserve(id.value + 1);
    return *value;
  }
  // Removes the value, if any; its number stays reserved.
  void Erase(JobId id) {
    if (Find(id) == nullptr) return;
    std::unique_ptr<Page>& page = pages_[id.value / kPageJobs];
    page->values[id.value % kPageJobs].reset();
    --size_;
    if (--page->used == 0) page.reset();
  }
  // Number of values with job numbers in [page * 512, page * 512 + 512).
  uint32_t used_in_page(uint32_t page) const {
    return page < pages_.size() && pages_[page] != nullptr ? pages_[page]->used : 0;
  }

  size_t table_bytes() const {
    size_t bytes = pages_.capacity() * sizeof(pages_[0]);
    for (const auto& page : pages_) bytes += page == nullptr ? 0 : sizeof(Page);
    return bytes;
  }

 private:
  struct Page {
    std::array<std::unique_ptr<T>, kPageJobs> values;
    uint32_t used = 0;
  };
  template <typename Table, typename Value>
  class Iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = T;
    using difference_type = std::ptrdiff_t;
    using pointer = Value*;
    using reference = Value&;

    Iterator(Table* table, uint32_t id) : table_(table), id_(id) { Skip(); }
    Value& operator*() const { return *table_->Find(JobId{id_}); }
    Value* operator->() const { return table_->Find(JobId{id_}); }
    Iterator& operator++() {
      ++id_;
      Skip();
      return *this;
    }
    Iterator operator++(int) {
      Iterator before = *this;
      ++*this;
      return before;
    }
    bool operator==(const Iterator& other) const { return id_ == other.id_; }
    JobId id() const { return JobId{id_}; }

   private:
    void Skip() {
      while (id_ < table_->end_id_) {
        const size_t page = id_ / kPageJobs;
        if (page >= table_->pages_.size()) break;
        if (table_->pages_[page] == nullptr) {
          id_ = static_cast<uint32_t>(page + 1) * kPageJobs;
        } else if (table_->pages_[page]->values[id_ % kPageJobs] == nullptr) {
          ++id_;
        } else {
          return;
        }
      }
      id_ = UINT32_MAX;
    }
    Table* table_;
    uint32_t id_;
  };

 public:
  using iterator = Iterator<JobTable, T>;
  using const_iterator = Iterator<const JobTable, const T>;
  iterator begin() { return {this, 0}; }
  iterator end() { return {this, UINT32_MAX}; }
  const_iterator begin() const { return {this, 0}; }
  const_iterator end() const { return {this, UINT32_MAX}; }

 private:
  std::vector<std::unique_ptr<Page>> pages_;
  size_t size_ = 0;
  uint32_t end_id_ = 0;
};

}  // namespace taut
