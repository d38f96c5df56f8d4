/// A model of the log's protocol (`docs/log.md`): what processes, the system and the disk can do, one step at a time.
///
/// A step is one system call or one access to the shared block; what a process does between two of them nobody can see.
final class LogModel {
  /// What may happen, and how often.
  struct Budget {
    var processes = 2
    /// How often each process opens the store.
    var lives = 2
    var appends = 2
    var directCommits = 0
    var kills = 0
    var cuts = 0
    var failures = 0
    /// How often a process that opens the store alone finds no room on the disk for a recovery.
    var fullDisks = 0
    /// Whether a killed process is started again.
    var restarts = true
    /// Whether the processes have an empty store open at the beginning.
    var beginsOpen = false
    /// How many records the ring has: 1 or 2.
    var ring = 1
    var isDurable = true
    /// Whether the second process makes durable commits, and the others relaxed ones.
    var isMixed = false
    /// Whether a record may also begin one place later, as a longer one does where it would cross the ring's end.
    var hasGaps = false
    /// Whether the second process is another thread of the first one.
    var hasThreads = false
    /// How many processes, the last ones, only read.
    var readers = 0
    /// Whether the last process is a program that knows no log: it uses the tree alone, unless that has the mark (L16).
    var hasStranger = false
  }

  /// The rules that a control leaves out.
  enum Omission: CaseIterable {
    case turn, opening, checksum, publishingLast, flushOfRecord, readerFirst, flushBeforeRaising, dropOfTail,
      beginningOfTail
    case rowWithEntries, room, flushOfSafe, doubt, doubtOfDirect, keepingRecords, repetitionOfFailed, zeroing,
      clearingBlock, recovery
    case numberOfRecovery, mergeAtClosing, flushOfName, headLast, mergeOfLastWriter, mark, removalOfUnmarked,
      removalLast
    case doubtOfAdoption, repeatedWrite, flushOfAdoption
  }

  enum Step: Int {
    case out, openLock, openUse, openFind, openMake, openName, openHead, openClear
    case adoptMark, adoptTree, adoptRecord, adoptFlush, adoptPublish, openRelease, openShare, openUnlock
    case idle
    case snapBegin, snapPublished, snapFlush, snapRaise, snapCatch
    case writeTurn, writeMark, writeBegin
    case roomCheck, roomFlush, roomRaise, writeDoubt, writeHalf, writeWhole, writeFlush, zeroRecord, writePublish,
      writeClear, writeUnlock
    case directMerging, directTree, directPublished, directCatch, directMark, directPages, directMeta, directSync,
      directNote
    case directSafe, directPublish, directClear, directUnlock
    case mergeMerging, mergeTree, mergePublished, mergeCatch, mergeFirst, mergePages, mergeMeta, mergeSync, mergeNote,
      mergeSafe
    case mergeUnlock
    case closeLock, closeUse, closeRemove, closeName, closeEnd
    case strangerIn
  }

  /// Why a process runs a part that several have.
  enum Purpose: Int {
    case nothing, open, read, append, direct, merge, close
  }

  typealias State = LogModelState

  let budget: Budget
  let omission: Omission?
  var trees = Numbering(ModelTree())
  var records = Numbering(ModelRecord(commit: 0, v: 0, sum: 0, attempt: 0))
  private var sums = Numbering([0])
  /// The first contradiction that a step has found.
  var violation: String?

  init(_ budget: Budget, omitting omission: Omission? = nil) {
    self.budget = budget
    self.omission = omission
  }

  var first: State {
    var state = State(processCount: budget.processes, hasThreads: budget.hasThreads)
    state[.appends] = budget.appends
    state[.directCommits] = budget.directCommits
    state[.kills] = budget.kills
    state[.cuts] = budget.cuts
    state[.failures] = budget.failures
    state[.fullDisks] = budget.fullDisks
    for process in 0..<budget.processes {
      state[process, .lives] = budget.lives
      guard budget.beginsOpen, !budget.hasThreads || process == 0 else { continue }
      state[.users] |= 1 << process
      if !isReader(process) { state[.writers] |= 1 << process }
      state[process, .step] = Step.idle.rawValue
      resetTail(of: process, to: ModelPlace(), in: &state)
    }
    guard budget.beginsOpen else { return state }
    for cell in [State.Cell.hasLog, .hasHead, .isLogNamed] { state[cell] = 1 }
    for cell in [State.Cell.noted, .written, .durable] { state[cell] = trees.number(of: ModelTree(isMarked: true)) }
    return state
  }

