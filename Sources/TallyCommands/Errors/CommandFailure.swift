import Tally
import TallySystem

/// Why a command failed, ready to print for a person or a program.
struct CommandFailure: Error {
  let status: ExitStatus
  /// A word for programs that stays the same from version to version; the library's own for its errors.
  let code: String
  /// What is wrong, without a full stop.
  var message: String
  /// What to do about it, without a full stop.
  let remedy: String

  init(_ status: ExitStatus, code: String, _ message: String, remedy: String) {
    self.status = status
    self.code = code
    self.message = message
    self.remedy = remedy
  }

  /// An argument that is missing, unknown or refused.
  static func usage(_ message: String, code: String = "usage", remedy: String) -> CommandFailure {
    CommandFailure(.usage, code: code, message, remedy: remedy)
  }
}

extension CommandFailure {
  /// Any error that a command threw.
  init(_ error: any Error) {
    switch error {
    case let failure as CommandFailure:
      self = failure
    case let error as TallyError:
      self.init(ExitStatus(for: error), code: error.code.description, error.messageWithPlace, remedy: error.remedy)
    default:
      self.init(
        .internalFault, code: "internalFault", "An unexpected error ended the command: \(error)",
        remedy: "Please report it with the command that caused it")
    }
  }

  /// Runs a body and puts the name of an option before the message of what it throws.
  static func naming<R>(_ option: String, _ body: () throws -> R) throws -> R {
    let named = { (error: any Error) in
      var failure = CommandFailure(error)
      failure.message = "\(option): \(failure.message)"
      return failure
    }
    return try CommandFailure.replacing(named, body)
  }

  /// The failure for a person: what is wrong, then what to do.
  var text: String {
    "Error: \(message.withFullStop)\n\(remedy.withFullStop)\n"
  }

  /// The failure for a program.
  var json: [UInt8] {
    let facts: Facts = ["error": ["code": .text(code), "message": .text(message), "remedy": .text(remedy)]]
    return facts.json
  }
}

extension String {
  /// The sentence with a full stop, unless it ends with a mark already.
  fileprivate var withFullStop: String {
    guard let last, !".!?".contains(last) else { return self }
    return self + "."
  }
}
