/// A state of the model: small numbers, of which some belong to the store and some to each process.
struct LogModelState: Hashable {
  /// The numbers of the store, of the faults that may still come, and of what the checks remember.
  enum Cell: Int, CaseIterable {
    // The tree: what readers take, what the newest meta page says, and what a power cut leaves.
    case noted, written, durable
    /// Whether the holder of liblmdb's lock was killed, so that the next holder takes the newest meta page.
    case hasDeadOwner
    // Locks: the holder's number counted from 1, or 0; and the processes that have the store open, as bits.
    case opening, turn, merging, tree, soleUser, users
    /// The processes that have the store open for writing, as bits.
    case writers
    /// Who has access to the store alone, to make a log; and whether a program that knows no log has it open.
    case access, hasStranger
    // The shared block.
    case published, safe, isInDoubt
    // The log: a record's number in each slot, or 0 for anything else; and those that a power cut leaves.
    case slot0, slot1, durableSlot0, durableSlot1
    /// Slots that the system will not write any more, after a flush has failed, as bits.
    case forgotten
    /// Whether there is a log, whether it has its head, and whether the directory's entry of it is flushed.
    case hasLog, hasHead, isLogNamed
    // What may still happen.
    case appends, directCommits, kills, cuts, failures, fullDisks
    /// How many commits were tried.
    case attempts
    // What anybody has seen: the attempt that became commit 1, 2 and so on.
    case seenCount, seen1, seen2, seen3, seen4, seen5, seen6
    /// The last commit that was acknowledged as durable.
    case kept
    /// The attempts that must not appear any more, as bits.
    case lost
    /// Whether nobody has looked since the power was cut.
    case isUnseen
  }

  /// The numbers of a process.
  enum Field: Int, CaseIterable {
    case step, purpose, lives
    // The tree that it reads, up to which commit it reads the log, and how much had been seen when it began.
    case file, target, seenCount
    /// Its record, or the tree that it writes.
    case product
    case attempt
    // Its tail: commits from...end, and the place of the end.
    case hasTail, from, end, v, sum
    case entry1, entry2, entry3, entry4, entry5, entry6
  }

  static let maximumCommit = 6
  private static let cellCount = Cell.allCases.count
  private static let fieldCount = Field.allCases.count

  private(set) var bytes: [UInt8]
  /// Whether the second process is another thread of the first one, with whom it has the tail in common.
  let hasThreads: Bool

  init(processCount: Int, hasThreads: Bool = false) {
    self.hasThreads = hasThreads
    bytes = Array(repeating: 0, count: Self.cellCount + processCount * Self.fieldCount)
  }

  var processCount: Int { (bytes.count - Self.cellCount) / Self.fieldCount }

  subscript(cell: Cell) -> Int {
    get { Int(bytes[cell.rawValue]) }
    set { bytes[cell.rawValue] = UInt8(newValue) }
  }

  subscript(process: Int, field: Field) -> Int {
    get { Int(bytes[index(process, field)]) }
    set { bytes[index(process, field)] = UInt8(newValue) }
  }

  /// The attempt that anybody has seen as a commit.
  subscript(seen commit: Int) -> Int {
    get { Int(bytes[Cell.seenCount.rawValue + commit]) }
    set { bytes[Cell.seenCount.rawValue + commit] = UInt8(newValue) }
  }

  /// The attempt that a process's tail has as a commit.
  subscript(process: Int, entry commit: Int) -> Int {
    get { Int(bytes[index(process, .sum) + commit]) }
    set { bytes[index(process, .sum) + commit] = UInt8(newValue) }
  }

  private func index(_ process: Int, _ field: Field) -> Int {
    let owner = hasThreads && process == 1 && field.rawValue >= Field.hasTail.rawValue ? 0 : process
    return Self.cellCount + owner * Self.fieldCount + field.rawValue
  }

  func hash(into hasher: inout Hasher) {
    // Read within the call; element by element it would take most of the time.
    unsafe bytes.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
  }

  /// Forgets all that a process had in memory.
  mutating func clear(process: Int) {
    let lives = self[process, .lives]
    for field in Field.allCases { self[process, field] = 0 }
    self[process, .lives] = lives
  }
}

/// A place in the log, as the row of a tree or the end of a tail has it.
struct ModelPlace: Hashable {
  var commit = 0
  var v = 0
  var sum = 0
}

/// A tree: which attempt it has as each commit, and its row.
struct ModelTree: Hashable {
  var attempts: [Int] = []
  var row = ModelPlace()
  /// Whether it keeps out programs that know no log (L16).
  var isMarked = false
}

/// A record of one commit.
///
/// All attempts write the same body: that is the hardest case for the checksum, which then tells them apart by their
/// places in the chain only.
struct ModelRecord: Hashable {
  let commit: Int
  let v: Int
  let sum: Int
  let attempt: Int
}

/// Numbers for values, counted from 0.
struct Numbering<Value: Hashable> {
  private(set) var values: [Value]
  private var numbers: [Value: Int] = [:]

  init(_ first: Value) {
    values = [first]
    numbers[first] = 0
  }

  mutating func number(of value: Value) -> Int {
    if let number = numbers[value] { return number }
    let number = values.count
    precondition(number < 256, "the model's budgets are too large for its numbers")
    values.append(value)
    numbers[value] = number
    return number
  }
}
