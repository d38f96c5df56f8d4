import Foundation
public import SystemPackage

/// What a helper program is asked to do: `PROGRAM ACT DIRECTORY [NUMBER …]`.
///
/// It prints what it saw, one line each; an unexpected error is printed too and ends it with status 1.
public struct HelperAct: Sendable {
  /// The act's name.
  public let name: String
  /// The directory to work in.
  public let directory: FilePath
  /// What else the act wants to know.
  public let numbers: [Int]

  /// The arguments do not name an act of the program.
  public struct Misuse: Error {
    /// Creates the error.
    public init() {}
  }

  private init(_ arguments: ArraySlice<String>) throws {
    guard let name = arguments.first, let directory = arguments.dropFirst().first else { throw Misuse() }
    self.name = name
    self.directory = FilePath(directory)
    numbers = arguments.dropFirst(2).compactMap { Int($0) }
  }

  /// Runs the act that the process's arguments name.
  public static func runFromArguments(_ body: (HelperAct) throws -> Void) {
    do {
      try body(HelperAct(CommandLine.arguments.dropFirst()))
    } catch {
      say("failed: \(error)")
      exit(1)
    }
  }
}

/// Writes a line at once: the reader waits for it, and a child of a fork must not repeat a buffer.
public func say(_ line: String) {
  // Without a reader nobody could see the failure.
  _ = try? FileDescriptor.standardOutput.writeAll("\(line)\n".utf8)
}

extension HelperAct {
  /// Calls `fork`, which Swift hides: the process should have one thread, and the child do only what a test needs.
  public static func forkProcess() throws -> Int32 {
    typealias Fork = @convention(c) () -> Int32
    // The symbol has this type in every C library.
    guard let symbol = unsafe dlsym(dlopen(nil, RTLD_NOW), "fork") else { throw Misuse() }
    return unsafe unsafeBitCast(symbol, to: Fork.self)()
  }
}
