import Foundation
import SystemPackage
import Tally
import TallyTestSupport
import TestSupport
import Testing

@testable import TallySync

/// Changes that are known to exist but cannot be read.
///
/// Reports and the status say which ones and from whom, until they are there.
struct MissingChangesTests {
  /// What may be wrong with the file of one segment.
  enum Damage: CaseIterable {
    case removed, empty, torn, changed, placeholder, unreadable

    func strike(_ file: FilePath) throws {
      let url = URL(filePath: file.string)
      let bytes = try Data(contentsOf: url)
      switch self {
      case .removed: try FileManager.default.removeItem(at: url)
      case .empty: try Data().write(to: url)
      case .torn: try bytes.prefix(bytes.count - 1).write(to: url)
      case .changed: try (bytes.dropLast(100) + Data(repeating: 0, count: 100)).write(to: url)
      case .placeholder:
        let name = ".\(url.lastPathComponent).icloud"
        let placeholder = url.deletingLastPathComponent().appending(path: name)
        try? FileManager.default.removeItem(at: placeholder)
        try FileManager.default.moveItem(at: url, to: placeholder)
      case .unreadable: try FileManager.default.setAttributes([.posixPermissions: 0], ofItemAtPath: file.string)
      }
    }

    /// A part of the reason that is reported.
    var words: String {
      switch self {
      case .removed: "not arrived."
      case .empty, .torn, .changed: "not arrived completely, or is damaged"
      case .placeholder: "not downloaded"
      case .unreadable: "cannot be read"
      }
    }

    /// All kinds of damage, except for root, who can read everything.
    static var possible: [Damage] { allCases.filter { geteuid() != 0 || $0 != .unreadable } }
  }

  @Test(arguments: Damage.possible, [1, 3, 5] as [UInt64])
  func aSegmentThatIsNotThereIsNamedToANewcomer(damage: Damage, number: UInt64) async throws {
    try await withStream { stream in
      let store = try await stream.newcomer()
      try await expectMissing(number, damage, in: store, of: stream)
    }
  }

  @Test(arguments: Damage.possible, [3, 5] as [UInt64])
  func aSegmentThatIsNotThereIsNamedToAMember(damage: Damage, number: UInt64) async throws {
    try await withStream { stream in try await expectMissing(number, damage, in: stream.space.stores[1], of: stream) }
  }

  private func expectMissing(
    _ number: UInt64, _ damage: Damage, in store: TaskStore, of stream: SegmentStream
  ) async throws {
    let (files, sync) = (try stream.copy(), StoreSync(store))
    try damage.strike(stream.file(number))
    let report = try await sync.synchronize()
    let incomplete = try #require(report.incomplete.first)
    #expect(report.incomplete.count == 1 && incomplete.replica == stream.author && incomplete.name == "first")
    #expect(incomplete.missing == [number...number] && incomplete.reason.contains(damage.words), "\(incomplete)")
    #expect(incomplete.since == stream.space.clock.now && incomplete.remedy != nil)
    let status = try await sync.status()
    #expect(status.blocked == report.blocked && !status.needsUpgrade)
    // The tasks of the segments before it, and the task of the third device.
    #expect(try UInt64(stream.count(in: store)) == number)
    // The report stays the same, with the same time, and nothing is written for it.
    let writes = try store.begunWriteCount
    stream.space.clock.now = stream.space.clock.now.adding(seconds: 60)
    let later = try await sync.synchronize()
    #expect(try later.blocked == report.blocked && store.begunWriteCount == writes)
    try stream.restore(files)
    let complete = try await sync.synchronize()
    #expect(try complete.blocked == [] && stream.count(in: store) == 6)
    let last = try await sync.status()
    #expect(last.blocked == [])
  }

