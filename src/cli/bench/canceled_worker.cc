#include "cli/bench/canceled_worker.h"

#include <cstdlib>
#include <exception>
#include <iostream>
#include <memory>
#include <thread>

#include <perdure/perdure.h>

#include "base/log.h"
#include "cli/bench/patience.h"
#include "cli/bench/second_process.h"
#include "cli/bench/unheard_claims.h"

namespace perdure::bench {

HeldHandler held_until_canceled(std::shared_ptr<CancelBoard> board) {
  return [board = std::move(board)](ActivityContext& ctx, std::int64_t number) {
    board->note_begin(number);
    ctx.wait_until_canceled();
    board->note_awake(number);
    ctx.throw_if_canceled();
    return number;
  };
}

void serve_canceled(const CanceledWorker& told) {
  end_with_caller();
  log::set_level(log::Level::kWarning);
  try {
    auto board = CancelBoard::attach(told.board, told.handlers);
    if (!board.ok()) throw Unavailable(board.error().message);
    std::shared_ptr<Provider> store = open(told.url);
    if (told.drop_notifications) store = std::make_shared<UnheardClaims>(std::move(store));
    RuntimeOptions options;
    options.max_concurrent_activities = static_cast<int>(told.slots);
    const Runtime runtime(
        std::move(store), held_activity(held_until_canceled(std::move(*board))), options);
    std::cout << "serving" << std::endl;
    for (;;) std::this_thread::sleep_for(kPatience);
  } catch (const std::exception& error) {
    std::cout << error.what() << std::endl;
    std::_Exit(EXIT_FAILURE);
  }
}

}  // namespace perdure::bench
