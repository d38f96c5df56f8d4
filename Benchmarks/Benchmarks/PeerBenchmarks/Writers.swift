import BenchmarkData
import Foundation
import SystemPackage

/// Processes that write to one store in turn.
final class Writers: Sendable {
  enum Kind: String {
    case tally, sqlite
  }

  private struct Writer: Sendable {
    let process: Process
    let input: FileHandle
    let output: FileHandle
  }

  private let writers: [Writer]

  /// Starts processes, and waits until each has the store open.
  init(_ kind: Kind, count: Int, at path: FilePath, isDurable: Bool, list: UUID) throws {
    // It is built beside this program.
    guard let own = Bundle.main.executablePath else { throw WrongAnswer(description: "this program has no path") }
    let program = FilePath(own).removingLastComponent().appending("WriterProcess")
    writers = try (0..<count).map { _ in
      let (process, input, output) = (Process(), Pipe(), Pipe())
      process.executableURL = URL(filePath: program.string)
      process.arguments = [kind.rawValue, path.string, isDurable ? "durable" : "relaxed", list.uuidString]
      (process.standardInput, process.standardOutput) = (input, output)
      try process.run()
      return Writer(process: process, input: input.fileHandleForWriting, output: output.fileHandleForReading)
    }
    for writer in writers { try expect("ready", from: writer) }
  }

  /// Lets each process create some tasks, one by one, and waits for all of them.
  func create(_ count: Int) throws {
    for writer in writers { try writer.input.write(contentsOf: Data("\(count)\n".utf8)) }
    for writer in writers { try expect("done", from: writer) }
  }

  private func expect(_ word: String, from writer: Writer) throws {
    var line = Data()
    while line.last != UInt8(ascii: "\n") {
      guard let byte = try writer.output.read(upToCount: 1), !byte.isEmpty else {
        throw WrongAnswer(description: "a writing process has ended")
      }
      line.append(byte)
    }
    try expectEqual(String(decoding: line.dropLast(), as: UTF8.self), word, "answer of a writing process")
  }

  /// Lets the processes close the store and end.
  func close() throws {
    for writer in writers { try writer.input.close() }
    for writer in writers {
      writer.process.waitUntilExit()
      try expectEqual(writer.process.terminationStatus, 0, "exit status of a writing process")
    }
  }

  /// Ends the processes as a crash does.
  func kill() {
    for writer in writers {
      _ = Foundation.kill(writer.process.processIdentifier, SIGKILL)
      writer.process.waitUntilExit()
    }
  }
}