  /// Whether a process only reads.
  func isReader(_ process: Int) -> Bool { process >= budget.processes - budget.readers && !isStranger(process) }

  func isStranger(_ process: Int) -> Bool { budget.hasStranger && process == budget.processes - 1 }

  /// Whether the last process that writes closes the store.
  func isLastWriter(_ process: Int, in state: State) -> Bool { state[.writers] == 1 << process }

  /// Whether the tree that readers take has the mark.
  func isMarked(_ state: State) -> Bool { trees.values[state[.noted]].isMarked }

  /// Whether the commits of a process are durable.
  func flushes(_ process: Int) -> Bool { budget.isDurable || budget.isMixed && process == 1 }

  func omits(_ rule: Omission) -> Bool { omission == rule }

  func step(of process: Int, in state: State) -> Step { Step(rawValue: state[process, .step]) ?? .out }

  /// The checksum of a record at a place, which continues another one.
  func sum(after sum: Int, commit: Int, v: Int) -> Int { sums.number(of: [sum, commit, v]) }

  func slot(_ v: Int) -> (now: State.Cell, durable: State.Cell) {
    v % budget.ring == 0 ? (.slot0, .durableSlot0) : (.slot1, .durableSlot1)
  }

  /// Writes a slot, which the system then no longer forgets.
  func write(_ record: Int, at v: Int, in state: inout State) {
    state[slot(v).now] = record
    state[.forgotten] &= ~(1 << (v % budget.ring))
  }

  func flushLog(_ state: inout State) {
    if state[.forgotten] & 1 == 0 { state[.durableSlot0] = state[.slot0] }
    if state[.forgotten] & 2 == 0 { state[.durableSlot1] = state[.slot1] }
  }

  /// The record that continues a process's tail, or `nil` (L2, L4).
  func nextRecord(of process: Int, in state: State) -> ModelRecord? {
    let end = state[process, .v]
    for v in budget.hasGaps ? [end, end + 1] : [end] {
      let record = records.values[state[slot(v).now]]
      guard record.commit == state[process, .end] + 1, record.v == v else { continue }
      let expected = sum(after: state[process, .sum], commit: record.commit, v: v)
      if record.sum == expected || omits(.checksum) { return record }
    }
    return nil
  }

  func apply(_ record: ModelRecord, to process: Int, in state: inout State) {
    state[process, entry: record.commit] = record.attempt
    state[process, .end] = record.commit
    state[process, .v] = record.v + 1
    state[process, .sum] = record.sum
  }

  /// Lets the tail begin at a row (L6).
  func resetTail(of process: Int, to row: ModelPlace, in state: inout State) {
    for commit in 1...State.maximumCommit { state[process, entry: commit] = 0 }
    state[process, .hasTail] = 1
    state[process, .from] = row.commit
    state[process, .end] = row.commit
    state[process, .v] = row.v
    state[process, .sum] = row.sum
  }

  enum Readiness { case ready, again }

  /// Makes a tail fit a tree's row (L6).
  func fit(_ process: Int, to row: ModelPlace, in state: inout State) -> Readiness {
    let isBehind = row.commit > state[process, .end] && !omits(.dropOfTail) && !omits(.readerFirst)
    if state[process, .hasTail] == 0 || isBehind { resetTail(of: process, to: row, in: &state) }
    return state[process, .from] > row.commit && !omits(.beginningOfTail) ? .again : .ready
  }

  /// What a process sees: the tree that it has, and the entries of its tail.
  func contents(of process: Int, in state: State) -> [Int] {
    let tree = trees.values[state[process, .file]]
    let (from, end) = (state[process, .from], state[process, .end])
    let attempts = (1...State.maximumCommit).map { commit in
      if commit > from, commit <= end { return state[process, entry: commit] }
      return commit <= tree.attempts.count ? tree.attempts[commit - 1] : 0
    }
    return Array(attempts.prefix(max(end, tree.row.commit)))
  }

