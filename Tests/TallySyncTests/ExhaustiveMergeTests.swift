import Foundation
import Testing

@testable import TallySync

/// Every sequence of a few writes and deliveries on three replicas ends in what the naive history says.
///
/// `TALLY_SYNC_STEPS` sets the length of the sequences, 4 without it.
@Suite struct ExhaustiveMergeTests {
  private static let stepCount = ProcessInfo.processInfo.environment["TALLY_SYNC_STEPS"].flatMap(Int.init) ?? 4
  private static let object = SimulatedSpace.ObjectKey(isList: false, id: SimulatedSpace.id(1))

  /// Clocks that agree, that stand still, and that differ by a century.
  private static let clocks: [[Int64]] = [[10, 10, 10], [0, 3_155_760_000_000_000, -3_155_760_000_000_000]]

  @Test(
    arguments: [
      [.complete(1), .reopen, .delete],
      [.setTitle(1), .delete, .restore],
      [.addTag(1), .removeTag(1), .delete],
      [.move(1), .renumber(2), .move(3)],
      [.complete(1), .complete(2), .reopen],
    ] as [[SimulatedSpace.Action]])
  func everySequenceEndsAsTheNaiveHistorySays(actions: [SimulatedSpace.Action]) {
    for clocks in Self.clocks {
      let count = Exploration(of: Self.object, by: actions, clocks: clocks).visit(stepCount: Self.stepCount) {
        expectConvergence(of: $0, "clocks \(clocks): \($0.story)")
      }
      #expect(count > 1)
    }
  }
}

/// All that three replicas can do with an object in some steps, each a write or the delivery of all that one replica has
/// for another.
///
/// Sequences that differ only in the order of steps that do not concern each other are visited once, and those that
/// differ only in the names of replicas begin with the first.
struct Exploration {
  let object: SimulatedSpace.ObjectKey
  let actions: [SimulatedSpace.Action]
  let clocks: [Int64]

  init(of object: SimulatedSpace.ObjectKey, by actions: [SimulatedSpace.Action], clocks: [Int64]) {
    (self.object, self.actions, self.clocks) = (object, actions, clocks)
  }

  /// Calls a body with every space after some steps, and returns their number.
  @discardableResult
  func visit(stepCount: Int, _ body: (SimulatedSpace) -> Void) -> Int {
    var spaces = [SimulatedSpace(replicaCount: clocks.count)]
    for step in 0..<stepCount {
      var seen: Set<[UInt8]> = []
      var next: [SimulatedSpace] = []
      for space in spaces {
        forEachStep(from: space, isFirst: step == 0) {
          if seen.insert($0.fingerprint(actions)).inserted { next.append($0) }
        }
      }
      spaces = next
    }
    for space in spaces { body(space) }
    return spaces.count
  }

  private func forEachStep(from space: SimulatedSpace, isFirst: Bool, _ body: (SimulatedSpace) -> Void) {
    // With clocks that differ the replicas do, too.
    let isSymmetric = isFirst && Set(clocks).count == 1
    for number in isSymmetric ? 0..<1 : space.replicas.indices {
      for action in actions {
        var next = space
        if next.perform(action, on: object, at: number, clock: clocks[number]) { body(next) }
      }
      for sender in space.replicas.indices {
        var next = space
        if next.deliver(from: sender, to: number) { body(next) }
      }
    }
  }
}

extension SimulatedSpace {
  /// What every replica has done and received: it determines all states.
  fileprivate func fingerprint(_ actions: [Action]) -> [UInt8] {
    var bytes: [UInt8] = []
    for (replica, log) in zip(replicas, logs) {
      bytes += replica.received.map { UInt8($0) }
      for operation in log {
        bytes.append(UInt8(actions.firstIndex(of: operation.action) ?? actions.count))
        bytes += operation.seen.map { UInt8($0) }
      }
      bytes.append(.max)
    }
    return bytes
  }

  /// The operations, with how many of each replica their author had received.
  var story: String {
    operations.map { "\($0.author):\($0.action) after \($0.seen)" }.joined(separator: ", ")
  }
}
