import Foundation
import SystemPackage
import TallyEngine
import TestSupport

extension HelperAct {
  /// Runs the act.
  func run() throws {
    switch name {
    case "write": try write()
    case "measure": try measure()
    default: throw Misuse()
    }
  }

  /// Writes to a store with a schema of its own, and says a line after each write that was acknowledged.
  ///
  /// The numbers: the schema's, the seed of the writes, whether amounts are huge, and how many writes there are.
  private func write() throws {
    guard numbers.count == 10 else { throw Misuse() }
    let schema = RandomSchema(numbers[0..<7])
    var configuration = StoreConfiguration()
    configuration.durability = numbers[7].isMultiple(of: 2) ? .relaxed : .durable
    configuration.now = { Timestamp(clamping: Content.start) }
    let store = try Store(at: URL(filePath: directory.string), schema: schema.schema, configuration: configuration)
    say("open")
    for number in 0..<numbers[9] {
      try LonelyWrite(number, seed: numbers[7], in: schema, isHuge: numbers[8] != 0).perform(in: store)
      say("\(number)")
    }
    try store.close()
  }
}