  @Test func severalGapsOfSeveralDevicesAreNamed() async throws {
    try await withStream { stream in
      for title in ["b", "c"] {
        try await stream.space.stores[2].write { _ = try $0.add(title, to: .inbox) }
        try await stream.space.sync(2).synchronize()
      }
      let third = try await stream.space.sync(2).status().replica
      let files = try stream.copy()
      for number in [1, 3, 4] as [UInt64] { try Damage.removed.strike(stream.file(number)) }
      try Damage.torn.strike(stream.file(2, of: third))
      let store = try await stream.newcomer()
      let report = try await StoreSync(store).synchronize()
      let found = Dictionary(uniqueKeysWithValues: report.incomplete.map { ($0.replica, $0) })
      #expect(found[stream.author]?.missing == [1...1, 3...4] && found[third]?.missing == [2...2])
      #expect(found[stream.author]?.reason == "Segments 1 and 3 to 4 have not arrived.")
      try stream.restore(files)
      let complete = try await StoreSync(store).synchronize()
      #expect(try complete.blocked == [] && stream.count(in: store) == 8)
    }
  }

  /// If nothing of a device is there, only segments of other devices show that it exists.
  @Test func aDirectoryThatIsGoneIsMissed() async throws {
    try await withStream { stream in
      let files = try stream.copy()
      try FileManager.default.removeItem(atPath: stream.directory.string)
      let store = try await stream.newcomer()
      let report = try await StoreSync(store).synchronize()
      #expect(report.incomplete.map(\.replica) == [stream.author] && report.incomplete.first?.missing == [1...5])
      #expect(report.incomplete.first?.name == nil)
      try stream.restore(files)
      let complete = try await StoreSync(store).synchronize()
      #expect(try complete.blocked == [] && stream.count(in: store) == 6)
    }
  }

