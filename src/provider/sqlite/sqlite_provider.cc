#include "provider/sqlite/sqlite_provider.h"

#include <algorithm>
#include <system_error>

#include <sqlite3.h>

#include "base/failpoint.h"
#include "provider/sqlite/jobs.h"
#include "provider/sqlite/reads.h"
#include "provider/sqlite/sqlite_error.h"

namespace perdure::sqlite {

namespace {

using namespace std::chrono_literals;

/// "For ever", and safe to add to the present.
constexpr std::chrono::milliseconds kLongestTimeout = 24h;

/// Registers a process and takes its kernel lock in the same transaction, so that nobody can see
/// the epoch without the lock. An attempt that is rolled back leaves neither.
class RegisterJob : public WriteJob {
 public:
  using Keep = std::function<void(ProcessLock)>;

  RegisterJob(RegisterProcess request, std::string path, Keep keep, Completion<Epoch> done)
      : request_(std::move(request)),
        path_(std::move(path)),
        keep_(std::move(keep)),
        done_(std::move(done)) {}

  ~RegisterJob() override { drop_lock(); }

  std::size_t entries() const override { return 1; }

  void apply(std::size_t, WriteContext& context) override {
    drop_lock();
    answer_ = register_process(context, request_);
    if (path_.empty() || !answer_.ok()) return;
    try {
      lock_.emplace(ProcessLock::acquire(path_, *answer_));
    } catch (const std::system_error& error) {
      throw SqliteError(SQLITE_CANTOPEN, "process lock beside " + path_, error.what());
    }
    pass_failpoint("sqlite.register.locked");
  }

  void fail(std::size_t, const Error& error) override {
    drop_lock();
    answer_ = error;
  }

  void answer() override {
    if (lock_) {
      keep_(std::move(*lock_));
      lock_.reset();
    }
    done_(std::move(answer_));
  }

 private:
  void drop_lock() {
    if (lock_) lock_->release_and_remove();
    lock_.reset();
  }

