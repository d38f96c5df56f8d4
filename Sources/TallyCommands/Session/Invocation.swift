public import SystemPackage

/// Everything a run of the program gets from outside.
public struct Invocation: Sendable {
  /// The arguments without the program's name.
  public let arguments: [String]
  /// The environment's variables.
  let environment: EnvironmentVariables
  /// Where the argument `-` reads from; nothing else reads it.
  public let input: FileDescriptor
  /// Where results go.
  public let output: FileDescriptor
  /// Where messages, progress and errors go.
  public let errorOutput: FileDescriptor
  /// Whether the arguments are what was given: all of them were UTF-8.
  let areArgumentsIntact: Bool

  /// Makes an invocation; the streams are the process's own unless others are given.
  public init(
    arguments: [String],
    environment: [String: String],
    input: FileDescriptor = .standardInput,
    output: FileDescriptor = .standardOutput,
    errorOutput: FileDescriptor = .standardError
  ) {
    self.arguments = arguments
    areArgumentsIntact = true
    self.environment = EnvironmentVariables(environment)
    self.input = input
    self.output = output
    self.errorOutput = errorOutput
  }

  private init(ofProcess environment: EnvironmentVariables) {
    arguments = Array(CommandLine.arguments.dropFirst())
    // The system's own copies, which nobody changes.
    let given = unsafe UnsafeBufferPointer(start: CommandLine.unsafeArgv, count: Int(CommandLine.argc))
    areArgumentsIntact = unsafe given.allSatisfy { unsafe String(intact: $0) != nil }
    self.environment = environment
    input = .standardInput
    output = .standardOutput
    errorOutput = .standardError
  }

  /// What this process was started with.
  ///
  /// Where an argument is not UTF-8 the command is not run: the standard library puts U+FFFD in the place of what it
  /// cannot read, and the title would be another one, or the file. A variable is looked at where it is taken.
  public static func ofProcess() -> Invocation {
    Invocation(ofProcess: .ofProcess())
  }

  /// The columns of a line of output, or `nil` where lines may be of any length.
  var outputWidth: Int? { Terminal.width(of: output, environment: environment) }

  /// Whether errors are to be told to a program.
  ///
  /// Asked of the arguments and not of the parsed options, because the parsing may be what failed.
  var wantsJSONErrors: Bool { arguments.prefix { $0 != "--" }.contains("--json") }
}
