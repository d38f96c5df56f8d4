import Foundation
package import LMDB
import Logging

/// How a store commits the writes that a `WriteQueue` has collected.
package struct BatchCommit<Transaction: ~Copyable>: Sendable {
  package typealias Body = (inout Transaction) throws -> Void
  package typealias Running = @Sendable (inout Transaction, Body) throws -> Void

  private let connection: StoreConnection
  private let configuration: StoreConfiguration
  private let watch: CommitWatch
  private let commitAll: @Sendable (StoreOpening.OpenStore, _ isAlone: Bool, Body) throws -> Void
  private let beside: Running
  private let nested: Running

  /// - Parameters:
  ///   - connection: the open files.
  ///   - configuration: how the store is opened.
  ///   - watch: whom a commit wakes.
  ///   - commit: runs a closure in one transaction, and commits it.
  ///   - beside: runs one of several writes; throws `EntangledWrites` if it failed after it had changed something.
  ///   - nested: runs one of several writes in a transaction of its own.
  package init(
    _ connection: StoreConnection, _ configuration: StoreConfiguration, _ watch: CommitWatch,
    commit: @escaping @Sendable (StoreOpening.OpenStore, _ isAlone: Bool, Body) throws -> Void,
    beside: @escaping Running, nested: @escaping Running
  ) {
    (self.connection, self.configuration, self.watch) = (connection, configuration, watch)
    (commitAll, self.beside, self.nested) = (commit, beside, nested)
  }

  /// The queue, together with its thread.
  package var queue: WriteQueue<Transaction> {
    WriteQueue(
      .init(
        threadName: "tally.commits", commit: commit,
        isLackOfRoom: { ($0 as? TallyError)?.code == .diskFull },
        flushInterval: configuration.durability == .relaxed ? configuration.flushInterval : nil, flush: flush))
  }

  @Sendable private func commit(_ jobs: [WriteJob<Transaction>]) throws {
    do {
      try commit(jobs, isolated: false)
    } catch is EntangledWrites {
      // This is rare, and nothing has been flushed yet. Running all jobs again costs less than isolating each of them
      // every time.
      try commit(jobs, isolated: true)
    } catch let error as TallyError where error.code == .valueOutOfRange && jobs.count > 1 {
      // The commit found a sum of one of them too large; alone, each of them learns its own outcome.
      try commit(jobs, isolated: true)
    }
    watch.noteCommit()
  }

  private func commit(_ jobs: [WriteJob<Transaction>], isolated: Bool) throws {
    let isAlone = jobs.count == 1
    try connection.use { store in
      try store.checkWritable()
      try commitAll(store, isAlone) { transaction in
        if isAlone { return try jobs[0].run(in: &transaction) }
        for job in jobs { try run(job, in: &transaction, isolated: isolated) }
      }
    }
  }

  /// Runs one of several writes, so that a failure undoes only the changes of that write.
  private func run(_ job: WriteJob<Transaction>, in transaction: inout Transaction, isolated: Bool) throws {
    do {
      if isolated {
        try nested(&transaction) { try job.run(in: &$0) }
      } else {
        try beside(&transaction) { try job.run(in: &$0) }
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
