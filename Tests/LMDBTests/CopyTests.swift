import Foundation
import LMDB
import SystemPackage
import TestSupport
import Testing

@Suite struct CopyTests {
  private func contents(of directory: TemporaryDirectory) throws -> [UInt64: [UInt8]] {
    let environment = try LMDBEnvironment(path: directory.path)
    let numbers = try Sample.Numbers(opening: "numbers", in: environment)
    return try environment.read { (transaction) throws in
      var contents: [UInt64: [UInt8]] = [:]
      try numbers.forEach(in: transaction) { key, value in
        contents[try UInt64(decoding: key)] = try [UInt8](decoding: value)
        return true
      }
      return contents
    }
  }

  private func fill(_ sample: Sample) throws -> [UInt64: [UInt8]] {
    let all = Dictionary(
      uniqueKeysWithValues: (UInt64(0)..<3000).map { ($0, [UInt8](repeating: UInt8($0 & 7), count: 100)) }
    )
    try sample.environment.write { (transaction) throws in
      for (key, value) in all { try sample.numbers.put(value, forKey: key, in: &transaction) }
    }
    return all
  }

  @Test(arguments: [false, true])
  func copyHoldsTheSameAndIsPrivate(compacting: Bool) throws {
    let (sample, target) = (try Sample(), try TemporaryDirectory())
    let all = try fill(sample)
    try sample.environment.copy(to: target.path, compacting: compacting)
    #expect(try contents(of: target) == all)
    let file = target.path.appending("data.mdb").string
    #expect(try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int == 0o600)
  }

  @Test func compactingLeavesFreePagesOut() throws {
    let (sample, plain, compact) = (try Sample(), try TemporaryDirectory(), try TemporaryDirectory())
    _ = try fill(sample)
    try sample.environment.write { (transaction) throws in
      for key in UInt64(0)..<2990 { try sample.numbers.remove(forKey: key, in: &transaction) }
    }
    let free = try sample.freePageCount()
    #expect(free > 50)
    try sample.environment.copy(to: plain.path)
    try sample.environment.copy(to: compact.path, compacting: true)
    let sizes = try [plain, compact].map { directory in
      let file = directory.path.appending("data.mdb").string
      return try FileManager.default.attributesOfItem(atPath: file)[.size] as? Int ?? 0
    }
    #expect(sizes[0] > sizes[1] + free * 4000)
    #expect(try contents(of: compact).count == 10)
  }

  @Test func existingEnvironmentIsNeverOverwritten() throws {
    let (sample, target) = (try Sample(), try Sample())
    try target.put([7], forKey: 7)
    #expect(try code { try sample.environment.copy(to: target.directory.path) } == .fileExists)
    #expect(try code { try sample.environment.copy(to: sample.directory.path) } == .fileExists)
    #expect(try target.value(forKey: 7) == [7])
  }

  @Test func copyIntoAMissingDirectoryIsRefused() throws {
    let sample = try Sample()
    #expect(try code { try sample.environment.copy(to: sample.directory.path.appending("none")) } == .noSuchFile)
  }

  @Test func failedCopyLeavesNoFile() throws {
    let sample = try Sample()
    let target = try TemporaryDirectory()
    try sample.environment.write { (transaction) throws in
      #expect(try code { try sample.environment.copy(to: target.path) } == .reentrantWrite)
      try sample.numbers.put([1], forKey: 1, in: &transaction)
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: target.path.string).isEmpty)
  }

  @Test(arguments: [false, true])
  func copyMadeWhileOthersWriteIsOneSnapshot(compacting: Bool) throws {
    let sample = try Sample()
    let writer = try HelperProcess("count", sample.directory, 200)
    for _ in 0..<10 {
      let target = try TemporaryDirectory()
      try sample.environment.copy(to: target.path, compacting: compacting)
      let copy = try LMDBEnvironment(path: target.path)
      guard let counters = try? Database<UInt64, UInt64>(opening: "counters", in: copy) else { continue }
      try copy.read { (transaction) throws in
        #expect(try counters.value(forKey: 0, in: transaction) == counters.value(forKey: 1, in: transaction))
      }
    }
    #expect(writer.lines() == [])
  }

  @Test func aCopyIsReadAsAFrozenFileWhileAnotherTakesItsName() throws {
    let (sample, target) = (try Sample(), try TemporaryDirectory())
    let all = try fill(sample)
    try sample.environment.copy(to: target.path)
    let file = target.path.appending("data.mdb")
    var options = LMDBEnvironment.Options()
    options.isFrozenFile = true
    let frozen = try LMDBEnvironment(path: file, options: options)
    let numbers = try Sample.Numbers(opening: "numbers", in: frozen)
    #expect(try code { _ = try frozen.beginWrite() } == .readOnly)
    try sample.put([], forKey: 0)
    let newer = try TemporaryDirectory()
    try sample.environment.copy(to: newer.path)
    try FileManager.default.removeItem(atPath: file.string)
    try FileManager.default.moveItem(atPath: newer.path.appending("data.mdb").string, toPath: file.string)
    #expect(try frozen.read { try numbers.value(forKey: 0, in: $0) } == all[0])
    // There is no table of readers to look at, and no lock.
    #expect(try frozen.readers().isEmpty && frozen.clearStaleReaders() == 0 && frozen.information().readerCount == 0)
    #expect(try FileManager.default.contentsOfDirectory(atPath: target.path.string) == ["data.mdb"])
    try frozen.close()
    let later = try LMDBEnvironment(path: file, options: options)
    let laterNumbers = try Sample.Numbers(opening: "numbers", in: later)
    #expect(try later.read { try laterNumbers.value(forKey: 0, in: $0) } == [])
    try later.close()
  }
}

/// The errors of calls with paths say which one is meant.
@Suite struct NamedPathTests {
  @Test(arguments: [false, true]) func aCopyThatFailsNamesItsFile(compacting: Bool) throws {
    let (sample, target) = (try Sample(), try TemporaryDirectory())
    try sample.environment.copy(to: target.path, compacting: compacting)
    let file = target.path.appending("data.mdb")
    let taken = #expect(throws: LMDBError.self) {
      try sample.environment.copy(to: target.path, compacting: compacting)
    }
    #expect(taken?.code == .fileExists)
    #expect(taken?.message.contains(file.string) == true)
    let missing = #expect(throws: LMDBError.self) {
      try sample.environment.copy(to: target.path.appending("nowhere"), compacting: compacting)
    }
    #expect(missing?.code == .noSuchFile)
    #expect(missing?.message.contains("nowhere/data.mdb") == true)
  }

  @Test func rewritingAndOpeningNameTheirPath() throws {
    let (sample, target) = (try Sample(), try TemporaryDirectory())
    try sample.environment.copy(to: target.path)
    let taken = #expect(throws: LMDBError.self) { try sample.environment.rewrite(to: target.path) }
    #expect(taken?.message.contains(target.path.appending("data.mdb").string) == true)
    let missing = #expect(throws: LMDBError.self) { _ = try LMDBEnvironment(path: target.path.appending("nowhere")) }
    #expect(missing?.message.contains("nowhere") == true)
  }
}
