import Foundation
public import SystemPackage
import TallySystem

/// Everything that a run of the program gets from outside.
public struct Invocation: Sendable {
  /// The arguments without the program's name.
  public let arguments: [String]
  /// The environment's variables.
  private(set) var environment: EnvironmentVariables
  /// The input that the argument `-` reads; nothing else reads it.
  public let input: FileDescriptor
  /// The output for results.
  public let output: FileDescriptor
  /// The output for messages, progress and errors.
  public let errorOutput: FileDescriptor
  /// Reaches hubs; `nil` in a program without a client for HTTP.
  public var hubClient: (any HubClient)?
  /// Whether all arguments were UTF-8: others have been changed.
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

  /// The invocation of this process.
  ///
  /// If an argument is not UTF-8 the command is not run: the standard library replaces invalid bytes with U+FFFD, which
  /// would name another title or file. A variable is checked where it is used.
  public static func ofProcess() -> Invocation {
    var invocation = Invocation(arguments: Array(CommandLine.arguments.dropFirst()), environment: [:])
    // The system's own copies, which nothing changes.
    let arguments = unsafe UnsafeBufferPointer(start: CommandLine.unsafeArgv, count: Int(CommandLine.argc))
    invocation.areArgumentsIntact = unsafe arguments.allSatisfy { unsafe String(intact: $0) != nil }
    invocation.environment = .ofProcess
    return invocation
  }

  /// The columns of a line of output; `nil` if lines may be of any length.
  var outputWidth: Int? { width(of: output) }

  /// The columns of a line; `nil` if lines may be of any length, as in a pipe.
  ///
  /// `COLUMNS` comes first, so that a person or a test can override the width.
  private func width(of descriptor: FileDescriptor) -> Int? {
    if let columns = (try? environment.value(of: "COLUMNS")).flatMap({ Int($0) }), columns > 0 { return columns }
    return SystemCalls.terminalWidth(descriptor)
  }

  /// Whether texts for people must be ASCII: the locale names another encoding than UTF-8.
  ///
  /// Without a locale POSIX has ASCII; output that goes to no terminal then is not changed, as containers and services
  /// have no locale.
  var isASCII: Bool {
    for name in ["LC_ALL", "LC_CTYPE", "LANG"] {
      guard let locale = (try? environment.nonEmptyValue(of: name))?.lowercased() else { continue }
      return !locale.contains("utf-8") && !locale.contains("utf8")
    }
    return SystemCalls.isTerminal(output)
  }

  /// A message as it is printed: in lines that fit the terminal, with characters that it can show.
  func message(_ text: String, wrapped: Bool = true) -> String {
    // A log, or a program that reads the messages, gets each message in one line.
    let isWrapped = wrapped && SystemCalls.isTerminal(errorOutput)
    let width = isWrapped ? self.width(of: errorOutput) : nil
    let lines = width.map { text.wrapped(toWidth: $0, cuttingWords: false).joined(separator: "\n") } ?? text
    return isASCII ? lines.inASCII : lines
  }

  /// Whether errors are printed as JSON.
  ///
  /// Found in the arguments, not the parsed options, because parsing may be what failed.
  var wantsJSONErrors: Bool { arguments.prefix { $0 != "--" }.contains("--json") }
}

/// Buffered standard output that reports failures.
///
/// `print` would neither report a full disk nor write in large pieces.
final class BufferedOutput {
  private let descriptor: FileDescriptor
  private var buffer: [UInt8] = []
  private let capacityInBytes = 1 << 16
  /// The failure by which output was lost; every later call fails with it, too.
  private var failure: CommandFailure?
  /// Whether texts are written in ASCII; bytes never change.
  var isASCII = false

  init(_ descriptor: FileDescriptor) {
    self.descriptor = descriptor
  }

  /// Writes the text, now or with later output.
  func write(_ text: String) throws { try write((isASCII ? text.inASCII : text).utf8) }

  /// Writes the bytes, now or with later output.
  ///
  /// - Throws: ``CommandFailure``.
  func write(_ bytes: some Sequence<UInt8>) throws {
    buffer.append(contentsOf: bytes)
    if buffer.count >= capacityInBytes { try flush() }
  }

  /// Passes everything written so far to the system; without this the end of the output is lost.
  ///
  /// - Throws: ``CommandFailure``.
  func flush() throws {
    if let failure { throw failure }
    defer { buffer.removeAll(keepingCapacity: true) }
    guard !buffer.isEmpty else { return }
    do {
      _ = try CommandFailure.replacing(CommandFailure.init(writing:)) { try descriptor.writeAll(buffer) }
    } catch {
      failure = error
      throw error
    }
  }
}

extension String {
  /// The text in ASCII, in as many columns: letters without their accents, signs as near as ASCII has them, and question
  /// marks for the rest.
  var inASCII: String {
    if utf8.allSatisfy({ $0 < 0x80 }) { return self }
    var result = ""
    result.reserveCapacity(utf8.count)
    for character in self {
      if character.isASCII || character == "\r\n" {
        result.append(character)
      } else if let sign = Self.asciiSigns[character] {
        result += sign
      } else {
        let plain = String(character).decomposedStringWithCompatibilityMapping.unicodeScalars.filter(\.isASCII)
        let width = character.displayWidth
        result += plain.count == width ? String(String.UnicodeScalarView(plain)) : String(repeating: "?", count: width)
      }
    }
    return result
  }

  private static let asciiSigns: [Character: String] = [
    "◦": "-", "▸": ">", "✓": "x", "✗": "/", "▪": "*", "…": "~", "—": "-", "–": "-", "·": "-", "→": ">", "←": "<",
    "“": "\"",
    "”": "\"", "‘": "'", "’": "'", "─": "-", "│": "|", "└": "`", "├": "|", "┬": "-", "┴": "-", "┼": "+",
    "▁": "_", "▂": ".", "▃": ":", "▄": "-", "▅": "=", "▆": "+", "▇": "*", "█": "#", "░": ".", "▒": ":", "▓": "+",
    "▏": ".", "▎": ".", "▍": ":", "▌": "-", "▋": "=", "▊": "+", "▉": "*", "■": "#", "▲": "^", "▼": "v", "×": "x",
    "┤": "|",
  ]
}
