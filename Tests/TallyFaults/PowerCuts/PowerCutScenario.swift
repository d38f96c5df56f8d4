import Foundation
import LMDB
import SystemPackage
import Tally
import TallyTestSupport

/// A command during which the power fails.
struct PowerCutScenario: Sendable {
  let name: String
  /// The arguments; `@` stands for the directory.
  let arguments: [String]
  /// Creates the files that are there before; the directory exists.
  let prepare: @Sendable (FilePath) throws -> Void
  /// The file that the command writes, or nothing if it changes the store.
  var output: String?
  var store = "store"
  /// The beginning of the name of the file in which the old store must be kept, if it is not in its place.
  var kept: String?

  /// Whether the output grows line by line, so that any beginning of it may be there before the end.
  var isAppended = false

  /// Whether the output is written in its place, so that anything may be there before the end.
  var isWrittenInPlace = false

  /// Whether the arguments are those of an act of this program, not of `tally`.
  var isAct = false

  /// Whether the size of the store's file is a part of the result.
  var isOfSize = false

  /// The contents of the output, or else of the store, for comparison.
  func contents(in directory: FilePath) -> String {
    guard let output else {
      let path = directory.appending(store)
      let size = isOfSize ? try? path.appending("data.mdb").stat().size : nil
      return Self.contents(ofStore: path) + (size.map { " in \($0) bytes" } ?? "")
    }
    let file = directory.appending(output)
    guard let bytes = try? bytes(of: file) else { return Self.nothing }
    // Two backups of the same contents may differ in their bytes.
    return output.hasSuffix(".mdb") ? Self.contents(ofSnapshot: file) : String(decoding: bytes, as: UTF8.self)
  }

  /// The fault of what a power cut has left; `nil` if there is none.
  ///
  /// - Parameters:
  ///   - directory: Where it is.
  ///   - isDone: Whether the command had ended.
  ///   - hasRun: Whether a program that it runs had been started.
  ///   - before: The contents before the command.
  ///   - after: The contents after it.
  /// - Returns: The fault.
  /// - Throws: An error of the system.
  func fault(in directory: FilePath, isDone: Bool, hasRun: Bool, before: String, after: String) throws -> String? {
    // Half a file, which nobody takes for whole, is not read.
    let found = isWrittenInPlace && !isDone ? before : contents(in: directory)
    let isEmptyStore = output == nil && before == Self.nothing && found == Self.emptyStore
    let isBeginning = isAppended && (found == Self.nothing || after.hasPrefix(found))
    let isPossible = isDone ? found == after : [before, after].contains(found) || isEmptyStore || isBeginning
    guard isPossible else { return "there is \(found.prefix(200))" }
    if hasRun, !found.contains("start ") { return "a program was started and not noted" }
    let store = directory.appending(store)
    if let kept, isDone || found != before, try !keeps(before, in: store, as: kept) { return "the old store is gone" }
    if output != nil, case let contents = Self.contents(ofStore: store), !contents.hasPrefix("5: ") {
      return "of the store there is \(contents)"
    }
    return faultOfFurtherUse(of: store, isSound: isDone || !isDamagedBefore)
  }

  /// Whether the store is damaged before the command.
  var isDamagedBefore: Bool { kept == Self.keptByRepair }

  private static let keptByRepair = "before-repair"
  private static let nothing = "nothing"
  /// The contents of a new store before its first change.
  static let emptyStore = "0: "

  /// Starts the command.
  func start(in directory: FilePath, output: FilePath, environment: [String: String]) throws -> ChildProcess {
    let program = FilePath(ChildProcess.program).removingLastComponent().appending("tally").string
    let arguments = arguments.map { $0.replacingOccurrences(of: "@", with: directory.string) }
    let command = isAct ? [ChildProcess.program, "act"] : [program, "--store", directory.appending(store).string]
    return try ChildProcess(command + arguments, output: output, environment: environment)
  }

  private func keeps(_ contents: String, in store: FilePath, as prefix: String) throws -> Bool {
    try FileManager.default.contentsOfDirectory(atPath: store.string).contains {
      $0.hasPrefix(prefix) && Self.contents(ofSnapshot: store.appending($0)) == contents
    }
  }

  private func faultOfFurtherUse(of path: FilePath, isSound: Bool) -> String? {
    do {
      let store = try TaskStore(at: path, configuration: .testing())
      defer { try? store.close() }
      try store.writeAndWait { _ = try $0.add("afterwards", to: .today) }
      let fault = isSound ? try store.read { try $0.inconsistencies().first } : nil
      return fault.map { "afterwards: \($0)" }
    } catch {
      return "afterwards: \(error)"
    }
  }

  private static func contents(ofStore path: FilePath) -> String {
    var configuration = TaskStore.Configuration.testing()
    configuration.createsIfMissing = false
    return contents { try TaskStore(at: path, configuration: configuration) }
  }

  private static func contents(ofSnapshot file: FilePath) -> String {
    contents { try TaskStore(snapshotAt: file, configuration: .testing()) }
  }

  private static func contents(of open: () throws -> TaskStore) -> String {
    do {
      let store = try open()
      defer { try? store.close() }
      let titles = try store.read { try $0.view(.all).tasks.map { "\($0.title) \($0.state)" } }
      return "\(titles.count): \(titles.sorted().joined(separator: ", "))"
    } catch let error as TallyError where error.code == .storeMissing {
      return nothing
    } catch {
      return "refused: \(error)"
    }
  }
}

