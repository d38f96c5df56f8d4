package import LMDB
import Synchronization

/// A second check of a store, in another acknowledged snapshot, before anybody is told that it is damaged.
///
/// An apparent contradiction may come from two snapshots taken for one, from a page that was read while it was being
/// written, or from a snapshot that another program has ended. Real damage is still there on the next check. Therefore
/// every claim of damage passes through here: from reads and writes (`StoreConnection`), from opening, and from work on
/// a store that may be damaged.
package struct SecondLook {
  package let environment: LMDBEnvironment
  package let layout: any StoreLayout

  package init(environment: LMDBEnvironment, layout: any StoreLayout) {
    (self.environment, self.layout) = (environment, layout)
  }

  /// Runs a closure, and runs it again if it claims damage; the second result counts.
  package static func repeating<R>(_ body: () throws -> R) throws -> R {
    do {
      return try body()
    } catch let error where TallyError.claimingDamage(error) != nil {
      return try body()
    }
  }

  /// The error to throw for an error: it still claims damage only if a check of the whole store finds a fault, too.
  ///
  /// - Complexity: a full verification.
  package func explained(_ error: any Error) -> any Error {
    guard let claim = TallyError.claimingDamage(error) else { return error }
    return finding.explained(claim)
  }

  /// The finding of a check of the newest acknowledged snapshot.
  package enum Finding {
    case sound, damaged
    /// The check itself failed, for example because the disk did.
    case unknown(any Error)

    /// The error to throw for a claim of damage.
    package func explained(_ claim: TallyError) -> any Error {
      switch self {
      case .sound: TallyError.unconfirmed(claim)
      case .damaged: claim
      case .unknown(let error): error
      }
    }
  }

  /// Checks the whole store.
  package var finding: Finding {
    do {
      return try TallyError.translating {
        try environment.checkStructure()
        return try layout.isSound(environment) ? .sound : .damaged
      }
    } catch {
      return TallyError.claimingDamage(error) == nil ? .unknown(error) : .damaged
    }
  }
}

/// Whether a store is known to be damaged, so that one second check is enough.
package final class KnownDamage: Sendable {
  private let isKnown = Atomic(false)

  /// Does the same as `SecondLook.explained`, but checks only if damage is not known yet.
  package func explained(_ error: any Error, in environment: LMDBEnvironment, _ layout: any StoreLayout) -> any Error {
    guard let claim = TallyError.claimingDamage(error), !isKnown.load(ordering: .relaxed) else { return error }
    let finding = SecondLook(environment: environment, layout: layout).finding
    if case .damaged = finding { isKnown.store(true, ordering: .relaxed) }
    return finding.explained(claim)
  }
}

extension TallyError {
  /// The error as an error of a store, if it claims damage; else `nil`.
  package static func claimingDamage(_ error: any Error) -> TallyError? {
    let claim = (error as? LMDBError).map { TallyError($0) } ?? error as? TallyError
    return claim?.code == .damagedStore ? claim : nil
  }

  /// The error to throw instead of a claim of damage that a second check does not confirm.
  fileprivate static func unconfirmed(_ claim: TallyError) -> TallyError {
    TallyError(
      .storageFailed, "The store could not be read for a moment; a second look found it sound",
      remedy: "Try again; if it happens again, report it together with what a verification says", cause: claim)
  }
}
