import LMDB

/// How the environment of a run is opened; on the command line three words.
struct JournalSetting {
  enum Kind: String {
    case plain
    /// A short pause makes the file clean, and durable commits of a clean file need no journal.
    case pauses
    /// The ring holds a few records only.
    case narrow
    /// Recovery has many records to repeat.
    case long
  }

  var isDurable = true
  /// The rules that a control breaks.
  var brokenRules: UInt32 = 0
  var kind = Kind.plain

  var options: LMDBEnvironment.Options {
    var options = LMDBEnvironment.Options()
    options.mapSizeInBytes = 1 << 26
    options.maxReaders = 32
    options.durability = isDurable ? .full : .noMetaSync
    options.writeWaitLimit = .seconds(20)
    var journal = JournalOptions()
    journal.ringSizeInBytes = 4_096 * (kind == .narrow ? 16 : kind == .long ? 256 : 48)
    journal.checkpointCommitCount = kind == .narrow ? 1_000 : kind == .long ? 30 : 7
    journal.checkpointInterval = .milliseconds(kind == .narrow || kind == .long ? 500 : 15)
    journal.flushInterval = .milliseconds(3)
    journal.cleanInterval = .milliseconds(kind == .pauses ? 4 : 400)
    if kind == .pauses { journal.directCommitCount = 1_000 }
    journal.recordsPerReplayedCommit = 1
    journal.brokenRules = JournalOptions.BrokenRules(rawValue: brokenRules)
    options.journal = journal
    return options
  }

  init(isDurable: Bool, brokenRules: UInt32, kind: Kind) {
    (self.isDurable, self.brokenRules, self.kind) = (isDurable, brokenRules, kind)
  }

  /// Reads what `arguments` writes.
  init(_ act: Act, at index: Int) throws {
    isDurable = try act.text(index) == "durable"
    brokenRules = try act.number(index + 1)
    guard let kind = Kind(rawValue: try act.text(index + 2)) else { throw FaultProgram.Misuse() }
    self.kind = kind
  }

  var arguments: [String] {
    [isDurable ? "durable" : "relaxed", "\(brokenRules)", kind.rawValue]
  }
}