extension PowerCutScenario {
  static let all: [PowerCutScenario] = [
    PowerCutScenario(name: "add-new", arguments: ["add", "new"], prepare: { _ in }),
    PowerCutScenario(name: "add-deep", arguments: ["add", "new"], prepare: { _ in }, store: "a/b/store"),
    PowerCutScenario(
      name: "add-empty", arguments: ["add", "new"],
      prepare: {
        try FileManager.default.createDirectory(
          atPath: $0.appending("store").string, withIntermediateDirectories: false)
      }),
    PowerCutScenario(name: "add", arguments: ["add", "new"], prepare: { try fill($0) }),
    PowerCutScenario(name: "undo", arguments: ["undo"], prepare: { try fill($0) }),
    PowerCutScenario(
      name: "import", arguments: ["import", "@/in.json"],
      prepare: { directory in
        try fill(directory)
        try fill(directory, "other", count: 3)
        try using(directory.appending("other")) { try $0.export(to: directory.appending("in.json")) }
      }),
    PowerCutScenario(name: "compact", arguments: ["compact"], prepare: { try fill($0) }, isOfSize: true),
    PowerCutScenario(
      name: "restore-new", arguments: ["restore", "@/in.mdb"], prepare: { try backUpOther($0) }, store: "a/b/store"),
    PowerCutScenario(
      name: "restore-over", arguments: ["restore", "@/in.mdb"],
      prepare: { directory in
        try fill(directory)
        try backUpOther(directory)
      }, kept: "before-restore"),
    PowerCutScenario(
      name: "repair", arguments: ["verify", "--repair"],
      prepare: { directory in
        try fill(directory)
        try damage(directory.appending("store"))
      }, kept: keptByRepair),
    PowerCutScenario(
      name: "backup-new", arguments: ["backup", "@/out.mdb"], prepare: { try fill($0) }, output: "out.mdb"),
    PowerCutScenario(
      name: "backup-over", arguments: ["backup", "@/in.mdb"],
      prepare: { directory in
        try fill(directory)
        try backUpOther(directory)
      }, output: "in.mdb"),
    PowerCutScenario(
      name: "copy", arguments: ["copy-environment", "@/store", "@/copy"],
      prepare: { directory in
        try fill(directory)
        try FileManager.default.createDirectory(
          atPath: directory.appending("copy").string, withIntermediateDirectories: false)
      }, output: "copy/data.mdb", isWrittenInPlace: true, isAct: true),
    PowerCutScenario(
      name: "export-new", arguments: ["export", "-o", "@/out.json"], prepare: { try fill($0) }, output: "out.json"),
    PowerCutScenario(
      name: "export-over", arguments: ["export", "-o", "@/out.json"],
      prepare: { directory in
        try fill(directory)
        try write(Array("old".utf8), to: directory.appending("out.json"))
      }, output: "out.json"),
    PowerCutScenario(
      name: "page", arguments: ["stats", "--html", "@/out.html"], prepare: { try fill($0) }, output: "out.html"),
    PowerCutScenario(
      name: "journal-new", arguments: ["remind", "--exec", "/bin/true", "--once", "--journal", "@/journal"],
      prepare: { try fill($0) }, output: "journal", isAppended: true),
    PowerCutScenario(
      name: "journal",
      arguments: ["remind", "--exec", "/usr/bin/touch", "--once", "--journal", "@/journal", "--", "@/ran"],
      prepare: { directory in
        try fill(directory)
        try using(directory.appending("store")) { store in
          let task = try store.read { try $0.view(.today).tasks[0] }
          let date = try Timestamp(iso8601: "2020-02-01T00:00:00Z")
          _ = try store.writeAndWait { try $0.update(task.id) { $0.reminderDate = date } }
        }
        try write(Array("since 2020-01-01T00:00:00Z\n".utf8), to: directory.appending("journal"))
      }, output: "journal", isAppended: true),
  ]

  private static func fill(_ directory: FilePath, _ name: String = "store", count: Int = 5) throws {
    try using(directory.appending(name)) { store in
      for number in 0..<count { try store.writeAndWait { _ = try $0.add("\(name) \(number)", to: .today) } }
    }
  }

  private static func backUpOther(_ directory: FilePath) throws {
    try fill(directory, "other", count: 3)
    try using(directory.appending("other")) { try $0.backup(to: directory.appending("in.mdb")) }
  }

  /// Removes an entry from an index.
  private static func damage(_ store: FilePath) throws {
    let environment = try LMDBEnvironment(path: store)
    try environment.write { transaction in
      let index = try Database<[UInt8], [UInt8]>(opening: "byDay", creating: false, in: &transaction)
      var key: [UInt8]?
      try index.forEach(in: transaction) { bytes, _ in
        // Within the call.
        key = unsafe bytes.withUnsafeBytes { unsafe Array($0) }
        return false
      }
      if let key { _ = try index.remove(forKey: key, in: &transaction) }
    }
    try environment.close()
  }

  private static func using(_ path: FilePath, _ body: (TaskStore) throws -> Void) throws {
    var configuration = TaskStore.Configuration.testing()
    // As the commands do, whose power fails.
    configuration.makesLog = false
    let store = try TaskStore(at: path, configuration: configuration)
    try body(store)
    try store.close()
  }
}
