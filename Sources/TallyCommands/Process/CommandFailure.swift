import Foundation
import SystemPackage
import Tally
import TallySync
import TallySystem

/// Why a command failed, ready to print for a person or a program.
struct CommandFailure: Error {
  let status: ExitStatus
  /// A word for programs that stays the same from version to version; the library's own for its errors.
  let code: String
  /// The fault, without a full stop.
  var message: String
  /// The remedy, without a full stop.
  private(set) var remedy: String
  /// The objects that may have been meant; their names are texts of the user, so they are neither in the message nor in
  /// the remedy.
  var candidates = Candidates()
  /// The arguments that are not a handle, one of them or several words of a title, and the handle that may be meant by
  /// them.
  var meant: (arguments: [String], handle: String)?

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

  /// An input that cannot be read; `input` is the beginning of the message with its verb, as in `The input could not`.
  static func unreadable(_ input: String, _ error: any Error, remedy: String) -> CommandFailure {
    CommandFailure(.inputUnreadable, code: "inputUnreadable", "\(input) be read: \(error)", remedy: remedy)
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
      if let refused = error.cause as? RefusedDependency {
        for id in refused.ids { message.replace(id.text, with: id.shownEnd) }
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

  /// Runs a body and puts the name of an option before the message of its error.
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

  /// The failure with the candidates that may have been meant.
  func with(_ candidates: Candidates) -> CommandFailure { changed { $0.candidates = candidates } }

  /// The failure with one more sentence about what to do.
  func adding(remedy sentence: String) -> CommandFailure {
    changed { $0.remedy = "\(remedy.withFullStop) \(sentence)" }
  }

  /// The failure with the line of standard input it is about, if it is about one.
  func atLine(_ number: Int?) -> CommandFailure {
    number.map { number in changed { $0.message += " (line \(number) of standard input)" } } ?? self
  }

  /// The failure with another remedy.
  func with(remedy: String) -> CommandFailure { changed { $0.remedy = remedy } }

  private func changed(_ change: (inout CommandFailure) -> Void) -> CommandFailure {
    var failure = self
    change(&failure)
    return failure
  }

  /// The failure for a person: what is wrong, what may have been meant, then what to do.
  var text: String {
    // People copy a command as it is, so it gets no full stop.
    let endsWithCommand = remedy.contains(#/: (?:tally |--)[^;]*$/#) && !remedy.contains("usage: tally ")
    return "Error: \(message.withFullStop)\n\(candidates.text)\(endsWithCommand ? remedy : remedy.withFullStop)\n"
  }

  /// Whether the remedy has a command to run, and not only the usage of one.
  var hasCommand: Bool { remedy.contains(": tally ") && !remedy.contains("usage: tally ") }

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

extension CommandFailure {
  /// The failure to write standard output.
  ///
  /// That the reader of the output has left, as `head` does, is not an error: the program ends quietly.
  init(writing error: any Error) {
    if error as? Errno == .brokenPipe {
      self.init(.success, code: "readerLeft", "The reader of the output left", remedy: "Nothing needs to be done")
    } else {
      self.init(
        .storageFailed, code: "outputNotWritten", "The output could not be written: \(error)",
        remedy: "Free space, or send the output elsewhere; what the command changed in the store stays changed")
    }
  }
}

/// The tasks or lists that a name may have meant, for a person to choose from.
struct Candidates {
  private var all: [(facts: Facts, words: String)] = []
  private var hasMore = false
  /// Whether the name matches none of them, but is like theirs.
  private var areGuesses = false

  /// No candidates.
  init() {}

  /// Tasks that a handle matches, or that may be meant by a text that is not a handle.
  init(tasks: [NamedTask], hasMore: Bool, areGuesses: Bool = false) {
    all = tasks.map {
      (["handle": .text($0.handle), "id": .id($0.task.id), "title": .text($0.task.title)], $0.inWords)
    }
    (self.hasMore, self.areGuesses) = (hasMore, areGuesses)
  }

  /// Lists that have a name, each with the number of its open tasks.
  init(lists: [(list: TaskList, openCount: Int)]) {
    all = lists.map { list, openCount in
      (
        ["id": .id(list.id), "name": .text(list.name)],
        "\(list.id.text) \(list.name.quotedForMessage), \(openCount.grouped) open"
      )
    }
  }

  /// Devices that have a name.
  init(members: [SyncStatus.Member]) {
    all = members.map { member in
      let name = member.name?.quotedForMessage ?? "unknown"
      let mark = member.isRevoked ? ", revoked" : member.isFormer ? ", a former identity" : ""
      return (
        ["replica": .text(member.replica.description), "handle": .text(member.handle), "name": .text(member.name)],
        "\(member.handle) \(name)\(mark)"
      )
    }
  }

  /// Lists with a similar name.
  init(guesses lists: [TaskList]) {
    all = lists.map { (["id": .id($0.id), "name": .text($0.name)], $0.name.quotedForMessage) }
    areGuesses = true
  }

  /// Whether there are several to choose from.
  var areSeveral: Bool { all.count > 1 }

  /// The candidates as a member of the error; none without candidates.
  var facts: Facts { all.isEmpty ? [:] : ["candidates": .array(all.map(\.facts))] }

  /// The candidates as lines, or as a question.
  var text: String {
    guard !all.isEmpty else { return "" }
    if areGuesses { return "Did you mean \(all.map(\.words).joined(separator: " or "))?\n" }
    return all.map { "  \($0.words)\n" }.joined() + (hasMore ? "  …\n" : "")
  }
}

/// How the program ends.
///
/// The numbers are part of the command line's contract; do not change them.
/// From 64 on they are those of BSD's `sysexits.h`.
enum ExitStatus: Int32 {
  case success = 0
  /// The named object does not exist, or the name is ambiguous.
  case notFound = 1
  /// An argument is missing, unknown or refused.
  case usage = 64
  /// A file, or the store, holds bad data.
  case badData = 65
  /// An input file cannot be read.
  case inputUnreadable = 66
  /// An error of the program itself.
  case internalFault = 70
  /// An output cannot be created.
  case outputNotCreated = 73
  /// The disk is full or failed.
  case storageFailed = 74
  /// The store is busy; trying again may help.
  case busy = 75
  /// The store's format is newer than this program.
  case newerFormat = 76
  /// SIGINT.
  case interrupted = 130
}

extension ExitStatus {
  /// The status for an error of the library.
  ///
  /// An error with a position is about a document, whatever its code, unless it is about a filter: a blank title is a
  /// wrong argument when typed, and bad data when imported.
  init(for error: TallyError) {
    self = error.position != nil && !error.code.isOfOneLine ? .badData : Self.byCode[error.code] ?? .internalFault
  }

  /// Every code of the library; a test compares the keys with the library's source.
  static let byCode = Dictionary(uniqueKeysWithValues: codes.flatMap { status, codes in codes.map { ($0, status) } })

  private static let codes: [ExitStatus: [TallyError.Code]] = [
    .notFound: [
      .taskNotFound, .listNotFound, .filterNotFound, .storeMissing, .nothingToUndo, .nothingToRedo, .undoConflict,
      .notSynchronising, .conflictNotFound, .deviceRevoked, .spaceKeyMissing, .replicaNotFound,
    ],
    .usage: [
      .blankTitle, .blankListName, .invalidColor, .invalidDay, .invalidInstant, .invalidState, .valueOutOfRange,
      .inconsistentTask, .differentPlaces, .invalidLink, .invalidToken, .invalidTag, .invalidPriority,
      .invalidAttribute, .invalidParent, .invalidDependency, .invalidRecurrence, .invalidFilter, .invalidKey,
      .invalidValue, .invalidIndex,
      .invalidGoal, .emptySearch, .alreadySynchronises, .invalidInvitation, .wrongPassphrase,
      .tooManyReplicas, .spaceNotEncrypted, .irreversible, .invalidDeviceName, .placeOfOtherSpace, .notAnOwner,
    ],
    .badData: [
      .duplicateID, .duplicateKey, .unchangeableRecord, .unknownList, .malformedDocument, .unknownKey, .damagedStore,
    ],
    .inputUnreadable: [.inputUnreadable],
    // No store can be created or used at the path: it has something else, or access is refused.
    .outputNotCreated: [.outputNotCreated, .notAStore, .permissionDenied, .remoteFilesystem],
    .storageFailed: [.diskFull, .storageFailed, .outcomeUnknown],
    .busy: [.storeBusy, .readersFull, .syncUnreachable, .syncRefused, .syncBusy],
    .newerFormat: [.newerFormat],
    .interrupted: [.cancelled],
    .internalFault: [.alreadyOpen, .reentrantTransaction, .storeClosed, .storeSuspended, .internalFault],
  ]
}
