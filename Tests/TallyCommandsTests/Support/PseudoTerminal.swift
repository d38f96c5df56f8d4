import Foundation
import SystemPackage

/// Runs a program in a terminal of its own, as a person would see it.
struct PseudoTerminal {
  let columns: UInt16
  let rows: UInt16

  /// Unlocks the other side of a terminal, and gives its number: <linux/tty.h>, not in the module of the C library.
  private static let unlock: UInt = 0x4004_5431
  private static let number: UInt = 0x8004_5430

  /// Whether the system has terminals of this kind.
  static let isSupported = FileManager.default.fileExists(atPath: "/dev/pts/ptmx")

  /// Runs the program, types a text and returns its status with everything that it printed, both streams in one.
  func run(
    _ executable: URL, _ arguments: [String], in directory: FilePath, environment: [String: String],
    typing text: String = ""
  ) throws -> (Int32, String) {
    let main = try FileDescriptor.open(FilePath("/dev/ptmx"), .readWrite, options: [.closeOnExec])
    defer { try? main.close() }
    var (isLocked, number) = (CInt(0), CInt(0))
    guard unsafe ioctl(main.rawValue, Self.unlock, &isLocked) == 0,
      unsafe ioctl(main.rawValue, Self.number, &number) == 0
    else { throw Errno(rawValue: errno) }
    var size = winsize(ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
    guard unsafe ioctl(main.rawValue, UInt(TIOCSWINSZ), &size) == 0 else { throw Errno(rawValue: errno) }
    let other = try FileDescriptor.open(FilePath("/dev/pts/\(number)"), .readWrite, options: [.closeOnExec])
    let terminal = FileHandle(fileDescriptor: other.rawValue, closeOnDealloc: false)
    let process = Process()
    process.executableURL = executable
    process.arguments = arguments
    process.environment = environment
    process.currentDirectoryURL = URL(filePath: directory.string)
    process.standardInput = terminal
    process.standardOutput = terminal
    process.standardError = terminal
    do { try process.run() } catch {
      try terminal.close()
      throw error
    }
    try terminal.close()
    _ = try main.writeAll(text.utf8)
    let output = Self.readAll(main)
    process.waitUntilExit()
    // The terminal ends lines with a carriage return and a line feed.
    return (process.terminationStatus, String(decoding: output, as: UTF8.self).replacing("\r\n", with: "\n"))
  }

  /// Reads until the program has closed its side, which Linux reports as an error.
  private static func readAll(_ descriptor: FileDescriptor) -> [UInt8] {
    var output: [UInt8] = []
    while true {
      let piece = unsafe [UInt8](unsafeUninitializedCapacity: 4_096) { buffer, count in
        count = unsafe (try? descriptor.read(into: UnsafeMutableRawBufferPointer(buffer))) ?? 0
      }
      guard !piece.isEmpty else { return output }
      output += piece
    }
  }
}