  const RegisterProcess request_;
  const std::string path_;
  Keep keep_;
  Completion<Epoch> done_;
  std::optional<ProcessLock> lock_;
  Result<Epoch> answer_ = unavailable("not written");
};

std::unique_ptr<Checkpointer> make_checkpointer(
    const Options& options, const std::function<std::unique_ptr<Connection>()>& open) {
  if (!open) return nullptr;
  return std::make_unique<Checkpointer>(
      Checkpointer::Options{.thread = options.writer_thread, .open = open});
}

}  // namespace

SqliteProvider::SqliteProvider(const Options& options,
                               std::string path,
                               std::unique_ptr<Connection> writer_db,
                               std::function<std::unique_ptr<Connection>()> reopen)
    : options_(options),
      database_path_(std::move(path)),
      hub_(*options.clock),
      checkpointer_(make_checkpointer(options, reopen)),
      readers_(database_path_),
      writer_(std::move(writer_db),
              *options.clock,
              hub_,
              Writer::Options{.thread = options.writer_thread,
                              .reopen = std::move(reopen),
                              .checkpointer = checkpointer_.get()}) {}

SqliteProvider::~SqliteProvider() {
  hub_.interrupt();
  if (checkpointer_ != nullptr) checkpointer_->stop();
}

void SqliteProvider::submit_job(std::unique_ptr<WriteJob> job, CallOptions options, Lane lane) {
  job->urgent = lane == Lane::kUrgent;
  job->deadline = steady_now() + std::clamp(options.timeout, 0ms, kLongestTimeout);
  writer_.submit(std::move(job));
}

template <class Answer>
void SqliteProvider::submit_single(std::function<Result<Answer>(WriteContext&)> operation,
                                   Completion<Answer> done,
                                   CallOptions options,
                                   Lane lane) {
  submit_job(
      std::make_unique<SingleJob<Answer>>(std::move(operation), std::move(done)), options, lane);
}

template <class Answer, class Request>
void SqliteProvider::submit_batch(
    Request request,
    std::function<Result<Answer>(WriteContext&, const Request&, std::size_t)> op,
    Completion<Batch<Answer>> done,
    CallOptions options) {
  if (request.entries.empty()) return done(Batch<Answer>());
  submit_job(std::make_unique<BatchJob<Request, Answer>>(
                 std::move(request), std::move(op), std::move(done)),
             options,
             Lane::kOrdinary);
}

template <class Answer>
Result<Answer> SqliteProvider::read(std::function<Result<Answer>(Connection&)> read) {
  if (!database_path_.empty()) {
    try {
      auto reader = readers_.borrow();
      // One snapshot: what a turn committed is seen whole or not at all.
      (*reader).exec("BEGIN");
      auto answer = read(*reader);
      (*reader).exec("COMMIT");
      return answer;
    } catch (const SqliteError& error) {
      return to_error(error);
    }
  }
  auto slot = std::make_shared<perdure::internal::AnswerSlot<Answer>>();
  submit_single<Answer>([&read](WriteContext& context) { return read(context.db); },
                        [slot](Result<Answer> answer) { slot->put(std::move(answer)); },
                        {});
  return wait_for(*slot);
}

void SqliteProvider::submit(FetchOrchestrationItems request,
                            Completion<FetchedOrchestrationItems> done,
                            CallOptions options) {
  submit_single<FetchedOrchestrationItems>(
      [request = std::move(request)](WriteContext& context) {
        return sqlite::fetch_orchestration_items(context, request);
      },
      std::move(done),
      options);
}

void SqliteProvider::submit(AckOrchestrationItems request,
                            Completion<Batch<TurnCommitted>> done,
                            CallOptions options) {
  submit_batch<TurnCommitted, AckOrchestrationItems>(
      std::move(request),
      [](WriteContext& context, const AckOrchestrationItems& batch, std::size_t i) {
        return commit_turn(context, batch.entries[i]);
      },
      std::move(done),
      options);
}

void SqliteProvider::submit(AbandonOrchestrationItems request,
                            Completion<Batch<void>> done,
                            CallOptions options) {
  submit_batch<void, AbandonOrchestrationItems>(
      std::move(request),
      [](WriteContext& context, const AbandonOrchestrationItems& batch, std::size_t i) {
        return abandon_turn(context, batch.entries[i]);
      },
      std::move(done),
      options);
}

void SqliteProvider::submit(RenewOrchestrationItemLocks request,
                            Completion<Batch<TimePoint>> done,
                            CallOptions options) {
  submit_batch<TimePoint, RenewOrchestrationItemLocks>(
      std::move(request),
      [](WriteContext& context, const RenewOrchestrationItemLocks& batch, std::size_t i) {
        return renew_turn(context, batch.entries[i], batch.lock_for);
      },
      std::move(done),
      options);
}

void SqliteProvider::submit(FetchWorkItems request,
                            Completion<FetchedWorkItems> done,
                            CallOptions options) {
  submit_single<FetchedWorkItems>(
      [request = std::move(request)](WriteContext& context) {
        return sqlite::fetch_work_items(context, request);
      },
      std::move(done),
      options);
}

void SqliteProvider::submit(AckWorkItems request,
                            Completion<Batch<void>> done,
                            CallOptions options) {
  submit_batch<void, AckWorkItems>(
      std::move(request),
      [](WriteContext& context, const AckWorkItems& batch, std::size_t i) {
        return settle_work(context, batch.entries[i]);
      },
      std::move(done),
      options);
}

void SqliteProvider::submit(RenewWorkItemLocks request,
                            Completion<std::vector<ClaimState>> done,
                            CallOptions options) {
  submit_single<std::vector<ClaimState>>(
      [request = std::move(request)](WriteContext& context) {
        return renew_work(context, request);
      },
      std::move(done),
      options);
}

void SqliteProvider::submit(SweepWorkItems request,
                            Completion<SweptWork> done,
                            CallOptions options) {
  submit_single<SweptWork>(
      [request](WriteContext& context) { return sweep_work(context, request); },
      std::move(done),
      options);
}

void SqliteProvider::submit(RegisterProcess request, Completion<Epoch> done, CallOptions options) {
  auto keep = [this](ProcessLock lock) {
    process_locks_.with([&lock](ProcessLocks& locks) {
      const Epoch epoch = lock.epoch();
      locks.emplace(epoch, std::move(lock));
    });
  };
  submit_job(std::make_unique<RegisterJob>(
                 std::move(request), database_path_, std::move(keep), std::move(done)),
             options,
             Lane::kOrdinary);
}

void SqliteProvider::submit(HeartbeatProcess request,
                            Completion<std::int64_t> done,
                            CallOptions options) {
  submit_single<std::int64_t>(
      [request](WriteContext& context) { return sqlite::heartbeat_process(context, request); },
      std::move(done),
      options);
}

void SqliteProvider::submit(TakeOverProcess request,
                            Completion<ProcessEnded> done,
                            CallOptions options) {
  end_process({request.epoch, Charge::kLoss, request.max_losses}, std::move(done), options);
}

void SqliteProvider::submit(ReleaseProcess request,
                            Completion<ProcessEnded> done,
                            CallOptions options) {
  end_process({request.epoch, Charge::kDeferral}, std::move(done), options);
}

void SqliteProvider::end_process(EndProcess request,
                                 Completion<ProcessEnded> done,
                                 CallOptions options) {
  submit_single<ProcessEnded>(
      [request](WriteContext& context) { return sqlite::end_process(context, request); },
      [this, epoch = request.epoch, done = std::move(done)](Result<ProcessEnded> answer) {
        if (answer.ok()) forget_process_lock(epoch);
        done(std::move(answer));
      },
      options);
}

void SqliteProvider::forget_process_lock(Epoch epoch) {
  if (database_path_.empty()) return;
  process_locks_.with([epoch](ProcessLocks& locks) { locks.erase(epoch); });
  ProcessLock::remove(database_path_, epoch);
}

void SqliteProvider::submit(StartOrchestration request,
                            Completion<OrchestrationStarted> done,
                            CallOptions options) {
  submit_single<OrchestrationStarted>(
      [request = std::move(request)](WriteContext& context) {
        return sqlite::start_orchestration(context, request);
      },
      std::move(done),
      options);
}

void SqliteProvider::submit(RaiseEvent request,
                            Completion<EventDelivery> done,
                            CallOptions options) {
  submit_single<EventDelivery>(
      [request = std::move(request)](WriteContext& context) {
        return sqlite::raise_event(context, request);
      },
      std::move(done),
      options);
}

void SqliteProvider::submit(MakeRequest request,
                            Completion<RequestState> done,
                            CallOptions options) {
  submit_single<RequestState>(
      [request = std::move(request)](WriteContext& context) {
        return sqlite::make_request(context, request);
      },
      std::move(done),
      options);
}

void SqliteProvider::submit(CancelOrchestration request,
                            Completion<CancelAnswer> done,
                            CallOptions options) {
  submit_single<CancelAnswer>(
      [request = std::move(request)](WriteContext& context) {
        return sqlite::cancel_orchestration(context, request);
      },
      std::move(done),
      options,
      Lane::kUrgent);
}

void SqliteProvider::submit(TerminateOrchestration request,
                            Completion<CancelAnswer> done,
                            CallOptions options) {
  submit_single<CancelAnswer>(
      [request = std::move(request)](WriteContext& context) {
        return sqlite::terminate_orchestration(context, request);
      },
      std::move(done),
      options,
      Lane::kUrgent);
}

void SqliteProvider::submit(CarryOnCascades request,
                            Completion<CascadesCarriedOn> done,
                            CallOptions options) {
  submit_single<CascadesCarriedOn>(
      [request](WriteContext& context) { return sqlite::carry_on_cascades(context, request); },
      std::move(done),
      options,
      Lane::kUrgent);
}

Result<std::vector<ClaimState>> SqliteProvider::check_work_items(
    const std::vector<HeldClaim>& claims) {
  return read<std::vector<ClaimState>>(
      [&claims](Connection& db) { return check_claims(db, claims); });
}

Result<std::vector<ProcessInfo>> SqliteProvider::list_processes() {
  PERDURE_ASSIGN_OR_RETURN(
      std::vector<ProcessInfo> processes,
      read<std::vector<ProcessInfo>>([](Connection& db) { return sqlite::list_processes(db); }));
  if (database_path_.empty()) return processes;
  for (ProcessInfo& process : processes) {
    process.lock_released = ProcessLock::released(database_path_, process.epoch);
  }
  return processes;
}

Result<std::vector<Epoch>> SqliteProvider::released_processes(const std::vector<Epoch>& epochs) {
  std::vector<Epoch> released;
  if (database_path_.empty()) return released;
  for (const Epoch epoch : epochs) {
    if (ProcessLock::released(database_path_, epoch)) released.push_back(epoch);
  }
  return released;
}

Result<Batch<HistoryPage>> SqliteProvider::read_history(const std::vector<HistoryQuery>& queries) {
  return read<Batch<HistoryPage>>(
      [&queries](Connection& db) { return sqlite::read_history(db, queries); });
}

Result<InstanceInfo> SqliteProvider::get_instance(const std::string& id) {
  return read<InstanceInfo>([&id](Connection& db) { return sqlite::get_instance(db, id); });
}

Result<RequestState> SqliteProvider::get_request(const RequestQuery& query) {
  return read<RequestState>([&query](Connection& db) { return sqlite::get_request(db, query); });
}

Result<ExecutionInfo> SqliteProvider::get_execution(const std::string& id, ExecutionNo execution) {
  return read<ExecutionInfo>(
      [&id, execution](Connection& db) { return sqlite::get_execution(db, id, execution); });
}

Status SqliteProvider::run_read(std::function<void(Connection&)> look) {
  return read<void>([&look](Connection& db) {
    look(db);
    return Status();
  });
}

Status SqliteProvider::run_sql(std::string sql) {
  auto slot = std::make_shared<perdure::internal::AnswerSlot<void>>();
  submit_single<void>(
      [sql = std::move(sql)](WriteContext& context) {
        context.db.exec(sql);
        return Status();
      },
      [slot](Status answer) { slot->put(std::move(answer)); },
      {});
  return wait_for(*slot);
}

Result<Durability> SqliteProvider::durability() {
  auto slot = std::make_shared<perdure::internal::AnswerSlot<Durability>>();
  submit_single<Durability>(
      [](WriteContext& context) -> Result<Durability> {
        Query row = context.db.query_text("PRAGMA synchronous");
        if (row.next() && row.integer(0) == 1) return Durability::kRelaxed;
        if (row.integer(0) == 2) return Durability::kFull;
        return unavailable("PRAGMA synchronous is " + std::to_string(row.integer(0)));
      },
      [slot](Result<Durability> answer) { slot->put(std::move(answer)); },
      {});
  return wait_for(*slot);
}

ChangeMark SqliteProvider::change_mark() {
  return hub_.mark(writer_.foreign_version());
}

Wake SqliteProvider::wait_for_change(const Interest& interest) {
  std::function<std::int64_t()> foreign;
  if (!database_path_.empty()) foreign = [this] { return writer_.foreign_version(); };
  return hub_.wait(interest, foreign, options_.foreign_poll);
}

void SqliteProvider::interrupt_waits() {
  hub_.interrupt();
}

bool SqliteProvider::poll_once() {
  const bool worked = writer_.poll_once();
  if (checkpointer_ != nullptr) checkpointer_->run_pending();
  return worked;
}

bool SqliteProvider::has_writer_thread() const {
  return writer_.has_thread();
}

}  // namespace perdure::sqlite
