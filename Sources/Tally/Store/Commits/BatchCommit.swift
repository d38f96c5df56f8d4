import LMDB
import Logging
import TallyEngine

/// How the store commits the writes that a `WriteQueue` has collected.
struct BatchCommit: Sendable {
  let connection: StoreConnection
  let configuration: TaskStore.Configuration
  let watch: CommitWatch

  /// The queue, together with its thread.
  var queue: WriteQueue<StoreWriteTransaction> {
    WriteQueue(
      .init(
        threadName: "tally.commits", commit: commit,
        isLackOfRoom: { ($0 as? TallyError)?.code == .diskFull },
        flushInterval: configuration.durability == .relaxed ? configuration.store.flushInterval : nil, flush: flush))
  }

  @Sendable private func commit(_ jobs: [WriteJob<StoreWriteTransaction>]) throws {
    do {
      try commit(jobs, isolated: false)
    } catch is EntangledWrites {
      // This is rare, and nothing has been flushed yet. Running all jobs again costs less than isolating each of them
      // every time.
      try commit(jobs, isolated: true)
    }
    watch.noteCommit()
  }

  private func commit(_ jobs: [WriteJob<StoreWriteTransaction>], isolated: Bool) throws {
    let isAlone = jobs.count == 1
    try connection.use { store in
      try store.checkWritable()
      let (environment, tables) = (store.environment, store.tables)
      try environment.write(tables: tables, configuration: configuration, makesRoom: isAlone) { transaction in
        if isAlone { return try jobs[0].run(in: &transaction) }
        for job in jobs { try run(job, in: &transaction, isolated: isolated) }
      }
    }
  }

  /// Runs one of several writes, so that a failure undoes only the changes of that write.
  private func run(
    _ job: WriteJob<StoreWriteTransaction>, in transaction: inout StoreWriteTransaction, isolated: Bool
  ) throws {
    do {
      if isolated {
        try transaction.nested { try job.run(in: &$0) }
      } else {
        try transaction.beside { try job.run(in: &$0) }
      }
    } catch let error as LMDBError where error.isLackOfRoom {
      // The job is not at fault: the map grows and the whole batch runs again, or each job runs alone.
      throw error
    } catch let error as EntangledWrites {
      throw error
    } catch {
      job.reject(error)
    }
  }

  @Sendable private func flush() throws {
    do {
      try connection.use { try $0.environment.sync(force: true) }
    } catch let error as TallyError where error.code == .storeClosed || error.code == .storeSuspended {
      // Closing or suspending the store flushes it.
    } catch {
      let code = (error as? TallyError)?.code ?? .internalFault
      configuration.logger.error("flushing failed", metadata: ["code": "\(code)"])
      throw error
    }
  }
}