  @Test(.enabled(if: geteuid() != 0)) func aDirectoryThatCannotBeReadStopsItsStreamAlone() async throws {
    try await withStream { stream in
      let store = try await stream.newcomer()
      try FileManager.default.setAttributes([.posixPermissions: 0], ofItemAtPath: stream.directory.string)
      let report = try await StoreSync(store).synchronize()
      let (own, count) = (stream.space.sync(0), try stream.count(in: store))
      let error = await #expect(throws: TallyError.self) { try await own.synchronize() }
      try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: stream.directory.string)
      #expect(report.incomplete.map(\.replica) == [stream.author] && count == 1)
      #expect(report.incomplete.first?.reason.contains("cannot be read") == true)
      // The author does not mistake what it cannot read for lost.
      #expect(error?.code == .syncUnreachable)
      #expect(try await own.status().replica == stream.author)
      let complete = try await StoreSync(store).synchronize()
      #expect(try complete.blocked == [] && stream.count(in: store) == 6)
    }
  }

  @Test func aCardThatHasNotArrivedIsMissed() async throws {
    try await withStream { stream in
      let files = try stream.copy()
      for path in files.keys where path.contains("\(stream.author)/card-") {
        try FileManager.default.removeItem(atPath: stream.transport.listing.space.appending(path).string)
      }
      let store = try await stream.newcomer()
      #expect(try await StoreSync(store).synchronize().incomplete.map(\.replica) == [stream.author])
      try stream.restore(files)
      #expect(try await StoreSync(store).synchronize().blocked == [])
    }
  }

  /// The author sees that its files are gone, and publishes a snapshot; then nothing is missing any more.
  @Test func whatASnapshotCoversIsNotMissing() async throws {
    try await withStream { stream in
      for number in [2, 3] as [UInt64] { try Damage.removed.strike(stream.file(number)) }
      let store = try await stream.newcomer()
      #expect(try await StoreSync(store).synchronize().incomplete.first?.missing == [2...3])
      try await stream.space.sync(0).synchronize()
      let complete = try await StoreSync(store).synchronize()
      #expect(try complete.blocked == [] && stream.count(in: store) == 6)
      let other = try await stream.newcomer()
      #expect(try await StoreSync(other).synchronize().blocked == [])
    }
  }

  @Test(arguments: [Damage.removed, .torn, .placeholder])
  func aPartOfASnapshotThatIsNotThereIsMissed(damage: Damage) async throws {
    try await withStream { stream in
      let notes = String(repeating: "n", count: 50_000)
      try await stream.space.stores[0].write { transaction in
        for number in 0..<30 { try transaction.add("task \(number)", to: .inbox) { $0.notes = notes } }
      }
      try await stream.space.sync(0).synchronize()
      let name = try #require(try await stream.transport.snapshots().first)
      #expect(name.partCount > 1)
      // As after a month, when only the last file is left.
      let last = try #require(try stream.transport.segmentFiles(of: stream.author).head).number
      for number in 1..<last { try? Damage.removed.strike(stream.file(number)) }
      let directory = stream.transport.listing.directory(.snapshots, of: name.replica)
      let part = directory.appending(
        FolderName.part(1, of: .init(number: name.number, digest: name.digest, partCount: name.partCount)).text)
      let bytes = try Data(contentsOf: URL(filePath: part.string))
      try damage.strike(part)
      let store = try await stream.newcomer()
      let incomplete = try #require(try await StoreSync(store).synchronize().incomplete.first)
      #expect(incomplete.replica == stream.author && incomplete.reason.contains("snapshot"), "\(incomplete)")
      try bytes.write(to: URL(filePath: part.string))
      let complete = try await StoreSync(store).synchronize()
      #expect(try complete.blocked == [] && stream.count(in: store) == 36)
      // A device that has read everything misses nothing.
      try damage.strike(part)
      #expect(try await StoreSync(store).synchronize().blocked == [])
    }
  }

  /// Anybody can write a name, so it says nothing any more when the file is gone.
  @Test(arguments: [6, 7, 11, 99_999_998, 9_999_999_999] as [UInt64], [true, false])
  func aFileThatTheDeviceHasNotWrittenIsForgottenWithItsName(number: UInt64, isPlaceholder: Bool) async throws {
    try await withStream { stream in
      try await stream.space.sync(1).synchronize()
      let bytes = try Data(contentsOf: URL(filePath: stream.file(5).string))
      let name = FolderName.segments(.init(first: number, last: number, digest: [1, 2, 3, 4, 5, 6, 7, 8]))
      let path = stream.directory.appending((isPlaceholder ? .placeholder(name) : name).text).string
      try bytes.write(to: URL(filePath: path))
      #expect(try await stream.space.sync(1).synchronize().incomplete.map(\.replica) == [stream.author])
      try FileManager.default.removeItem(atPath: path)
      #expect(try await stream.space.sync(1).synchronize().blocked == [])
      let status = try await stream.space.sync(1).status()
      #expect(status.blocked == [] && status.members.allSatisfy { $0.behind == 0 })
      let newcomer = try await stream.newcomer()
      #expect(try await StoreSync(newcomer).synchronize().blocked == [])
    }
  }

  @Test func manyGapsAreStoredInPart() async throws {
    try await withStream { stream in
      let bytes = try Data(contentsOf: URL(filePath: stream.file(5).string))
      for number in 1...(BlockReason.mostRuns + 50) {
        let last = UInt64(5 + 2 * number)
        let name = FolderName.segments(.init(first: last, last: last, digest: [1, 2, 3, 4, 5, 6, 7, 8]))
        try bytes.write(to: URL(filePath: stream.directory.appending(name.text).string))
      }
      let blocked = try #require(try await stream.space.sync(1).synchronize().incomplete.first)
      #expect(blocked.missing.count == BlockReason.mostRuns && blocked.reason.contains("and more"))
      let status = try await stream.space.sync(1).status()
      #expect(status.blocked == [blocked])
    }
  }

  /// A name may say that a snapshot has any number of parts; only those that are there are looked at.
  @Test func aNameOfManyPartsMakesNoWork() async throws {
    try await withStream { stream in
      let stem = FolderName.SnapshotStem(number: 9, digest: [1, 2, 3, 4, 5, 6, 7, 8], partCount: FolderName.mostParts)
      let directory = stream.transport.listing.directory(.snapshots, of: stream.author)
      try FileManager.default.createDirectory(atPath: directory.string, withIntermediateDirectories: true)
      for number in [0, 4] {
        let path = directory.appending(FolderName.part(number, of: stem).text)
        try Data(repeating: 1, count: 400).write(to: URL(filePath: path.string))
      }
      #expect(try await stream.transport.incompleteSnapshots().map(\.value) == [[]])
      #expect(try await stream.space.sync(1).synchronize().blocked == [])
      let newcomer = try await stream.newcomer()
      #expect(try await StoreSync(newcomer).synchronize().received > 0)
    }
  }

  /// What was missing of a device is missed no more when the device is revoked.
  @Test(arguments: Damage.possible) func whatARevokedDeviceHasNotSentIsNotMissed(damage: Damage) async throws {
    try await withStream { stream in
      try damage.strike(stream.file(3))
      #expect(try await stream.space.sync(1).synchronize().incomplete.map(\.replica) == [stream.author])
      _ = try await stream.space.sync(1).revoke(stream.author)
      let report = try await stream.space.sync(1).synchronize()
      let status = try await stream.space.sync(1).status()
      #expect(report.blocked == [] && !status.blocked.contains(where: \.isIncomplete))
    }
  }

  @Test func segmentsOfARevokedDeviceBehindTheCutAreNotMissed() async throws {
    try await withStream { stream in
      _ = try await stream.space.sync(1).revoke(stream.author)
      try Damage.removed.strike(stream.file(5))
      #expect(try await stream.space.sync(1).synchronize().blocked == [])
      let store = try await stream.newcomer(invitedBy: 1)
      #expect(try await StoreSync(store).synchronize().blocked == [])
      #expect(try stream.count(in: store) == 6)
    }
  }
}