  /// The tree with the entries of a process's tail, and with its end as the row.
  func merged(by process: Int, in state: State) -> ModelTree {
    let row = ModelPlace(commit: state[process, .end], v: state[process, .v], sum: state[process, .sum])
    // The last transaction of the last process removes the mark (L13).
    let isEnd = purpose(of: process, in: state) == .close && state[.soleUser] == process + 1
    let isMarked = trees.values[state[process, .file]].isMarked && !isEnd
    return ModelTree(attempts: contents(of: process, in: state), row: row, isMarked: isMarked)
  }

  func report(_ text: String) {
    if violation == nil { violation = text }
  }
}

extension LogModel {
  /// Checks a snapshot against all that was seen before it, and remembers it.
  func see(_ process: Int, in state: inout State) {
    let contents = contents(of: process, in: state)
    let row = trees.values[state[process, .file]].row.commit
    if state[process, .end] > state[process, .from], state[process, .end] < row {
      report("the tail hides newer entries of the tree")
    }
    if contents.contains(0) { return report("a snapshot lacks a commit between others") }
    if contents.count < state[process, .seenCount] { report("a snapshot lacks commits that were seen before it began") }
    for (index, attempt) in contents.enumerated() {
      if index < knownCount(in: state), state[seen: index + 1] != attempt {
        report("a snapshot has another commit than was seen")
      }
      if state[.lost] >> attempt & 1 == 1 { report("a commit that was lost or refused returns") }
    }
    if state[.isUnseen] == 1 { forgetLost(contents, in: &state) }
    for index in contents.indices.dropFirst(state[.seenCount]) { state[seen: index + 1] = contents[index] }
    state[.seenCount] = max(state[.seenCount], contents.count)
  }

  /// The first look after a power cut: what it does not see must not come back.
  private func forgetLost(_ contents: [Int], in state: inout State) {
    if contents.count < knownCount(in: state) { report("a power cut has undone what was seen") }
    let gap = contents.indices.first { $0 < state[.seenCount] && state[seen: $0 + 1] != contents[$0] } ?? contents.count
    for commit in 1...State.maximumCommit
    where commit <= state[.seenCount] && contents[gap...].contains(state[seen: commit]) {
      report("a power cut has undone a commit and kept a later one")
    }
    for attempt in 1..<(state[.attempts] + 1) where !contents.contains(attempt) { state[.lost] |= 1 << attempt }
    for commit in 1...State.maximumCommit { state[seen: commit] = commit <= contents.count ? contents[commit - 1] : 0 }
    state[.seenCount] = contents.count
    state[.isUnseen] = 0
  }

  /// Checks that an acknowledged commit is the one after what its writer saw, and remembers it as seen.
  func acknowledge(_ attempt: Int, as commit: Int, by process: Int, in state: inout State) {
    if flushes(process) { state[.kept] = max(state[.kept], commit) }
    if state[.seenCount] < commit - 1 { report("a commit follows one that nobody saw") }
    if state[.seenCount] >= commit, state[seen: commit] != attempt { report("two commits have one number") }
    guard state[.seenCount] < commit else { return }
    state[seen: commit] = attempt
    state[.seenCount] = commit
  }

  /// Checks that a program that knows no log finds everything in the tree, and no log in use.
  func checkStranger(_ state: State) {
    let tree = trees.values[state[.noted]]
    if tree.row.commit < knownCount(in: state) { report("a program that knows no log lacks commits") }
    if state[.users] != 0, state[.soleUser] == 0 { report("a log is in use beside a program that knows none") }
  }

  /// Checks that a closed tree has everything.
  func checkClosed(_ state: State) {
    let tree = trees.values[state[.written]]
    let known = knownCount(in: state)
    guard tree.row.commit >= known else { return report("a closed tree lacks commits") }
    for index in tree.attempts.indices.prefix(known) where tree.attempts[index] != state[seen: index + 1] {
      report("a closed tree has another commit")
    }
  }

  /// How many commits must be there: after a power cut, until somebody has looked, only durable ones.
  private func knownCount(in state: State) -> Int {
    state[.isUnseen] == 1 && !budget.isDurable ? state[.kept] : state[.seenCount]
  }
}
