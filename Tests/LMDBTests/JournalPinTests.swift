import Foundation
import TestSupport
import Testing

@testable import LMDB

@Suite struct JournalPinTests {
  /// Another process's pin goes with that process, in the middle of a write.
  @Test(arguments: [false, true])
  func aWriterTrustsItsOwnPinOnly(isRuleBroken: Bool) throws {
    let sample = try JournaledSample { $0.journal?.brokenRules = isRuleBroken ? .ownPin : [] }
    // At once, so that there are few free pages from before.
    try sample.environment.write { transaction in
      for number in 0..<200 {
        try sample.rows.put([UInt8](repeating: 97, count: 200), forKey: Array("\(number)".utf8), in: &transaction)
      }
    }
    try sample.environment.makeCheckpoint()
    let steady = try sample.dataFile()
    let helper = try HelperProcess("hold-read", sample.directory)
    #expect(helper.line() == "ready")
    for number in 0..<60 { try sample.put("b", forKey: "\(number)") }
    try sample.environment.write { transaction in
      helper.kill()
      try sample.environment.clearStaleReaders()
      for number in 0..<200 {
        let key = Array("\(number)".utf8)
        try sample.rows.put([UInt8](repeating: 99, count: 300), forKey: key, in: &transaction)
      }
    }
    // The pages as they are now, from the steady commit on.
    var now = try sample.dataFile()
    now.replaceSubrange(0..<8_192, with: steady[0..<8_192])
    let copy = try sample.copy(dataFile: now)
    let isWhole = (try? DataFile(inDirectory: copy.path).checkStructure()) != nil
    #expect(isWhole != isRuleBroken)
  }
}
