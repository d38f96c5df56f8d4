import Foundation
import SystemPackage

/// Runs commands that map a lock file again while the disk has space for a few pages only: `narrow-disk DIRECTORY`.
///
/// If there is no space for a page of that file, writing to it through the map is not an error but a signal. Only a disk
/// that is full exactly there shows it, so free pages are counted one by one where it begins and ends.
struct NarrowDiskAct {
  private let directory: FilePath
  private let disk: TallyOnDisk
  private let filler: DiskFiller

  /// The size of the lock file.
  private static let lockPageCount = 17
  /// The range that is tried beyond that.
  private static let marginInPages = 2

  /// A command, its reason to need a lock file, and the number of pages it needs apart from that.
  private struct Case {
    let arguments: [String]
    let store: String
    let pageCount: Int
    let prepare: () throws -> Void
  }

  init(_ act: Act) throws {
    directory = try act.path(0)
    disk = TallyOnDisk(directory: directory)
    filler = DiskFiller(directory: directory)
  }

  func run() throws {
    try require(disk.run(["add", "task"], store: "store"), endsWith: [0])
    try require(disk.run(["backup", backup.string], store: "store"), endsWith: [0])
    var runCount = 0
    for one in try cases() { runCount += try tryEveryRoom(for: one) }
    try require(disk.run(["verify"], store: "store"), endsWith: [0])
    say("narrow disk: \(runCount) commands with space for a few pages only, each refused or done")
  }

  private var backup: FilePath { directory.appending("backup.mdb") }
  private var lockFile: FilePath { directory.appending("store").appending("lock.mdb") }

  private func cases() throws -> [Case] {
    let copied = try Int(backup.stat().size) / DiskFiller.pageSizeInBytes
    return [
      Case(arguments: ["compact"], store: "store", pageCount: copied) {},
      Case(arguments: ["restore", backup.string], store: "new", pageCount: copied) { try remove("new") },
      Case(arguments: ["inbox"], store: "store", pageCount: 0) { try remove("store/lock.mdb") },
      Case(arguments: ["inbox"], store: "store", pageCount: 0) { try Data().write(to: URL(filePath: lockFile.string)) },
    ]
  }

  /// Returns how many times the command ran; it must have been refused at first, and have succeeded in the end.
  private func tryEveryRoom(for one: Case) throws -> Int {
    let enough = one.pageCount + Self.lockPageCount
    let rooms = [one.pageCount - 1...one.pageCount + 1, enough - 1...enough + Self.marginInPages].joined()
    var endings: [ChildProcess.Ending] = []
    for room in rooms where room >= 0 {
      try one.prepare()
      try filler.fill(leaving: room)
      let result = try disk.run(one.arguments, store: one.store)
      try require(result, endsWith: [0, TallyOnDisk.storageFailed])
      endings.append(result.ending)
      try filler.remove()
    }
    guard endings.first != .exit(0), endings.last == .exit(0) else {
      throw Failure(description: "\(one.arguments): \(endings)")
    }
    try remove("new")
    return endings.count
  }

  private func remove(_ name: String) throws {
    let path = directory.string + "/" + name
    if FileManager.default.fileExists(atPath: path) { try FileManager.default.removeItem(atPath: path) }
  }

  private func require(
    _ result: (ending: ChildProcess.Ending, lines: [String]), endsWith statuses: [Int32]
  ) throws {
    guard statuses.contains(where: { result.ending == .exit($0) }) else { throw Failure(description: "\(result)") }
    guard result.ending == .exit(0) || result.lines.joined().contains("space") else {
      throw Failure(description: "space is not mentioned: \(result.lines)")
    }
  }
}
