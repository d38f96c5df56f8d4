extension LogModel {
  typealias Emit = (State) -> Void

  /// Emits every state to which one step of a process leads; none if it waits.
  func advance(_ process: Int, in state: State, _ emit: Emit) {
    let step = step(of: process, in: state)
    switch step.rawValue {
    case Step.adoptMark.rawValue...Step.adoptPublish.rawValue: adopt(process, step, state, emit)
    case Step.out.rawValue...Step.openUnlock.rawValue: open(process, step, state, emit)
    case Step.idle.rawValue: choose(process, state, emit)
    case Step.snapBegin.rawValue...Step.snapCatch.rawValue: snapshot(process, step, state, emit)
    case Step.writeTurn.rawValue...Step.writeBegin.rawValue: takeTurn(process, step, state, emit)
    case Step.roomCheck.rawValue...Step.writeUnlock.rawValue: append(process, step, state, emit)
    case Step.directMerging.rawValue...Step.directUnlock.rawValue: commitDirectly(process, step, state, emit)
    case Step.mergeMerging.rawValue...Step.mergeUnlock.rawValue: merge(process, step, state, emit)
    case Step.strangerIn.rawValue: leave(process, state, emit)
    default: close(process, step, state, emit)
    }
  }

  func purpose(of process: Int, in state: State) -> Purpose { Purpose(rawValue: state[process, .purpose]) ?? .nothing }

  /// Emits the state with the process at another step.
  func go(_ process: Int, to step: Step, _ state: State, _ emit: Emit) {
    var state = state
    state[process, .step] = step.rawValue
    emit(state)
  }

  /// Emits the state with the process at rest.
  func rest(_ process: Int, _ state: State, _ emit: Emit) {
    var state = state
    for field in [State.Field.purpose, .file, .target, .seenCount, .product, .attempt] { state[process, field] = 0 }
    go(process, to: .idle, state, emit)
  }

  /// Takes a free lock, and returns whether it was free.
  func take(_ lock: State.Cell, by process: Int, in state: inout State) -> Bool {
    guard state[lock] == 0 else { return false }
    state[lock] = process + 1
    return true
  }

  /// Takes liblmdb's lock; after a killed holder the newest meta page is the one that counts (F2).
  func takeTree(by process: Int, in state: inout State) -> Bool {
    guard take(.tree, by: process, in: &state) else { return false }
    if state[.hasDeadOwner] == 1 {
      state[.hasDeadOwner] = 0
      state[.noted] = state[.written]
    }
    return true
  }

  /// What a process at rest may begin.
  private func choose(_ process: Int, _ state: State, _ emit: Emit) {
    func begin(_ purpose: Purpose, _ step: Step) {
      var state = state
      state[process, .purpose] = purpose.rawValue
      go(process, to: step, state, emit)
    }
    begin(.read, .snapBegin)
    if !budget.hasThreads || process == 0 { begin(.close, .closeLock) }
    if isReader(process) { return }
    if state[.appends] > 0 { begin(.append, .writeTurn) }
    if state[.directCommits] > 0 { begin(.direct, .writeTurn) }
    if trees.values[state[.noted]].row.commit < state[.published] { begin(.merge, .mergeMerging) }
  }

  /// L5 and L6.
  private func snapshot(_ process: Int, _ step: Step, _ state: State, _ emit: Emit) {
    var state = state
    switch step {
    case .snapBegin:
      if state[process, .target] == 0 || !omits(.readerFirst) {
        state[process, .seenCount] = state[.isUnseen] == 1 ? 0 : state[.seenCount]
      }
      if omits(.readerFirst), state[process, .product] == 0 {
        // The control looks at what is published first, and begins its reader then.
        state[process, .target] = state[.published]
        state[process, .product] = 1
        return emit(state)
      }
      state[process, .product] = 0
      state[process, .file] = state[.noted]
      go(process, to: omits(.readerFirst) ? .snapCatch : .snapPublished, state, emit)
    case .snapPublished:
      let row = trees.values[state[process, .file]].row
      state[process, .target] = state[.published]
      guard row.commit > state[.published] else { return go(process, to: .snapCatch, state, emit) }
      go(process, to: omits(.flushBeforeRaising) ? .snapRaise : .snapFlush, state, emit)
    case .snapFlush:
      state[.durable] = state[.written]
      go(process, to: .snapRaise, state, emit)
    case .snapRaise:
      state[.published] = max(state[.published], trees.values[state[process, .file]].row.commit)
      go(process, to: .snapPublished, state, emit)
    default:
      guard fit(process, to: trees.values[state[process, .file]].row, in: &state) == .ready else {
        return go(process, to: .snapBegin, state, emit)
      }
      if state[process, .end] < state[process, .target] {
        guard let record = nextRecord(of: process, in: state) else { return go(process, to: .snapBegin, state, emit) }
        apply(record, to: process, in: &state)
        if state[process, .end] < state[process, .target] { return emit(state) }
      }
      see(process, in: &state)
      if purpose(of: process, in: state) == .read { return rest(process, state, emit) }
      go(process, to: .writeBegin, state, emit)
    }
  }

  /// The turn, what a killed process has left (L10), and how the commit is made.
  private func takeTurn(_ process: Int, _ step: Step, _ state: State, _ emit: Emit) {
    var state = state
    switch step {
    case .writeTurn:
      guard omits(.turn) || take(.turn, by: process, in: &state) else { return }
      go(process, to: .writeMark, state, emit)
    case .writeMark:
      go(process, to: state[.isInDoubt] == 1 ? .directMerging : .snapBegin, state, emit)
    default:
      let isDirect = purpose(of: process, in: state) == .direct
      guard state[isDirect ? .directCommits : .appends] > 0, state[process, .end] < State.maximumCommit else {
        // Others have used the budget up: the write is aborted.
        if !omits(.turn) { state[.turn] = 0 }
        return rest(process, state, emit)
      }
      state[isDirect ? .directCommits : .appends] -= 1
      state[.attempts] += 1
      state[process, .attempt] = state[.attempts]
      go(process, to: isDirect ? .directMerging : .roomCheck, state, emit)
    }
  }

  /// Appending a record (L3, L8, L11).
  private func append(_ process: Int, _ step: Step, _ state: State, _ emit: Emit) {
    var state = state
    switch step {
    case .roomCheck:
      let room = omits(.room) ? 2 : state[.safe] + budget.ring - state[process, .v]
      for gap in 0..<(budget.hasGaps ? 2 : 1) where room > gap { prepareRecord(process, gap: gap, state, emit) }
      guard room <= 0 else { return }
      let row = trees.values[state[.noted]].row
      state[process, .file] = state[.noted]
      if row.v > state[.safe] { return go(process, to: omits(.flushOfSafe) ? .roomRaise : .roomFlush, state, emit) }
      go(process, to: .mergeMerging, state, emit)
    case .roomFlush:
      state[.durable] = state[.written]
      go(process, to: .roomRaise, state, emit)
    case .roomRaise:
      state[.safe] = max(state[.safe], trees.values[state[process, .file]].row.v)
      go(process, to: .roomCheck, state, emit)
    case .writeDoubt:
      if !omits(.doubt) { state[.isInDoubt] = 1 }
      go(process, to: .writeHalf, state, emit)
    case .writeHalf:
      writeHalf(process, state, emit)
    case .writeWhole:
      write(state[process, .product], at: records.values[state[process, .product]].v, in: &state)
      if omits(.publishingLast) { state[.published] = max(state[.published], state[process, .end] + 1) }
      go(process, to: omits(.flushOfRecord) || !flushes(process) ? .writePublish : .writeFlush, state, emit)
    case .writeFlush:
      if state[.failures] > 0 { failFlush(process, state, emit) }
      flushLog(&state)
      go(process, to: .writePublish, state, emit)
    case .zeroRecord:
      // Readers whose tree is older would go on in the chain that ends here.
      if let record = nextRecord(of: process, in: state) { write(0, at: record.v, in: &state) }
      go(process, to: .directMerging, state, emit)
    case .writePublish:
      state[.published] = max(state[.published], state[process, .end] + 1)
      go(process, to: .writeClear, state, emit)
    case .writeClear:
      state[.isInDoubt] = 0
      go(process, to: .writeUnlock, state, emit)
    default:
      if state[process, .product] != 0, state[process, .end] < records.values[state[process, .product]].commit {
        apply(records.values[state[process, .product]], to: process, in: &state)
      }
      acknowledge(state[process, .attempt], as: state[process, .end], by: process, in: &state)
      if !omits(.turn) { state[.turn] = 0 }
      rest(process, state, emit)
    }
  }

  private func prepareRecord(_ process: Int, gap: Int, _ state: State, _ emit: Emit) {
    var state = state
    let (commit, v) = (state[process, .end] + 1, state[process, .v] + gap)
    let record = ModelRecord(
      commit: commit, v: v, sum: sum(after: state[process, .sum], commit: commit, v: v),
      attempt: state[process, .attempt])
    state[process, .product] = records.number(of: record)
    go(process, to: .writeDoubt, state, emit)
  }

  /// Half a record is there; what was there before and not flushed may have reached the disk meanwhile.
  private func writeHalf(_ process: Int, _ state: State, _ emit: Emit) {
    var state = state
    let record = records.values[state[process, .product]]
    let slot = slot(record.v)
    let old = state[slot.now]
    write(
      records.number(of: ModelRecord(commit: record.commit, v: record.v, sum: 255, attempt: 0)), at: record.v,
      in: &state)
    go(process, to: .writeWhole, state, emit)
    guard old != state[slot.durable] else { return }
    state[slot.durable] = old
    go(process, to: .writeWhole, state, emit)
  }

  /// A flush that fails: what was to be written may have reached the disk or not, and is not tried again (L11).
  private func failFlush(_ process: Int, _ state: State, _ emit: Emit) {
    var state = state
    state[.failures] -= 1
    state[process, .product] = 0
    let unflushed = (state[.slot0] == state[.durableSlot0] ? 0 : 1) | (state[.slot1] == state[.durableSlot1] ? 0 : 2)
    for hasArrived in [false, true] {
      var state = state
      if hasArrived { flushLog(&state) } else { state[.forgotten] |= unflushed }
      if !omits(.repetitionOfFailed) {
        go(process, to: omits(.zeroing) ? .directMerging : .zeroRecord, state, emit)
      } else {
        state[.lost] |= 1 << state[process, .attempt]
        state[.isInDoubt] = 0
        if !omits(.turn) { state[.turn] = 0 }
        rest(process, state, emit)
      }
    }
  }
}
