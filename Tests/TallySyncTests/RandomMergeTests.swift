import Foundation
import TestSupport
import Testing

@testable import TallySync

/// Long random histories of two to five replicas.
///
/// `TALLY_SYNC_HISTORIES` sets how many, 100 without it.
@Suite struct RandomMergeTests {
  private static let historyCount =
    ProcessInfo.processInfo.environment["TALLY_SYNC_HISTORIES"].flatMap(Int.init) ?? 100
  private static let operationCount = 100

  @Test func replicasAgreeWithTheNaiveHistory() {
    let seed = SeededGenerator.chooseSeed(for: "replicasAgreeWithTheNaiveHistory")
    var (random, count) = (SeededGenerator(seed: seed), 0)
    for number in 0..<Self.historyCount {
      let space = RandomSpace.make(operationCount: Self.operationCount, using: &random)
      expectConvergence(of: space, "history \(number)")
      count += space.operations.count
    }
    // Writes that found something to do; deliveries are not counted.
    print("merges in all: \(count) operations in \(Self.historyCount) histories of 2 to 5 replicas, TALLY_SEED=\(seed)")
  }

  @Test func changesInAnyOrderWithDuplicatesGiveTheSameState() {
    var random = SeededGenerator(
      seed: SeededGenerator.chooseSeed(for: "changesInAnyOrderWithDuplicatesGiveTheSameState"))
    for number in 0..<Self.historyCount {
      var space = RandomSpace.make(operationCount: Self.operationCount, using: &random)
      space.exchangeAll()
      let operations = space.operations
      var objects: [SimulatedSpace.ObjectKey: ObjectState] = [:]
      for operation in (operations + operations.shuffled(using: &random).prefix(30)).shuffled(using: &random) {
        objects[operation.object, default: ObjectState()].join(operation.change)
      }
      #expect(objects == space.replicas[0].objects, "history \(number)")
    }
  }

  @Test func joiningIsCommutativeAssociativeAndIdempotent() {
    var random = SeededGenerator(seed: SeededGenerator.chooseSeed(for: "joiningIsCommutativeAssociativeAndIdempotent"))
    for _ in 0..<Self.historyCount {
      let space = RandomSpace.make(operationCount: 40, using: &random)
      for key in Set(space.operations.map(\.object)) {
        let states = (0..<3).map { space.replicas[$0 % space.replicas.count].objects[key] ?? ObjectState() }
        let (a, b, c) = (states[0], states[1], states[2])
        #expect(a.joined(with: b) == b.joined(with: a))
        #expect(a.joined(with: b).joined(with: c) == a.joined(with: b.joined(with: c)))
        #expect(a.joined(with: a) == a)
        #expect(a.joined(with: ObjectState()) == a)
      }
    }
  }

  /// A clock that is 73 years ahead changes nothing in objects that its replica does not touch.
  @Test func aPoisonedClockStaysInTheObjectsThatItTouched() {
    var random = SeededGenerator(seed: SeededGenerator.chooseSeed(for: "aPoisonedClockStaysInTheObjectsThatItTouched"))
    for _ in 0..<Self.historyCount {
      let seed = random.next()
      let states = [0, 73 * 31_557_600_000_000 as Int64].map { skew in
        var random = SeededGenerator(seed: seed)
        var space = RandomSpace.make(operationCount: Self.operationCount, skewOfFirst: skew, using: &random)
        space.exchangeAll()
        let touched = Set(space.logs[0].map(\.object))
        return space.replicas[0].objects.filter { !touched.contains($0.key) }
      }
      #expect(states[0] == states[1])
    }
  }

  @Test func aWriteBeatsWhatItsAuthorHasSeen() {
    var random = SeededGenerator(seed: SeededGenerator.chooseSeed(for: "aWriteBeatsWhatItsAuthorHasSeen"))
    for _ in 0..<Self.historyCount {
      var space = RandomSpace.make(operationCount: 60, using: &random)
      let task = RandomSpace.task(Int.random(in: 0..<RandomSpace.taskCount, using: &random))
      let writer = Int.random(in: space.replicas.indices, using: &random)
      for sender in space.replicas.indices { space.deliver(from: sender, to: writer) }
      space.perform(.setTitle(255), on: task, at: writer, clock: Int64.random(in: -9...9, using: &random))
      space.exchangeAll()
      #expect(space.replicas.allSatisfy { $0.objects[task]?.registers[.title]?.value == [255] })
      #expect(space.replicas.allSatisfy { $0.objects[task]?.isDeleted == false })
    }
  }

  @Test func everyTaskHasAPlace() {
    var random = SeededGenerator(seed: SeededGenerator.chooseSeed(for: "everyTaskHasAPlace"))
    for _ in 0..<Self.historyCount {
      var space = RandomSpace.make(operationCount: Self.operationCount, using: &random)
      space.exchangeAll()
      let (objects, outline) = (space.replicas[0].objects, space.outline(of: 0))
      for (key, state) in objects where !key.isList && !state.isDeleted {
        guard let place = outline.places[key.id] else {
          Issue.record("a task is in no place")
          continue
        }
        if let list = place.list { #expect(objects[.init(isList: true, id: list)]?.isDeleted == false) }
        if let parent = place.parent { #expect(outline.places[parent]?.list == place.list) }
        #expect(RandomSpace.depth(of: key.id, in: outline) != nil, "a ring")
      }
      #expect(outline.places.count == objects.count { !$0.key.isList && !$0.value.isDeleted })
    }
  }

  @Test func undoRestoresOnlyWhatNobodyHasWrittenSince() throws {
    var random = SeededGenerator(seed: SeededGenerator.chooseSeed(for: "undoRestoresOnlyWhatNobodyHasWrittenSince"))
    for _ in 0..<Self.historyCount {
      var space = RandomSpace.make(operationCount: 60, using: &random)
      let author = Int.random(in: space.replicas.indices, using: &random)
      let task = RandomSpace.task(0)
      let old = space.replicas[author].objects[task]?.registers[.title]
      space.perform(.setTitle(200), on: task, at: author, clock: 5)
      let write = try #require(space.logs[author].last)
      let isOverwritten = Bool.random(using: &random)
      if isOverwritten {
        let other = (author + 1) % space.replicas.count
        for sender in space.replicas.indices { space.deliver(from: sender, to: other) }
        space.perform(.setTitle(201), on: task, at: other, clock: 5)
        space.deliver(from: other, to: author)
      }
      #expect(space.undo(write, of: .title, to: old, clock: 5) == !isOverwritten)
      let title = space.replicas[author].objects[task]?.registers[.title]?.value
      #expect(title == (isOverwritten ? [201] : old?.value ?? []))
    }
  }
}
