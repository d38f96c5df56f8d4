import TallySystem

extension LMDBEnvironment {
  /// Runs a body with the write transaction without blocking the thread; concurrent calls share one commit, and so one
  /// flush of the disk.
  ///
  /// ```swift
  /// try await environment.groupCommit { transaction in
  ///   try names.put("Ada", forKey: 1, in: &transaction)
  /// }
  /// ```
  ///
  /// The calls take effect in their order, on a thread that the environment keeps while there are any. A body that throws
  /// undoes only its own changes. It may run again, when the map has grown or another body of the same commit has failed,
  /// so it must have no other effects. A call that is cancelled before its turn throws `CancellationError` and changes
  /// nothing; later, cancelling has no effect. ``close(waitingAtMost:)`` does not wait for calls whose turn has not come:
  /// they throw `closed`.
  ///
  /// Throws what ``write(_:)`` throws.
  ///
  /// The corresponding C functions are `mdb_txn_begin` and `mdb_txn_commit`, for several calls at once.
  @discardableResult
  public func groupCommit<R: Sendable>(
    _ body: @escaping @Sendable (inout WriteTransaction) throws -> R
  ) async throws -> R {
    try checkProcess("write")
    return try await writeQueue.run(body)
  }

  private var writeQueue: WriteQueue<WriteTransaction> {
    state.withLock { state in
      if let queue = state.writeQueue { return queue }
      let queue = WriteQueue<WriteTransaction>(
        .init(
          threadName: "lmdb.commits",
          // The callers keep the environment alive; the thread alone must not.
          commit: { [weak self] jobs in
            guard let self else { throw LMDBError.closedBeforeWrite }
            try self.commit(jobs)
          },
          isLackOfRoom: { ($0 as? LMDBError)?.isLackOfRoom == true }))
      state.writeQueue = queue
      return queue
    }
  }

  @available(*, noasync)
  private func commit(_ jobs: [WriteJob<WriteTransaction>]) throws {
    var hasJobFailed = false
    do {
      try write { transaction in
        hasJobFailed = false
        for job in jobs {
          do {
            try job.run(in: &transaction)
          } catch {
            hasJobFailed = true
            throw error
          }
        }
      }
    } catch let error where hasJobFailed && jobs.count > 1 && (error as? LMDBError)?.isLackOfRoom != true {
      // Rare, and nothing has been committed: repeating all of them beats making each of them slower every time.
      try commitEachApart(jobs)
    }
  }

  /// Runs each write in a nested transaction, so that its failure undoes only its own changes.
  @available(*, noasync)
  private func commitEachApart(_ jobs: [WriteJob<WriteTransaction>]) throws {
    try write { transaction in
      for job in jobs {
        do {
          try transaction.nested { try job.run(in: &$0) }
        } catch let error as LMDBError where error.isLackOfRoom {
          // Not the job's fault: the map grows and all run again, or each job runs alone.
          throw error
        } catch {
          job.reject(error)
        }
      }
    }
  }

  /// How many calls wait for the next commit; for tests.
  var waitingWriteCount: Int { writeQueue.waitingCount }
}
