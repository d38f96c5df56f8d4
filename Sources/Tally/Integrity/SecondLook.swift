import LMDB
import Synchronization

/// A second look at a store, at another acknowledged snapshot, before anybody is told that it is damaged.
///
/// What looks contradictory may be two snapshots taken for one, a page that was read while it was being written, or a
/// snapshot that another program has ended. Real damage is still there at the next look. So every claim of damage passes
/// through here: from reads and writes (`StoreConnection`), from opening, and from work on a store that may be damaged.
struct SecondLook {
  let environment: LMDBEnvironment
  var indexes: [TaskIndex] = []

  /// Runs a body, and once more if it claims damage; then the second run counts.
  static func repeating<R>(_ body: () throws -> R) throws -> R {
    do {
      return try body()
    } catch let error where TallyError.claimingDamage(error) != nil {
      return try body()
    }
  }

  /// The error to throw for an error: a claim of damage stays one only if a check of the whole store finds a fault, too.
  ///
  /// - Complexity: as a verification.
  func explained(_ error: any Error) -> any Error {
    guard let claim = TallyError.claimingDamage(error) else { return error }
    return isDamaged ? claim : TallyError.unconfirmed(claim)
  }

  /// Whether the store has a fault at the newest acknowledged snapshot; false if the check cannot be made.
  var isDamaged: Bool {
    do {
      try environment.checkStructure()
      return try !Verification.run(on: environment, registering: indexes, observer: nil).isSound
    } catch {
      return TallyError.claimingDamage(error) != nil
    }
  }
}

/// Whether a store is known to be damaged, so that one second look is enough.
final class KnownDamage: Sendable {
  private let isKnown = Atomic(false)

  /// As `SecondLook.explained`, with a look only if damage is not known yet.
  func explained(_ error: any Error, in environment: LMDBEnvironment, _ indexes: [TaskIndex]) -> any Error {
    guard let claim = TallyError.claimingDamage(error), !isKnown.load(ordering: .relaxed) else { return error }
    let look = SecondLook(environment: environment, indexes: indexes)
    guard look.isDamaged else { return TallyError.unconfirmed(claim) }
    isKnown.store(true, ordering: .relaxed)
    return claim
  }
}

extension TallyError {
  /// An error that claims damage, as an error of a store; `nil` for any other error.
  static func claimingDamage(_ error: any Error) -> TallyError? {
    let claim = (error as? LMDBError).map { TallyError($0) } ?? error as? TallyError
    return claim?.code == .damagedStore ? claim : nil
  }

  /// The error to throw instead of a claim of damage that a second look does not confirm.
  fileprivate static func unconfirmed(_ claim: TallyError) -> TallyError {
    TallyError(
      .storageFailed, "The store could not be read for a moment; a second look found it sound",
      remedy: "Try again; if it happens again, report it together with what a verification says", cause: claim)
  }
}
