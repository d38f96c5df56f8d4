import Foundation
import TestSupport
import Testing

@testable import Tally

@Suite struct ImportedIDsTests {
  @Test func randomIDsAreFoundAsInASet() {
    var random = SeededGenerator(seed: SeededGenerator.chooseSeed(for: #function))
    for isMostlyAscending in [true, false] {
      var (ids, set, next) = (ImportedIDs(), Set<UUID>(), UInt64(0))
      for _ in 0..<3_000 {
        next += 1
        let isNext = isMostlyAscending && UInt64.random(in: 0..<10, using: &random) > 0
        let id = UUID(
          high: isNext ? next : .random(in: 0...next, using: &random), low: .random(in: 0..<3, using: &random))
        #expect(ids.contains(id) == set.contains(id))
        #expect(ids.insert(id) == set.insert(id).inserted)
        #expect(ids.contains(id))
      }
    }
  }
}
