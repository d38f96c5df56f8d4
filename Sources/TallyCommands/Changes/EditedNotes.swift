import Foundation
import SystemPackage
import Tally
import TallySystem

/// The notes of a task as a person left them in an editor.
struct EditedNotes {
  /// The notes without the line break with which editors end a file; `nil` for none.
  let notes: String?
  fileprivate let task: TaskItem

  /// Ensures that nobody else has changed the notes meanwhile.
  ///
  /// - Throws: ``CommandFailure``.
  func checkUnchanged<Base: ~Copyable>(in transaction: borrowing StoreTransaction<Base>) throws {
    guard let now = try transaction.task(task.id), now.notes == task.notes else {
      throw CommandFailure(
        .notFound, code: "notesChanged", "The notes were changed elsewhere while you edited them",
        remedy: "Edit them again, and copy what you need from your text")
    }
  }
}

extension Session {
  /// Opens the notes of a task in the editor, waits until it is closed and hands the new notes over.
  ///
  /// The store is not kept open meanwhile. If anything fails, the new text stays in its file, which the error names.
  func editNotes(
    of find: (borrowing StoreReadTransaction) throws -> TaskItem, _ body: (EditedNotes) throws -> Void
  ) throws {
    let task = try read { try find($0) }
    let command = try editorCommand
    let file = try NotesFile(task.notes)
    do {
      try runEditor(command, file.path)
      try body(EditedNotes(notes: file.notes(), task: task))
    } catch {
      guard file.isUnchanged else {
        throw CommandFailure(error).adding(remedy: "Your text is in \(file.path.string.escapedForDisplay())")
      }
      file.remove()
      throw error
    }
    file.remove()
  }

  private var editorCommand: String {
    get throws {
      let names = ["VISUAL", "EDITOR"]
      if let command = try names.lazy.compactMap(invocation.environment.nonEmptyValue).first { return command }
      throw CommandFailure.usage(
        "Neither VISUAL nor EDITOR names an editor",
        remedy: "Set one of them, as in EDITOR=nano, or give the text with --notes")
    }
  }

  /// Runs the editor through the shell, as other programs do, so that its variable may hold arguments.
  private func runEditor(_ command: String, _ file: FilePath) throws {
    let status = try ForegroundProgram.run(
      "/bin/sh", ["-c", command + " \"$1\"", "sh", file.string], environment: invocation.environment.intact)
    guard status == 0 else {
      throw CommandFailure(
        .notFound, code: "editorFailed", "The editor '\(command.escapedForDisplay())' failed",
        remedy: "Check VISUAL and EDITOR; nothing was changed")
    }
  }
}

/// The file that an editor gets, in a directory that only its owner can enter.
private struct NotesFile {
  let path: FilePath
  private let original: Data

  init(_ notes: String?) throws {
    let directory = FileManager.default.temporaryDirectory.appending(path: "tally-edit-\(UUID().uuidString)")
    try FileManager.default.createDirectory(
      at: directory, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    path = FilePath(directory.path).appending("notes.txt")
    original = Data((notes.map { $0 + "\n" } ?? "").utf8)
    do {
      try original.write(to: URL(filePath: path.string))
    } catch {
      remove()
      throw error
    }
  }

  /// Whether nothing would be lost with the file.
  var isUnchanged: Bool {
    (try? contents).map { $0 == original } ?? !FileManager.default.fileExists(atPath: path.string)
  }

  /// The notes that it holds; `nil` for none.
  func notes() throws -> String? {
    guard var text = String(validating: try contents, as: UTF8.self) else {
      throw CommandFailure(
        .badData, code: "malformedDocument", "The text is not UTF-8", remedy: "Save it as UTF-8; nothing was changed")
    }
    if text.hasSuffix("\n") { text.removeLast() }
    return text.allSatisfy(\.isWhitespace) ? nil : text
  }

  /// Deletes the file and its directory.
  func remove() { try? FileManager.default.removeItem(atPath: path.removingLastComponent().string) }

  private var contents: Data {
    get throws { Data(try WholeFile.read(path, atMost: Self.mostBytes)) }
  }

  /// The most bytes that a task's title and notes may take.
  private static let mostBytes = 1 << 30
}
