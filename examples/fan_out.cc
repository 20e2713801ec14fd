// Fan-out and fan-in: many calls at once, one result.

#include <iostream>
#include <sstream>

#include <perdure/perdure.h>

namespace pd = perdure;
using namespace std::chrono_literals;

struct Book {
  std::string title;
  std::vector<std::string> pages;
};
PERDURE_JSON(Book, title, pages)

constexpr pd::Activity<int(std::string)> count_words{"count_words"};
constexpr pd::Orchestration<int(Book)> count_book{"count_book"};

// [orchestration]
pd::Task<int> run_count_book(pd::OrchestrationContext& ctx, Book book) {
  std::vector<pd::Future<int>> counts;
  for (const std::string& page : book.pages) {
    counts.push_back(ctx.call(count_words, page, {.queue = "readers"}));
  }  // all of them are under way now
  int total = 0;
  for (int count : co_await pd::when_all(std::move(counts))) total += count;
  co_return total;
}
// [/orchestration]

// [activity]
int words_of(std::string page) {
  std::istringstream text(page);
  int count = 0;
  for (std::string word; text >> word;) ++count;
  return count;
}
// [/activity]

int main(int argc, char** argv) {
  const auto store = pd::open(argc > 1 ? argv[1] : "sqlite::memory:");
  pd::Registry registry;
  registry.add(count_words, words_of);
  registry.add(count_book, run_count_book);

  // [runtime]
  pd::Runtime runtime(
      store,
      registry,
      {.workers = {{.queue = "default"}, {.queue = "readers", .max_concurrent_activities = 2}}});
  // [/runtime]
  pd::Client client(store);
  const Book book{"Verses",
                  {"to be or not to be", "that is the question", "", "the rest is silence"}};
  const auto run = client.start(count_book, "verses", book);
  std::cout << book.title << ": " << run.wait(30s) << " words\n";
}

// Prints:
//   Verses: 14 words
