import Foundation
import SystemPackage
import TestSupport
import Testing

@testable import LMDB

@Suite struct RewritingTests {
  /// Keys in random order, which leave pages a half to two thirds full, and values of which some are longer than a page.
  private func fill(_ sample: Sample, count: UInt64 = 20_000) throws {
    var random = SeededGenerator(seed: 7)
    try sample.environment.write { (transaction) throws in
      for key in (0..<count).shuffled(using: &random) {
        let length = key % 1_000 == 0 ? 9_000 : Int(key % 50)
        try sample.numbers.put([UInt8](repeating: UInt8(key & 0xFF), count: length), forKey: key, in: &transaction)
      }
      try sample.bytes.put([1], forKey: [2, 3], in: &transaction)
    }
  }

  private func contents(of environment: LMDBEnvironment) throws -> [String: [[UInt8]]] {
    try environment.read { try $0.databaseNames() }.reduce(into: [:]) { contents, name in
      let database = try Sample.Bytes(opening: name, in: environment)
      try environment.read { (transaction) throws in
        var entries: [[UInt8]] = []
        try database.forEach(in: transaction) { key, value in
          entries.append(try [UInt8](decoding: key) + [0] + [UInt8](decoding: value))
          return true
        }
        contents[name] = entries
      }
    }
  }

  private func leaves(of name: String, in environment: LMDBEnvironment) throws -> Int {
    let database = try Sample.Bytes(opening: name, in: environment)
    return try environment.read { try database.statistics(in: $0).leafPageCount }
  }

  @Test func everythingIsThereAndPagesAreFull() throws {
    let (sample, target) = (try Sample(), try TemporaryDirectory())
    try fill(sample)
    try sample.environment.rewrite(to: target.path)
    let rewritten = try LMDBEnvironment(path: target.path)
    #expect(try contents(of: rewritten) == contents(of: sample.environment))
    try DataFile(inDirectory: target.path).checkStructure()
    let (before, after) = (try leaves(of: "numbers", in: sample.environment), try leaves(of: "numbers", in: rewritten))
    #expect(after * 5 < before * 4, "\(before) leaves became \(after)")
    #expect(
      try FileManager.default.attributesOfItem(atPath: target.path.appending("data.mdb").string)[.posixPermissions]
        as? Int == 0o600)
  }

  /// Freed pages would stay in the new file.
  @Test func manySmallDatabasesNeedOneTransaction() throws {
    let (sample, target) = (try Sample(), try TemporaryDirectory())
    try sample.environment.write { (transaction) throws in
      for number in UInt8(0)..<9 {
        let database = try Sample.Bytes(opening: "small \(number)", creating: true, in: &transaction)
        try database.put([number], forKey: [number], in: &transaction)
      }
    }
    try sample.environment.rewrite(to: target.path)
    // A page for each of the databases, for their names, and two meta pages.
    let size = try target.path.appending("data.mdb").stat().size
    #expect(try size / 4_096 <= Int64(sample.environment.read { try $0.databaseNames().count }) + 3)
  }

  @Test func moreThanOneTransactionIsNeeded() throws {
    let (sample, target) = (try Sample(), try TemporaryDirectory())
    try sample.environment.write { (transaction) throws in
      for key in UInt64(0)..<30 {
        try sample.numbers.put([UInt8](repeating: UInt8(key), count: 1 << 20), forKey: key, in: &transaction)
      }
    }
    try sample.environment.rewrite(to: target.path)
    #expect(try contents(of: LMDBEnvironment(path: target.path)) == contents(of: sample.environment))
  }

  @Test func anEnvironmentThatIsThereIsNeverOverwritten() throws {
    let (sample, target) = (try Sample(), try Sample())
    try target.put([7], forKey: 7)
    #expect(try code { try sample.environment.rewrite(to: target.directory.path) } == .fileExists)
    #expect(try target.value(forKey: 7) == [7])
    #expect(try code { try sample.environment.rewrite(to: sample.directory.path.appending("none")) } == .noSuchFile)
  }

  @Test func whatOnlyAnotherProgramCanHaveWrittenIsRefusedAndNoFileStays() throws {
    let (sample, target) = (try Sample(), try TemporaryDirectory())
    try fill(sample, count: 10)
    try sample.environment.write { (transaction) throws in
      // liblmdb keeps the names of databases in one of its own, whose number is 1.
      let names = Sample.Bytes(DatabaseHandle(index: 1, stamp: 0))
      try names.put([1], forKey: [UInt8]("note".utf8), in: &transaction)
    }
    #expect(try code { try sample.environment.rewrite(to: target.path) } == .incompatible)
    try sample.environment.write { (_) throws in
      #expect(try code { try sample.environment.rewrite(to: target.path) } == .reentrantWrite)
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: target.path.string).isEmpty)
  }

  @Test func othersMayWriteMeanwhile() throws {
    let sample = try Sample()
    let writer = try HelperProcess("count", sample.directory, 200)
    while try !sample.environment.read({ try $0.databaseNames() }).contains("counters") {
      Thread.sleep(forTimeInterval: 0.001)
    }
    var last: UInt64 = 0
    for _ in 0..<10 {
      let target = try TemporaryDirectory()
      try sample.environment.rewrite(to: target.path)
      let copy = try LMDBEnvironment(path: target.path)
      let counters = try Database<UInt64, UInt64>(opening: "counters", in: copy)
      try copy.read { (transaction) throws in
        let count = try #require(try counters.value(forKey: 0, in: transaction))
        #expect(try count >= last && counters.value(forKey: 1, in: transaction) == count)
        last = count
      }
    }
    #expect(writer.lines() == [])
  }
}
