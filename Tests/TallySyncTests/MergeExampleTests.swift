import Foundation
import Testing

@testable import TallySync

/// What went wrong elsewhere, and must not here.
@Suite struct MergeExampleTests {
  private let task = RandomSpace.task(0)

  /// Equal times and no rule for them leave replicas with different values for ever.
  @Test func equalTimesOnThreeReplicasHaveOneWinner() {
    var space = SimulatedSpace(replicaCount: 3)
    for number in 0..<3 { space.perform(.setTitle(UInt8(number)), on: task, at: number, clock: 7) }
    space.exchangeAll()
    #expect(Set(space.replicas.map { $0.objects[task]?.registers[.title]?.value }) == [[2]])
  }

  /// An equal write looks like none, and the third replica, which hears of it from one only, never learns it.
  @Test func equalWritesReachAThirdReplicaByOneOfThem() {
    var space = SimulatedSpace(replicaCount: 3)
    for number in 0..<2 { space.perform(.setTitle(1), on: task, at: number, clock: 7) }
    space.deliver(from: 0, to: 2)
    #expect(space.replicas[2].objects[task]?.registers[.title]?.value == [1])
    expectConvergence(of: space, "equal writes")
  }

  @Test func anObjectThatIsDeletedAndMadeAgainIsAlive() {
    var space = SimulatedSpace(replicaCount: 3)
    space.perform(.setTitle(1), on: task, at: 0, clock: 7)
    space.perform(.delete, on: task, at: 0, clock: 7)
    space.perform(.setTitle(2), on: task, at: 0, clock: 7)
    space.exchangeAll()
    #expect(space.replicas.allSatisfy { $0.objects[task]?.isDeleted == false })
  }

  /// An edit that had not seen a deletion wins if it is not earlier.
  @Test func anEditAtTheTimeOfADeletionKeepsTheObject() {
    var space = SimulatedSpace(replicaCount: 2)
    space.perform(.setTitle(1), on: task, at: 0, clock: 1)
    space.exchangeAll()
    space.perform(.delete, on: task, at: 0, clock: 5)
    space.perform(.setTitle(2), on: task, at: 1, clock: 5)
    space.exchangeAll()
    #expect(space.replicas.allSatisfy { $0.objects[task]?.isDeleted == false })
  }

  /// A completes and reopens, B completes meanwhile.
  @Test func aCompletionSurvivesAReopeningThatHadNotSeenIt() {
    var space = SimulatedSpace(replicaCount: 2)
    space.perform(.complete(1), on: task, at: 0, clock: 1)
    space.perform(.reopen, on: task, at: 0, clock: 2)
    space.perform(.complete(2), on: task, at: 1, clock: 1)
    space.exchangeAll()
    #expect(space.replicas.allSatisfy { $0.objects[task]?.completion == [2] })
  }

  /// Elsewhere a later "not started" beats a completion.
  @Test func anEditOfAnotherFieldDoesNotReopen() {
    var space = SimulatedSpace(replicaCount: 2)
    space.perform(.complete(1), on: task, at: 0, clock: 1)
    space.perform(.setTitle(1), on: task, at: 1, clock: 1_000)
    space.exchangeAll()
    #expect(space.replicas.allSatisfy { $0.objects[task]?.completion == [1] })
  }

  @Test func aCompletionOfADeletedTaskLeavesItDeletedAndCounts() {
    var space = SimulatedSpace(replicaCount: 2)
    space.perform(.setTitle(1), on: task, at: 0, clock: 1)
    space.exchangeAll()
    space.perform(.delete, on: task, at: 0, clock: 2)
    space.perform(.complete(1), on: task, at: 1, clock: 3)
    space.exchangeAll()
    #expect(space.replicas.allSatisfy { $0.objects[task]?.isDeleted == true })
    #expect(space.replicas.allSatisfy { $0.objects[task]?.completion == [1] })
  }

  @Test func aMoveWinsOverARenumberingThatHadNotSeenIt() {
    var space = SimulatedSpace(replicaCount: 2)
    space.perform(.move(1), on: task, at: 0, clock: 5)
    space.exchangeAll()
    space.perform(.move(9), on: task, at: 1, clock: 0)
    for place in 2..<8 as Range<UInt8> { space.perform(.renumber(place), on: task, at: 0, clock: 99) }
    space.exchangeAll()
    #expect(space.replicas.allSatisfy { $0.objects[task]?.registers[.order]?.value == [9] })
  }

  /// Two replicas put each of two tasks below the other.
  @Test func ofARingTheOldestLinkIsIgnored() {
    var space = SimulatedSpace(replicaCount: 2)
    let (first, second) = (RandomSpace.task(0), RandomSpace.task(1))
    for object in [first, second] { space.perform(.setTitle(1), on: object, at: 0, clock: 0) }
    space.exchangeAll()
    space.perform(.setParent(second.id), on: first, at: 0, clock: 10)
    space.perform(.setParent(first.id), on: second, at: 1, clock: 11)
    space.exchangeAll()
    for number in 0..<2 {
      let places = space.outline(of: number).places
      #expect(places[first.id]?.parent == nil)
      #expect(places[second.id]?.parent == first.id)
    }
  }

  @Test func aTaskOfADeletedListIsInTheInboxUntilTheListIsBack() {
    var space = SimulatedSpace(replicaCount: 2)
    let list = RandomSpace.list(0)
    space.perform(.setTitle(1), on: list, at: 0, clock: 0)
    space.exchangeAll()
    space.perform(.delete, on: list, at: 0, clock: 1)
    space.perform(.setList(list.id), on: task, at: 1, clock: 1)
    space.exchangeAll()
    #expect((0..<2).allSatisfy { space.outline(of: $0).places[task.id] == .init(list: nil, parent: nil) })
    space.perform(.restore, on: list, at: 1, clock: 2)
    space.exchangeAll()
    #expect((0..<2).allSatisfy { space.outline(of: $0).places[task.id]?.list == list.id })
  }

  /// A vector of limited length misses conflicts.
  @Test func fiveHundredReplicasEachKeepTheirCompletion() {
    var space = SimulatedSpace(replicaCount: 500)
    for number in 0..<500 { space.perform(.complete(UInt8(number % 250)), on: task, at: number, clock: 1) }
    for number in 1..<500 { space.deliver(from: number, to: 0) }
    #expect(space.replicas[0].objects[task]?.sets[.completions]?[[]]?.live.count == 500)
    space.perform(.reopen, on: task, at: 0, clock: 1)
    space.deliver(from: 0, to: 7)
    for number in 0..<500 { space.deliver(from: number, to: 7) }
    #expect(space.replicas[7].objects[task]?.completion == nil)
  }
}
