import BenchmarkData
import Foundation

/// The work that costs are compared with; neither calls Tally.
struct Yardsticks {
  private let raw: RawStore
  private var creationCount = 0

  init() throws {
    raw = try RawStore(copyOf: WorkData.set, "work-yardstick")
  }

  /// Nanoseconds of one yardstick, measured once.
  mutating func time(_ yardstick: Yardstick) throws -> Double {
    switch yardstick {
    case .processor:
      var sum: UInt64 = 0
      let time = nanoseconds { sum = Self.fixedWork() }
      try expectEqual(sum, Self.sumOfFixedWork, "the sum of the fixed work")
      return time
    case .disk:
      creationCount += 1
      return try nanoseconds { try raw.create(creationCount) }
    }
  }

  func close() {
    raw.close()
  }

  private static let sumOfFixedWork = fixedWork()

  /// Sorting, look-ups and copies, as a store's own work has them.
  private static func fixedWork() -> UInt64 {
    var random = SeededRandom(seed: 38)
    var numbers = (0..<4_096).map { _ in random.next() }
    numbers.sort()
    var places: [UInt64: Int] = [:]
    for (place, number) in numbers.enumerated() { places[number] = place }
    return numbers.reduce(0) { sum, number in sum &* 31 &+ UInt64(places[number] ?? 0) &+ number }
  }
}

/// Nanoseconds that work takes.
func nanoseconds(_ work: () throws -> Void) rethrows -> Double {
  let clock = ContinuousClock()
  let start = clock.now
  try work()
  return (clock.now - start) / .nanoseconds(1)
}
