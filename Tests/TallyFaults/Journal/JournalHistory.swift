import SystemPackage

/// What the processes of a run have said about their transactions, up to an event of its log.
struct JournalHistory {
  /// The salts with which each number has begun to commit.
  private var begun: [UInt64: Set<UInt64>] = [:]
  /// The salt of each number that has returned, and whether it was durable.
  private var returned: [UInt64: (salt: UInt64, isDurable: Bool)] = [:]
  private var failed: [UInt64: Set<UInt64>] = [:]
  private(set) var lastDurable: UInt64 = 0
  private(set) var lastReturned: UInt64 = 0
  /// The last number that a reader has seen.
  private(set) var lastSeen: UInt64 = 0
  private var position = 0

  private let log: FileLog
  private let files: Set<UInt64>

  init(_ log: FileLog) {
    self.log = log
    files = Set(
      log.events.compactMap { event in
        if case .entry(_, "acknowledged", let target, _) = event { target } else { nil }
      })
  }

  /// Reads all events before an index.
  mutating func advance(to event: Int) throws {
    while position < event {
      if case .write(let file, _, let bytes, _) = log.events[position], files.contains(file) { try note(bytes) }
      position += 1
    }
  }

  private mutating func note(_ bytes: [UInt8]) throws {
    let words = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isWhitespace)
    guard words.count == 3, let number = UInt64(words[1]), let salt = UInt64(words[2]) else {
      throw FileLog.Malformed()
    }
    switch words[0] {
    case "begun": begun[number, default: []].insert(salt)
    case "failed": failed[number, default: []].insert(salt)
    case "seen": lastSeen = max(lastSeen, number)
    default:
      returned[number] = (salt, words[0] == "durable")
      lastReturned = max(lastReturned, number)
      if words[0] == "durable" { lastDurable = max(lastDurable, number) }
    }
  }

  /// The fault of the salts that a recovery has brought; `nil` if they are right.
  ///
  /// - Parameters:
  ///   - salts: The salt of each transaction, from the first one on.
  ///   - isIntact: Whether nothing unflushed was lost.
  ///   - isDurable: Whether all commits were durable: then what anybody has seen must be there.
  /// - Returns: A sentence.
  func fault(of salts: [UInt64], isIntact: Bool, isDurable: Bool) -> String? {
    let last = UInt64(salts.count)
    if (isIntact || isDurable) && last < lastSeen { return "lost: \(lastSeen) was seen, \(last) is the last" }
    if last < lastDurable { return "lost: \(lastDurable) was durable, \(last) is the last" }
    if isIntact && last < lastReturned { return "lost without a power cut: \(lastReturned), \(last) is the last" }
    for (position, salt) in salts.enumerated() {
      let number = UInt64(position + 1)
      if let known = returned[number], known.salt != salt { return "another transaction \(number) came back" }
      if failed[number]?.contains(salt) == true { return "the failed transaction \(number) came back" }
      guard begun[number]?.contains(salt) == true else { return "nobody has made the transaction \(number)" }
    }
    return nil
  }
}
