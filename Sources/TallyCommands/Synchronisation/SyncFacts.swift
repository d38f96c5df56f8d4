import Foundation
import Tally
import TallySync

extension SpaceSetup {
  var facts: Facts {
    [
      "space": .text(space.description), "replica": .text(replica.description), "invitation": .text(invitation),
      "recoveryCode": .text(recoveryCode),
    ]
  }
}

extension SyncReport {
  static let columns = ["sent", "received", "pending", "conflicts"]

  /// Members that are rarely needed are present only if they say something.
  var facts: Facts {
    var facts: Facts = [
      "sent": .count(sent), "received": .count(received), "pending": .count(pending), "conflicts": .count(conflicts),
      "blocked": .array(blocked.map(\.facts)),
    ]
    if !clocks.isEmpty { facts = facts.adding([.init("clocks", onlyIn: .json): .array(clocks.map(\.facts))]) }
    if !listsOfOneName.isEmpty {
      let groups = listsOfOneName.map { Facts.array($0.map(\.facts)) }
      facts = facts.adding([.init("listsOfOneName", onlyIn: .json): .array(groups)])
    }
    if !unsentTexts.isEmpty { facts = facts.adding(["tooLarge": .count(unsentTexts.count)]) }
    return facts
  }

  /// What happened, in words.
  var words: String {
    var parts: [String] = []
    if sent > 0 { parts.append("sent \(sent.counted("change"))") }
    if received > 0 { parts.append("received \(received.counted("change"))") }
    let nothing = blocked.isEmpty ? "Up to date" : "Nothing new"
    let text = parts.isEmpty ? nothing : parts.joined(separator: ", ").withCapital
    return text + (pending > 0 ? "; \(pending.counted("change")) waiting" : "") + "."
  }
}

extension SyncReport {
  /// What to say where others have deleted most of the tasks.
  ///
  /// - Parameter trash: The items that can be restored.
  /// - Returns: The words; `nil` if others have not.
  func massDeletionWords(restorableFrom trash: [DeletedItem]) -> String? {
    guard isMassDeletion else { return nil }
    let deleted = Set(deletedTaskIDs)
    let first = trash.filter { deleted.contains($0.id) }.compactMap(\.noticedAt).min()
    let remedy = first.map { " To restore them: tally trash restore --since \($0)" } ?? ""
    return "\(deleted.count.counted("task")) were deleted on another device.\(remedy)"
  }
}

extension [String] {
  /// What to say about the tasks and lists with a text that is too large to be sent; `nil` if there are none.
  var unsentTextWords: String? {
    guard let first else { return nil }
    let name = (first.count > 40 ? first.prefix(40) + "\u{2026}" : first).escapedForDisplay()
    let others = count > 1 ? " and \((count - 1).counted("other"))" : ""
    return "\u{201C}\(name)\u{201D}\(others): a text of more than 7 MiB is not sent to other devices. Shorten it"
  }
}

extension BlockedReplica {
  var facts: Facts {
    [
      "replica": .text(replica.description), "name": .text(name), "reason": .text(reason), "remedy": .text(remedy),
      "since": .instant(since), "isIncomplete": .flag(isIncomplete),
      "missing": .array(missing.map(\.facts)),
    ]
  }

  /// The name of the device, or the start of its id.
  var shownName: String { name.map { $0.escapedForDisplay() } ?? "the device \(replica.description.prefix(8))" }

  /// Which device is blocked, since when and why, without the remedy.
  func words(_ clock: LocalClock) -> String {
    let time = since.map { ", since \(clock.relativeName(of: $0))" } ?? ""
    return "\(isIncomplete ? "Incomplete: " : "Blocked: ")\(shownName)\(time): \(reason.escapedForDisplay())"
  }
}

extension ClosedRange<UInt64> {
  fileprivate var facts: Facts {
    ["first": .integer(Int64(clamping: lowerBound)), "last": .integer(Int64(clamping: upperBound))]
  }
}

