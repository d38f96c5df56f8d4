import Foundation
import SystemPackage
import TallyFormats
import TallyTestSupport

@testable import Tally

/// A store into which documents are imported and rolled back.
final class FuzzStore: Sendable {
  private let store: TaskStore
  private let document: FileDescriptor
  private let copy: FileDescriptor

  private struct RolledBack: Error {}

  /// One per process, since each import leaves it unchanged.
  static var shared: FuzzStore { get throws { try made.get() } }

  private static let made = Result { try FuzzStore() }

  private init() throws {
    let directory = FilePath(FileManager.default.temporaryDirectory.path).appending("tally-fuzz-\(UUID().uuidString)")
    store = try TaskStore(at: directory, configuration: .testing())
    document = try Self.file(directory.appending("document"))
    copy = try Self.file(directory.appending("copy"))
    try store.writeAndWait { transaction in
      let list = try transaction.addList(name: "list", id: Self.id(1))
      for number in 2..<6 {
        var draft = TaskDraft(id: Self.id(number), title: "task \(number)")
        if number > 3 { draft.listID = list.id }
        _ = try transaction.add(draft)
      }
      _ = try transaction.complete(Self.id(5))
    }
    // Only the open files are needed from now on, and no files are left behind.
    try FileManager.default.removeItem(atPath: directory.string)
  }

  private static func id(_ number: Int) -> UUID {
    UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, UInt8(number)))
  }

  private static func file(_ path: FilePath) throws -> FileDescriptor {
    try FileDescriptor.open(
      path, .readWrite, options: [.create, .truncate, .closeOnExec], permissions: .ownerReadWrite)
  }

  /// Imports; an accepted document must leave a sound store, and importing its export must change nothing.
  func importDocument(_ bytes: [UInt8], _ format: InterchangeFormat) throws {
    try rewrite(document)
    try document.writeAll(bytes)
    do {
      try store.writeAndWait { transaction in
        _ = try run(document, format, &transaction)
        if let found = try transaction.inconsistencies().first { throw FuzzTarget.Finding(description: "\(found)") }
        try rewrite(copy)
        var exporter = DocumentExporter(output: copy, format: format, observer: nil)
        _ = try exporter.run(in: transaction)
        let again = try run(copy, format, &transaction)
        guard again.tasks.added + again.tasks.changed + again.lists.added + again.lists.changed == 0 else {
          throw FuzzTarget.Finding(description: "importing the export changes \(again)")
        }
        throw RolledBack()
      }
    } catch is RolledBack {
      return
    } catch let error as TallyError {
      // A document's fault has its place in the document; an error that no document can cause is a finding.
      if error.position == nil { throw FuzzTarget.Finding(description: "\(error)") }
    }
  }

  /// Reads a document of another format, which writes nothing; an error must have its place.
  func importDry(_ bytes: [UInt8]) throws {
    guard let first = bytes.first else { return }
    let format = DocumentFormat.allCases[Int(first) % DocumentFormat.allCases.count]
    try rewrite(document)
    try document.writeAll(bytes.dropFirst())
    try document.seek(offset: 0, from: .start)
    do {
      try store.importDocument(from: document, as: format, options: ImportOptions(isDryRun: true))
    } catch let error as TallyError {
      if error.position == nil { throw FuzzTarget.Finding(description: "\(format) \(error)") }
    }
  }

  private func run(
    _ file: FileDescriptor, _ format: InterchangeFormat, _ transaction: inout StoreWriteTransaction
  ) throws -> ImportSummary {
    try file.seek(offset: 0, from: .start)
    let input = try ReplayableInput(file, copyingPipesTo: store.directory)
    return try ImportSession(input, format: format, options: ImportOptions()).run(in: &transaction)
  }

  private func rewrite(_ file: FileDescriptor) throws {
    try file.resize(to: 0)
    try file.seek(offset: 0, from: .start)
  }
}
