import Foundation
import SystemPackage
import TestSupport
import Testing

@testable import LMDB
@testable import TallySystem

/// Power cuts of a store with a log: what was flushed is there, and any of the sectors that were not.
///
/// A commit into the tree counts as one step here: images of liblmdb's own writes are made elsewhere.
@Suite struct LogCrashTests {
  private typealias Contents = [[UInt8]: [UInt8]]
  private static let sectorByteCount = 512

  /// The log's file, as it is and as a power cut may leave it.
  private struct Disk {
    var now: [UInt8]
    var durable: [UInt8]
    var unflushed: Set<Int> = []

    mutating func write(_ bytes: [UInt8], at offset: Int) {
      now.replaceSubrange(offset..<offset + bytes.count, with: bytes)
      unflushed.formUnion(offset / sectorByteCount...(offset + bytes.count - 1) / sectorByteCount)
    }

    mutating func flush() {
      durable = now
      unflushed = []
    }

    func image(_ random: inout SeededGenerator) -> [UInt8] {
      var image = durable
      let share = [0, 2, 5, 9, 10].randomElement(using: &random) ?? 0
      for sector in unflushed where Int.random(in: 0..<10, using: &random) < share {
        let range = sector * sectorByteCount..<(sector + 1) * sectorByteCount
        image.replaceSubrange(range, with: now[range])
      }
      return image
    }
  }

  private struct Cut {
    let log: [UInt8]
    let tree: [UInt8]
    /// The first and the last write that may be the last one there.
    let range: ClosedRange<Int>
  }

  /// A workload with the images that power cuts leave of it.
  private final class Workload {
    let directory: TemporaryDirectory
    private let disk: Monitor<Disk>
    private let environment: LMDBEnvironment
    private let store: LogStore
    private let table: LogStoreTable
    private var random: SeededGenerator
    private(set) var states: [Contents] = [[:]]
    private(set) var cuts: [Cut] = []
    private var durableCount = 0
    private let pending: Monitor<[[UInt8]]>

    init(seed: UInt64, ringByteCount: Int) throws {
      random = SeededGenerator(seed: seed)
      directory = try TemporaryDirectory()
      let empty = [UInt8](repeating: 0, count: LogFile.blockByteCount + ringByteCount)
      let disk = Monitor(Disk(now: empty, durable: empty))
      let pending = Monitor<[[UInt8]]>([])
      let seeds = Monitor(SeededGenerator(seed: seed &+ 1))
      var options = LogStore.Options()
      options.ringByteCount = ringByteCount
      options.commitsPerPart = 5
      options.mergesByItself = false
      let look = { @Sendable in
        let image = disk.withLock { disk in seeds.withLock { disk.image(&$0) } }
        pending.withLock { $0.append(image) }
      }
      options.hooks.willWrite = { offset, bytes in
        look()
        disk.withLock { $0.write(bytes, at: offset) }
      }
      options.hooks.willFlush = { look() }
      options.hooks.hasFlushed = { disk.withLock { $0.flush() } }
      environment = try LMDBEnvironment(forLogIn: directory.path)
      store = try #require(try LogStore(of: environment, options: options))
      let made = try LogFile.bytes(of: store.log.descriptor, count: empty.count, at: 0)
      disk.withLock { $0 = Disk(now: made, durable: made) }
      table = try store.table(named: "table")
      self.disk = disk
      self.pending = pending
    }

    private func tree() throws -> [UInt8] {
      Array(try Data(contentsOf: URL(filePath: store.environment.dataFile.string)))
    }

    func run(steps: Int) throws {
      for _ in 0..<steps {
        let before = try tree()
        let isMerge = random.oneIn(6)
        let isDurable = random.oneIn(2)
        if isMerge { try store.merge() } else { try write(isDurable: isDurable, isLong: random.oneIn(15)) }
        let after = try tree()
        let floor = durableCount
        if isMerge || isDurable {
          durableCount = states.count - 1
        } else if before != after {
          // The writer has merged what was there before, to make room.
          durableCount = max(durableCount, states.count - 2)
        }
        let images = pending.withLock { pending in
          defer { pending = [] }
          return pending
        }
        for (index, image) in images.enumerated() {
          cuts.append(Cut(log: image, tree: after, range: floor...states.count - 1))
          // A writer merges before it writes, so the first image may have been made before that, too.
          if index == 0 { cuts.append(Cut(log: image, tree: before, range: floor...states.count - 1)) }
        }
        let image = disk.withLock { $0.image(&random) }
        cuts.append(Cut(log: image, tree: after, range: durableCount...states.count - 1))
      }
    }

