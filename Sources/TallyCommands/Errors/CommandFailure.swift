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
  private(set) var remedy: String
  /// What may have been meant; their names are texts of the user, so they are neither in the message nor in the remedy.
  var candidates = Candidates()
  /// An argument that is no handle, and the handle that may be meant by it.
  var meant: (argument: String, handle: String)?

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
    case let failure as HubFailure:
      self.init(failure)
    case let error as TallyError:
      var (message, remedy) = (error.messageWithPlace, error.remedy)
      if let unknown = error.cause as? UnknownFilterList {
        message.replace("a list that", with: "a list \(unknown.name.quotedForMessage) that", maxReplacements: 1)
      }
      if let unread = error.cause as? UnreadFilterDate, message.hasPrefix("The text") {
        message = unread.text.quotedForMessage + message.dropFirst(8)
      }
      if let unknown = error.cause as? UnknownFilterField {
        let name = unknown.name.truncated(toWidth: 60).escapedForDisplay()
        message.replace("The field does not", with: "The field '\(name)' does not", maxReplacements: 1)
        if let condition = unknown.meantCondition { remedy = "Write \(condition.escapedForDisplay())" }
        if unknown.mayBeAttribute { remedy = "Did you mean '@\(name)'? \(remedy)" }
      }
      self.init(ExitStatus(for: error), code: error.code.description, message, remedy: remedy)
    default:
      self.init(
        .internalFault, code: "internalFault", "An unexpected error ended the command: \(error)",
        remedy: "Please report it with the command that caused it")
    }
  }

  /// Runs a body and puts the name of an option before the message of what it throws.
  ///
  /// The library's messages never contain a text of the user; a message about "the text" then quotes it.
  static func naming<R>(_ option: String, quoting text: String? = nil, _ body: () throws -> R) throws -> R {
    let named = { (error: any Error) in
      var failure = CommandFailure(error)
      if let text, failure.message.hasPrefix("The text ") {
        failure.message = text.quotedForMessage + failure.message.dropFirst(8)
      }
      failure.message = "\(option): \(failure.message)"
      return failure
    }
    return try CommandFailure.replacing(named, body)
  }

  /// The failure with what may have been meant.
  func with(_ candidates: Candidates) -> CommandFailure {
    var failure = self
    failure.candidates = candidates
    return failure
  }

  /// The failure with one more sentence about what to do.
  func adding(remedy sentence: String) -> CommandFailure {
    var failure = self
    failure.remedy = "\(remedy.withFullStop) \(sentence)"
    return failure
  }

  /// The failure with the command that does what was meant, if that is known.
  func offeringCommand(in arguments: [String]) -> CommandFailure {
    guard let meant, arguments.contains(meant.argument) else { return self }
    let words = arguments.map { $0 == meant.argument ? meant.handle : $0.shellQuoted }
    var failure = self
    let lead = candidates.areSeveral ? "Give the handle of one, as in" : "Run"
    failure.remedy = "\(lead): \((["tally"] + words).joined(separator: " "))"
    return failure
  }

  /// The failure for a person: what is wrong, what may have been meant, then what to do.
  var text: String {
    // A command is to be copied as it is.
    "Error: \(message.withFullStop)\n\(candidates.text)\(meant == nil ? remedy.withFullStop : remedy)\n"
  }

  /// The failure for a program.
  var json: [UInt8] {
    let error: Facts = ["code": .text(code), "message": .text(message), "remedy": .text(remedy)]
    return (["error": error.adding(candidates.facts)] as Facts).json
  }
}

extension String {
  /// The sentence with a full stop, unless it ends with a mark already.
  fileprivate var withFullStop: String {
    guard let last, !".!?".contains(last) else { return self }
    return self + "."
  }
}
