#pragma once

#include <string_view>

/// Every statement that the provider runs on its tables, by name. A test reads the plan of each and
/// fails when one does not use an index.
namespace perdure::sqlite {

enum class Sql : int {
  // instances
  kFindInstance,
  kLoadInstance,
  kInsertInstance,
  kReuseInstance,
  kContinueInstance,
  kSetInstanceVersion,
  kChildByEvent,
  kUncanceledDescendants,
  kLiveDescendants,

  // executions
  kLoadExecution,
  kInsertExecution,
  kCommitExecution,
  kEndExecution,
  kRequestCancel,
  kBlockExecution,
  kSetLastChange,
  kInsertChange,

  // history
  kInsertEvent,
  kReadHistory,

  // orchestrator queue
  kInsertMessage,
  kVisibleMessages,
  kVisibleCancel,
  kMarkVisible,
  kMarkMessage,
  kDeleteMarked,
  kDeleteTimer,
  kDeleteUnshieldedTimers,
  kDeleteExecutionMessages,
  kDeleteMessages,
  kUnconsumedCancel,
  kEarliestMessage,

  // instance_ready
  kInsertReady,
  kLoadReady,
  kLowerReady,
  kServeAs,
  kFreeExpiredLocks,
  kNextPriority,
  kDueInstances,
  kDuePastCleanup,
  kNextLockEnd,
  kLockInstance,
  kUnlockAfterTurn,
  kUnlockAfterAbandon,
  kRenewInstanceLock,
  kBeginCleanup,
  kDeleteReady,
  kFreeLocksOfEpoch,
  kQueuesOfLocks,

  // worker queue
  kInsertWork,
  kPromoteDelayed,
  kDueDelayed,
  kFreeLapsed,
  kLapsedToFree,
  kReadyWork,
  kSuspectWork,
  kTrialWork,
  kClaimWork,
  kLoadClaimed,
  kHoldWork,
  kLoadSettling,
  kRetryWork,
  kGiveBackWork,
  kDeleteWork,
  kMarkWork,
  kCutWork,
  kWorkOfInstance,
  kWorkOfExecution,
  kWorkOfEvent,
  kRenewWork,
  kRenewWorkWithDetails,
  kCheckWork,
  kLapsedToEnd,
  kWorkOfEpoch,
  kFreeWork,
  kDeferWork,
  kExpiredWork,
  kNextDelayed,
  kNextLapse,
  kNextExpiry,

  // requests, pending starts, cascades, early events
  kFindRequest,
  kInsertRequest,
  kStorePendingStart,
  kLoadPendingStart,
  kDeletePendingStart,
  kInsertCascade,
  kLoadCascades,
  kDeleteCascade,
  kInsertEarlyEvent,
  kMoveEarlyEvents,
  kDeleteEarlyEventsOf,
  kDropExpiredEarlyEvents,

  // writer marks (from here on: management_statements.cc)
  kWriteMark,
  kReadMark,
  kDropOldMarks,

  // management
  kSummaryOf,
  kListByKey,
  kListLive,
  kKeysByPrefix,
  kChildKeys,
  kListExecutions,
  kCountExecutions,
  kHistorySize,
  kCountMessages,
  kCountWork,
  kCountChildren,
  kDepthInstances,
  kDepthLocked,
  kDepthReady,
  kDepthSuspects,
  kDepthDelayed,
  kDepthClaimed,
  kDepthHeld,
  kWorkVisibleAt,
  kReadChanges,
  kOldestChange,
  kNewestChange,
  kChangeTimes,
  kTrimChanges,
  kLiveInTree,
  kWorkToRemove,
  kExecutionWorkToRemove,
  kEndOfExecution,
  kEndedExecutions,
  kPrunableExecutions,
  kDeleteExecution,
  kDeleteInstance,
  kOrphanChild,
  kOrphanChildren,
  kCascadeOf,
  kDeleteCascadesOf,
  kInsertRemoval,
  kRemovalsToDescend,
  kRemovals,
  kDescended,
  kDeleteRemoval,
  kRemoveHistory,
  kRemoveExecutionHistory,
  kRemoveExecutions,

  // damaged rows
  kDamagedLines,
  kDamagedWork,
  kSetWorkAside,
  kStrangeWorkOf,
  kDamagedRemovals,

  // processes
  kInsertProcess,
  kProcessEnded,
  kHeartbeat,
  kEndProcess,
  kLiveProcesses,
  kHoldsMore,
  kFirstClaim,

  kCount,
};

std::string_view sql_text(Sql id);
std::string_view sql_name(Sql id);

}  // namespace perdure::sqlite
