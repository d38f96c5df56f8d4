import Foundation
import SystemPackage
import Tally
import TallySync
import TallySystem
import TallyTestSupport

/// Two devices, each with a copy of the folder: the power of the first one fails, the second one is intact.
///
/// In the directory: `live/a` and `live/b`, the devices; `b-<n>`, the second one after some rounds; `acknowledged`,
/// what the first one has reported; `invitation`; `second`, the replica of the second device.
struct SyncedPair {
  let directory: FilePath
  let seed: UInt64
  /// Whether commits of the first device need not survive a power cut.
  let isRelaxed: Bool

  /// Takes the first arguments of an act: `DIRECTORY SEED durable|relaxed`.
  init(_ act: Act) throws {
    directory = try act.path(0)
    seed = try act.number(1)
    isRelaxed = try act.text(2) == "relaxed"
  }

  /// The arguments from which it can be made again.
  var arguments: [String] { [directory.string, "\(seed)", isRelaxed ? "relaxed" : "durable"] }

  /// The number of each device.
  static let (first, second) = (UInt8(1), UInt8(2))

  var live: FilePath { directory.appending("live") }
  var a: FilePath { live.appending("a") }
  var b: FilePath { live.appending("b") }
  var acknowledgements: FilePath { directory.appending("acknowledged") }
  private var invitation: FilePath { directory.appending("invitation") }

  func checkpoint(_ round: Int) -> FilePath { directory.appending("b-\(round)") }

  func history(of device: UInt8) -> SyncHistory { SyncHistory(of: device, seed: seed) }

  /// The invitation to the space.
  func readInvitation() throws -> String { String(decoding: try bytes(of: invitation), as: UTF8.self) }

  /// Whether a file of the folder belongs to the second device.
  func isOfSecond() throws -> (String) -> Bool {
    let part = "/\(String(decoding: try bytes(of: directory.appending("second")), as: UTF8.self))/"
    return { $0.contains(part) }
  }

  /// Brings to each folder what the other device has written.
  func exchange() throws {
    let (a, b, isOfSecond) = (a.appending("folder"), b.appending("folder"), try isOfSecond())
    try FolderCopier.copy(from: a, to: b) { !isOfSecond($0) }
    try FolderCopier.copy(from: b, to: a, where: isOfSecond)
  }

  /// Creates the space, and lets both devices exchange changes until the first one has a number of segments.
  func prepare(segmentCount: Int) throws {
    for device in [a, b] {
      try FileManager.default.createDirectory(
        atPath: device.appending("folder").string, withIntermediateDirectories: true)
    }
    let (a, b) = (try SyncDevice(at: a), try SyncDevice(at: b))
    try write(Array(b.setUp().utf8), to: invitation)
    try SyncHistory.addShared(to: b.store)
    try b.synchronize()
    if let status = try b.status() { try write(Array("\(status.replica)".utf8), to: directory.appending("second")) }
    try FolderCopier.copy(from: b.folder, to: a.folder)
    try a.join(readInvitation())
    try a.synchronize()
    var history = history(of: Self.first)
    for _ in 0..<segmentCount {
      try history.commit(to: a.store)
      try a.synchronize()
    }
    try exchange()
    try b.synchronize()
    for device in [a, b] { try device.store.close() }
    try FileManager.default.copyItem(atPath: b.directory.string, toPath: checkpoint(0).string)
  }
}

/// Lets the two devices of a pair work, and acknowledges what the first one has done:
/// `synchronize DIRECTORY SEED durable|relaxed ROUNDS`.
struct SynchronizeAct {
  private let pair: SyncedPair
  private let roundCount: Int
  private let output: FileDescriptor

  init(_ act: Act) throws {
    pair = try SyncedPair(act)
    roundCount = try act.number(3)
    output = try FileDescriptor.open(
      pair.acknowledgements, .writeOnly, options: [.create, .append, .closeOnExec], permissions: .ownerReadWrite)
  }

  private func acknowledge(_ word: String, _ number: Int) throws {
    try output.writeAll("\(word) \(number)\n".utf8)
  }

  func run() throws {
    var generator = SeededGenerator(seed: pair.seed)
    var a = try SyncDevice(at: pair.a, isRelaxed: pair.isRelaxed)
    var history = pair.history(of: SyncedPair.first)
    history.advance(to: try history.count(in: a.store))
    try acknowledge("published", history.count)
    for round in 1...roundCount {
      for _ in 0..<Int.random(in: 1...3, using: &generator) {
        try acknowledge("begun", history.count + 1)
        try history.commit(to: a.store)
        try acknowledge("committed", history.count)
      }
      if generator.oneIn(3) { try changeOther(round) }
      if generator.oneIn(2) { try pair.exchange() }
      if round == roundCount * 2 / 3 { try loseSegments(of: a, round) }
      if generator.oneIn(6) {
        try a.store.close()
        a = try SyncDevice(at: pair.a, isRelaxed: pair.isRelaxed)
      }
      try a.synchronize()
      try acknowledge("published", history.count)
    }
    try a.store.close()
  }

  /// Lets the second device change tasks and exchange with its own folder.
  private func changeOther(_ round: Int) throws {
    let b = try SyncDevice(at: pair.b)
    var history = pair.history(of: SyncedPair.second)
    history.advance(to: try history.count(in: b.store))
    for _ in 0..<2 { try history.commit(to: b.store) }
    try b.synchronize()
    try b.store.close()
    try FileManager.default.copyItem(atPath: b.directory.string, toPath: pair.checkpoint(round).string)
    try acknowledge("checkpoint", round)
  }

  /// Takes the segments of the first device out of both folders, as if the place had gone back in time: it then writes
  /// as a new replica, and publishes a snapshot.
  private func loseSegments(of a: SyncDevice, _ round: Int) throws {
    guard let status = try a.status() else { return }
    try acknowledge("lost", round)
    for folder in [pair.a.appending("folder"), pair.b.appending("folder")] {
      let replicas = folder.appending("tally-\(status.space)").appending("replicas")
      let segments = replicas.appending("\(status.replica)")
      guard FileManager.default.fileExists(atPath: segments.string) else { continue }
      try SystemCalls.rename(segments, to: folder.appending("removed-\(round)"))
    }
  }
}