extension CommandFailure {
  /// The failure, if changes of other devices are known to exist and have not arrived; otherwise `nil`.
  init?(incomplete: [BlockedReplica], _ clock: LocalClock) {
    guard let first = incomplete.first else { return nil }
    let devices = incomplete.map { blocked in
      let time = blocked.since.map { " (since \(clock.relativeName(of: $0)))" } ?? ""
      // A name keeps its case.
      let device = blocked.name == nil ? blocked.shownName.withCapital : blocked.shownName
      return "\(device)\(time): \(blocked.reason.escapedForDisplay())"
    }
    let words = "Changes of \(incomplete.count.counted("device")) are missing. " + devices.joined(separator: " ")
    self.init(
      .busy, code: "syncIncomplete", words.withoutFullStop,
      remedy: (first.remedy ?? "Synchronise again when they are there").withoutFullStop)
  }
}

extension SyncStatus.Member {
  static let columns = [
    "replica", "name", "lastSeen", "behind", "code", "isRevoked", "isFormer", "handle", "successor",
  ]

  var facts: Facts {
    [
      "replica": .text(replica.description), "name": .text(name), "lastSeen": .instant(lastSeen),
      "behind": .count(behind), "isRevoked": .flag(isRevoked), "isFormer": .flag(isFormer),
      "handle": .text(handle), "successor": .text(successor?.description),
    ]
  }

  /// With the six digits, which the status does not repeat.
  var factsWithCode: Facts { facts.adding(["code": .text(code)]) }

  /// The six digits, as people read them.
  var shownCode: String? { code.map { "\($0.prefix(3)) \($0.suffix(3))" } }
}

extension SyncStatus {
  static let columns = [
    "space", "replica", "at", "lastSent", "lastReceived", "pending", "oldestPending", "conflicts", "tooLarge",
    "needsUpgrade", "stateHash", "isRevoked", "incomplete",
  ]

  var facts: Facts {
    [
      "space": .text(space.description), "replica": .text(replica.description), "name": .text(name),
      "at": .text(place), "isStopped": .flag(isStopped), "isRevoked": .flag(isRevoked), "lastSent": .instant(lastSent),
      "lastReceived": .instant(lastReceived), "refused": .text(refused), "pending": .count(pending),
      "oldestPending": .instant(oldestPending),
      "replicas": .array(members.map(\.facts)), "blocked": .array(blocked.map(\.facts)),
      "conflicts": .count(conflicts), "tooLarge": .count(tooLarge), "needsUpgrade": .flag(needsUpgrade),
      "stateHash": .text(stateHash), "isRecoveryCodeOutdated": .flag(isRecoveryCodeOutdated),
      .init("clocks", onlyIn: .json): .array(clocks.map(\.facts)),
      "incomplete": .count(blocked.count(where: \.isIncomplete)),
    ]
  }
}

extension Conflict {
  static let columns = ["id", "taskID", "listID", "field", "lost", "lostAt", "wonAt"]

  var facts: Facts {
    [
      "id": .integer(Int64(clamping: id)), "taskID": .id(isList ? nil : objectID),
      "listID": .id(isList ? objectID : nil),
      "field": .text(field), "lost": .text(lost), "lostReplica": .text(lostReplica.description),
      "lostAt": .instant(lostAt), "winningReplica": .text(winningReplica.description), "wonAt": .instant(wonAt),
      "noticedAt": .instant(noticedAt),
    ]
  }
}

extension DeletedItem {
  static let columns = ["handle", "kind", "deletedAt", "title", "id"]

  func facts(handle: String) -> Facts {
    [
      "id": .id(id), "handle": .text(handle), "kind": .text(isList ? "list" : "task"), "title": .text(name),
      "deletedAt": .instant(deletedAt),
    ]
  }
}

extension String {
  fileprivate var withCapital: String { prefix(1).uppercased() + dropFirst() }
  fileprivate var withoutFullStop: String { hasSuffix(".") ? String(dropLast()) : self }
}
