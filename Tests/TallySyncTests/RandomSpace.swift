import Foundation

@testable import TallySync

/// Random histories: writes on few objects, so that they collide, between random deliveries.
enum RandomSpace {
  static let taskCount = 4
  static let listCount = 2

  static func task(_ number: Int) -> SimulatedSpace.ObjectKey {
    SimulatedSpace.ObjectKey(isList: false, id: SimulatedSpace.id(number))
  }

  static func list(_ number: Int) -> SimulatedSpace.ObjectKey {
    SimulatedSpace.ObjectKey(isList: true, id: SimulatedSpace.id(100 + number))
  }

  /// Makes a history; each replica's clock is ahead or behind by up to a century, stands still or steps back.
  static func make(
    operationCount: Int, skewOfFirst: Int64? = nil, using random: inout some RandomNumberGenerator
  ) -> SimulatedSpace {
    var space = SimulatedSpace(replicaCount: Int.random(in: 2...5, using: &random))
    let century: Int64 = 3_155_760_000_000_000
    let choices: [Int64] = [0, 0, century, -century]
    var skews = space.replicas.map { _ in choices.randomElement(using: &random) ?? 0 }
    if let skewOfFirst { skews[0] = skewOfFirst }
    for step in 0..<operationCount {
      let number = Int.random(in: space.replicas.indices, using: &random)
      let clock = skews[number] + Int64(Bool.random(using: &random) ? step : Int.random(in: 0...3, using: &random))
      let (action, object) = write(using: &random)
      space.perform(action, on: object, at: number, clock: clock)
      deliver(in: &space, using: &random)
    }
    return space
  }

  private static func deliver(in space: inout SimulatedSpace, using random: inout some RandomNumberGenerator) {
    let receiver = Int.random(in: space.replicas.indices, using: &random)
    switch Int.random(in: 0..<4, using: &random) {
    case 0:
      let sender = Int.random(in: space.replicas.indices, using: &random)
      space.deliver(from: sender, to: receiver, atMost: Int.random(in: 1...10, using: &random))
    case 1:
      if let operation = space.operations.randomElement(using: &random) {
        space.repeatDelivery(of: operation, to: receiver)
      }
    default: break
    }
  }

  private static func write(
    using random: inout some RandomNumberGenerator
  ) -> (SimulatedSpace.Action, SimulatedSpace.ObjectKey) {
    let value = UInt8.random(in: 0..<8, using: &random)
    if Int.random(in: 0..<8, using: &random) == 0 {
      let actions: [SimulatedSpace.Action] = [.setTitle(value), .delete, .restore, .move(value)]
      return (actions.randomElement(using: &random) ?? .delete, list(Int.random(in: 0..<listCount, using: &random)))
    }
    let actions: [SimulatedSpace.Action] = [
      .setTitle(value), .addTag(value % 3), .removeTag(value % 3), .complete(value), .reopen, .delete, .restore,
      .move(value), .renumber(value), .setList(list(Int(value) % listCount).id),
      .setParent(task(Int(value) % taskCount).id),
    ]
    return (actions.randomElement(using: &random) ?? .reopen, task(Int.random(in: 0..<taskCount, using: &random)))
  }

  /// How many tasks are above a task; `nil` in a ring.
  static func depth(of id: UUID, in outline: Outline) -> Int? {
    var (depth, current) = (0, id)
    while let parent = outline.places[current]?.parent {
      depth += 1
      current = parent
      if depth > outline.places.count { return nil }
    }
    return depth
  }
}
