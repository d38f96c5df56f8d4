import Foundation
import Synchronization
import TallySync

/// Requests that wait for a change of one of several spaces.
///
/// A waiting request is an entry in a table: it costs no thread and no timer of its own.
final class HubWaits: Sendable {
  private struct Wait {
    /// The spaces, each with the number of the change that the client knows.
    let spaces: [SpaceID: UInt64]
    let deadline: ContinuousClock.Instant
    var isOver = false
    var continuation: CheckedContinuation<Void, Never>?
  }

  private struct State {
    var waits: [UInt64: Wait] = [:]
    var bySpace: [SpaceID: Set<UInt64>] = [:]
    var members: [UUID: Int] = [:]
    var last: UInt64 = 0
    var isDraining = false

    /// Ends waits.
    ///
    /// - Returns: The continuations to resume, outside the lock.
    mutating func end(_ numbers: some Sequence<UInt64>) -> [CheckedContinuation<Void, Never>] {
      numbers.compactMap { number in
        waits[number]?.isOver = true
        defer { waits[number]?.continuation = nil }
        return waits[number]?.continuation
      }
    }
  }

  private let state = Mutex(State())

  /// Whether the hub is about to stop.
  var isDraining: Bool { state.withLock { $0.isDraining } }

  /// How many requests wait.
  var count: Int { state.withLock { $0.waits.count } }

  /// Notes that a request of some members waits, unless one of them already has too many waiting requests.
  ///
  /// - Returns: Whether it may wait.
  func begin(for members: Set<UUID>, most: Int) -> Bool {
    state.withLock { state in
      guard members.allSatisfy({ state.members[$0] ?? 0 < most }) else { return false }
      for member in members { state.members[member, default: 0] += 1 }
      return true
    }
  }

  /// Notes that a request of some members no longer waits.
  func end(for members: Set<UUID>) {
    state.withLock { state in
      for member in members {
        state.members[member, default: 1] -= 1
        if state.members[member] == 0 { state.members[member] = nil }
      }
    }
  }

  /// Waits until one of some spaces changes, the time is over, the task is cancelled or the hub drains.
  ///
  /// - Parameters:
  ///   - spaces: The spaces, each with the number of the change that the client knows.
  ///   - deadline: When the time is over.
  ///   - hasChanged: Whether there was a change before; called once later changes cannot be missed.
  func wait(
    for spaces: [SpaceID: UInt64], until deadline: ContinuousClock.Instant, unless hasChanged: () async throws -> Bool
  ) async rethrows {
    let number = begin(spaces, deadline)
    defer { remove(number) }
    if try await hasChanged() { return }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isOver = state.withLock { state in
          guard state.waits[number]?.isOver == false, !state.isDraining else { return true }
          state.waits[number]?.continuation = continuation
          return false
        }
        if isOver { continuation.resume() }
      }
    } onCancel: {
      end { _ in [number] }
    }
  }

  private func begin(_ spaces: [SpaceID: UInt64], _ deadline: ContinuousClock.Instant) -> UInt64 {
    state.withLock { state in
      state.last += 1
      state.waits[state.last] = Wait(spaces: spaces, deadline: deadline)
      for space in spaces.keys { state.bySpace[space, default: []].insert(state.last) }
      return state.last
    }
  }

  private func remove(_ number: UInt64) {
    state.withLock { state in
      for space in (state.waits.removeValue(forKey: number)?.spaces ?? [:]).keys {
        state.bySpace[space]?.remove(number)
        if state.bySpace[space]?.isEmpty == true { state.bySpace[space] = nil }
      }
    }
  }

  private func end(_ choose: (State) -> [UInt64]) {
    let continuations = state.withLock { state in state.end(choose(state)) }
    for continuation in continuations { continuation.resume() }
  }

  /// Ends the waits for a space.
  func noteChange(of space: SpaceID) { end { Array($0.bySpace[space] ?? []) } }

  /// The spaces for which somebody waits.
  var spaces: [SpaceID] { state.withLock { Array($0.bySpace.keys) } }

  /// Ends the waits whose client knows another change than the present one.
  func end(whereOtherThan counts: [SpaceID: UInt64]) {
    end { state in
      state.waits.filter { wait in
        wait.value.spaces.contains { space, known in counts[space].map { $0 != known } ?? false }
      }.map(\.key)
    }
  }

  /// Ends the waits whose time is over; called a few times a second.
  func endOverdue(at now: ContinuousClock.Instant = .now) {
    end { state in state.waits.filter { $0.value.deadline <= now && !$0.value.isOver }.map(\.key) }
  }

  /// Ends all waits, including those that begin later.
  func drain() {
    state.withLock { $0.isDraining = true }
    end { Array($0.waits.keys) }
  }
}
