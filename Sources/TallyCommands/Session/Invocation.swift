public import SystemPackage

/// Everything that a run of the program gets from outside.
public struct Invocation: Sendable {
  /// The arguments without the program's name.
  public let arguments: [String]
  /// The environment's variables.
  private(set) var environment: EnvironmentVariables
  /// Where the argument `-` reads from; nothing else reads it.
  public let input: FileDescriptor
  /// Where results go.
  public let output: FileDescriptor
  /// Where messages, progress and errors go.
  public let errorOutput: FileDescriptor
  /// Reaches hubs; `nil` in a program without a client for HTTP.
  public var hubClient: (any HubClient)?
  /// Whether all arguments were UTF-8, and so are what was given.
  private(set) var areArgumentsIntact = true

  /// Creates an invocation; the streams are the process's own unless others are given.
  public init(
    arguments: [String],
    environment: [String: String],
    input: FileDescriptor = .standardInput,
    output: FileDescriptor = .standardOutput,
    errorOutput: FileDescriptor = .standardError
  ) {
    self.arguments = arguments
    self.environment = EnvironmentVariables(environment)
    self.input = input
    self.output = output
    self.errorOutput = errorOutput
  }

  /// What this process was started with.
  ///
  /// If an argument is not UTF-8 the command is not run: the standard library replaces what it cannot read with U+FFFD,
  /// which would name another title or file. A variable is checked where it is used.
  public static func ofProcess() -> Invocation {
    var invocation = Invocation(arguments: Array(CommandLine.arguments.dropFirst()), environment: [:])
    // The system's own copies, which nothing changes.
    let given = unsafe UnsafeBufferPointer(start: CommandLine.unsafeArgv, count: Int(CommandLine.argc))
    invocation.areArgumentsIntact = unsafe given.allSatisfy { unsafe String(intact: $0) != nil }
    invocation.environment = .ofProcess
    return invocation
  }

  /// The columns of a line of output; `nil` if lines may be of any length.
  var outputWidth: Int? { Terminal.width(of: output, environment: environment) }

  /// Whether texts for people must be ASCII.
  var isASCII: Bool { TerminalText.isASCII(environment: environment, onTerminal: Terminal.isTerminal(output)) }

  /// A message as it is printed: in lines that fit the terminal, with characters that it can show.
  func message(_ text: String, wrapped: Bool = true) -> String {
    // A log, or a program that reads the messages, gets each message in one line.
    let isWrapped = wrapped && Terminal.isTerminal(errorOutput)
    let width = isWrapped ? Terminal.width(of: errorOutput, environment: environment) : nil
    let lines = width.map { text.wrapped(toWidth: $0, cuttingWords: false).joined(separator: "\n") } ?? text
    return isASCII ? lines.inASCII : lines
  }

  /// Whether errors are printed as JSON.
  ///
  /// Found in the arguments, not the parsed options, because parsing may be what failed.
  var wantsJSONErrors: Bool { arguments.prefix { $0 != "--" }.contains("--json") }
}
