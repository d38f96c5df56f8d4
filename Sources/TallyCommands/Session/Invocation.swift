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

  /// The columns of a line of output, or `nil` where lines may be of any length.
  var outputWidth: Int? { Terminal.width(of: output, environment: environment) }

  /// Whether errors are to be told to a program.
  ///
  /// Asked of the arguments and not of the parsed options, because the parsing may be what failed.
  var wantsJSONErrors: Bool { arguments.prefix { $0 != "--" }.contains("--json") }
}