    private func write(isDurable: Bool, isLong: Bool) throws {
      var state = states[states.count - 1]
      var changed: [([UInt8], [UInt8]?)] = []
      for _ in 0..<Int.random(in: 1...5, using: &random) {
        let key = [UInt8.random(in: 1...30, using: &random)]
        let count = isLong ? 9_000 : Int.random(in: 0...700, using: &random)
        let fill = UInt8.random(in: 0...255, using: &random)
        changed.append((key, random.oneIn(4) ? nil : [UInt8](repeating: fill, count: count)))
      }
      changed.append(([0], UInt64(states.count).storedBytes))
      for (key, value) in changed { state[key] = value }
      states.append(state)
      try store.write(isDurable: isDurable) { _, changes in
        for (key, value) in changed { try changes.set(value, forKey: key, in: table.name) }
      }
    }

  }

  /// Opens an image, and returns what is there; then closes it and looks at the plain file, too.
  private func contents(of cut: Cut, again: Bool) throws -> (Contents, plain: Contents) {
    let directory = try TemporaryDirectory()
    try Data(cut.tree).write(to: URL(filePath: directory.path.appending("data.mdb").string))
    try Data(cut.log).write(to: URL(filePath: directory.path.appending("log").string))
    for _ in 0..<(again ? 1 : 0) {
      // Recovered, and left without closing.
      let environment = try LMDBEnvironment(forLogIn: directory.path)
      _ = try LogStore(of: environment)
      try environment.close()
    }
    let environment = try LMDBEnvironment(forLogIn: directory.path)
    let store = try #require(try LogStore(of: environment))
    let table = try store.table(named: "table")
    var found: Contents = [:]
    do {
      let snapshot = try store.beginRead()
      try snapshot.forEach(in: table) { key, value in
        found[try [UInt8](decoding: key)] = try [UInt8](decoding: value)
        return true
      }
    }
    try store.write { _, changes in try changes.set([1], forKey: [200], in: "table") }
    try store.mergeAndClose()
    var plain: Contents = [:]
    try environment.read { transaction in
      try table.database.forEach(in: transaction) { key, value in
        plain[try [UInt8](decoding: key)] = try [UInt8](decoding: value)
        return true
      }
    }
    try environment.close()
    return (found, plain)
  }

  @Test func everyImageOfAPowerCutHasAllDurableCommitsAndNoHalfOnes() throws {
    var random = SeededGenerator(seed: SeededGenerator.chooseSeed(for: "LogCrashTests"))
    let imageCount = TestSize.of("TALLY_LOG_IMAGES", quick: 120, long: 6_000)
    var (count, short) = (0, 0)
    while count < imageCount {
      let workload = try Workload(seed: random.next(), ringByteCount: LogFile.minimumRingByteCount)
      try workload.run(steps: 60)
      for cut in workload.cuts.shuffled(using: &random).prefix(60) {
        let (found, plain) = try contents(of: cut, again: random.oneIn(3))
        let number = found[[0]].map { $0.reversed().reduce(0) { $0 << 8 | Int($1) } } ?? 0
        #expect(cut.range.contains(number), "commit \(number) of \(cut.range) is there")
        guard workload.states.indices.contains(number) else { continue }
        #expect(found == workload.states[number], "commit \(number) of \(cut.range) is not whole")
        #expect(plain == found.merging([[200]: [1]]) { $1 })
        count += 1
        short += number < cut.range.upperBound ? 1 : 0
      }
    }
    print("LogCrashTests: \(count) images, \(short) of them without the last commit")
    #expect(short > 0)
  }
}