/// Five segments of a first device, with a task in each.
///
/// A second device has read two of them. A third device has read all of them, and its own segment says so.
private struct SegmentStream {
  let space: FolderSpace
  let transport: FolderTransport
  let author: ReplicaID

  var directory: FilePath { transport.listing.directory(.replicas, of: author) }

  func file(_ number: UInt64, of replica: ReplicaID? = nil) throws -> FilePath {
    try #require(try transport.segmentFiles(of: replica ?? author).files.first { $0.range.last == number }).entry.path
  }

  func count(in store: TaskStore) throws -> Int { try store.read { try $0.taskCount } }

  /// All files of the folder, by their paths in it.
  func copy() throws -> [String: Data] {
    var files: [String: Data] = [:]
    let root = transport.listing.space
    for case let path as String in FileManager.default.enumerator(atPath: root.string) ?? .init() {
      let file = root.appending(path).string
      let isDirectory = (try? FileManager.default.contentsOfDirectory(atPath: file)) != nil
      if !isDirectory { files[path] = try Data(contentsOf: URL(filePath: file)) }
    }
    return files
  }

  /// Restores files that were changed or removed; other files stay.
  func restore(_ files: [String: Data]) throws {
    for (path, bytes) in files {
      let file = URL(filePath: transport.listing.space.appending(path).string)
      try? FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
      guard (try? Data(contentsOf: file)) != bytes else { continue }
      try FileManager.default.createDirectory(
        at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      try bytes.write(to: file)
    }
  }

  func newcomer(invitedBy number: Int = 0) async throws -> TaskStore {
    let invitation = try await space.sync(number).invite()
    let store = try space.addStore()
    try await StoreSync(store).join(invitation, in: space.folder, deviceName: "newcomer")
    return store
  }
}

private func withStream(_ body: (SegmentStream) async throws -> Void) async throws {
  try await withFolderSpace(3) { space in
    for number in 1...5 {
      try await space.stores[0].write { _ = try $0.add("task \(number)", to: .inbox) }
      try await space.sync(0).synchronize()
      if number == 2 { try await space.sync(1).synchronize() }
    }
    try await space.sync(2).synchronize()
    try await space.stores[2].write { _ = try $0.add("of the third", to: .inbox) }
    try await space.sync(2).synchronize()
    let transport = try #require(try await space.sync(0).connect().transport as? FolderTransport)
    let stream = SegmentStream(space: space, transport: transport, author: try await space.sync(0).status().replica)
    #expect(try transport.segmentFiles(of: stream.author).files.count == 5)
    try await body(stream)
  }
}
