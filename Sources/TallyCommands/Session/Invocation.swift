import Foundation
public import SystemPackage

/// Everything a run of the program gets from outside.
public struct Invocation: Sendable {
  /// The arguments without the program's name.
  public let arguments: [String]
  /// The environment's variables.
  public let environment: [String: String]
  /// Where the argument `-` reads from; nothing else reads it.
  public let input: FileDescriptor
  /// Where results go.
  public let output: FileDescriptor
  /// Where messages, progress and errors go.
  public let errorOutput: FileDescriptor
  /// Whether the arguments, and the variables that name directories, are what was given: all of it was UTF-8.
  private(set) var isIntact = true

  /// Makes an invocation; the streams are the process's own unless others are given.
  public init(
    arguments: [String],
    environment: [String: String],
    input: FileDescriptor = .standardInput,
    output: FileDescriptor = .standardOutput,
    errorOutput: FileDescriptor = .standardError
  ) {
    self.arguments = arguments
    self.environment = environment
    self.input = input
    self.output = output
    self.errorOutput = errorOutput
  }

  /// What this process was started with.
  ///
  /// Where an argument is not UTF-8 the command is not run: the standard library puts U+FFFD in the place of what it
  /// cannot read, and the title would be another one, or the file. So it does with the environment's variables.
  public static func ofProcess() -> Invocation {
    var invocation = Invocation(
      arguments: Array(CommandLine.arguments.dropFirst()),
      environment: ProcessInfo.processInfo.environment
    )
    // The system's own copies, which nobody changes.
    let arguments = unsafe UnsafeBufferPointer(start: CommandLine.unsafeArgv, count: Int(CommandLine.argc))
    let directories = ["TALLY_STORE", "XDG_DATA_HOME", "XDG_STATE_HOME", "HOME"]
    invocation.isIntact =
      unsafe arguments.allSatisfy { unsafe isText($0) } && directories.allSatisfy { unsafe isText(getenv($0)) }
    return invocation
  }

  private static func isText(_ bytes: UnsafePointer<CChar>?) -> Bool {
    guard let bytes = unsafe bytes else { return true }
    // It ends with a zero.
    return unsafe String(validatingCString: bytes) != nil
  }

  /// The columns of a line of output, or `nil` where lines may be of any length.
  var outputWidth: Int? { Terminal.width(of: output, environment: environment) }

  /// Whether errors are to be told to a program.
  ///
  /// Asked of the arguments and not of the parsed options, because the parsing may be what failed.
  var wantsJSONErrors: Bool { arguments.prefix { $0 != "--" }.contains("--json") }
}
