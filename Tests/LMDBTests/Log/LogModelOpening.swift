extension LogModel {
  /// L12, L14 and L16.
  func open(_ process: Int, _ step: Step, _ state: State, _ emit: Emit) {
    var state = state
    switch step {
    case .out: enter(process, state, emit)
    case .openLock:
      guard omits(.opening) || take(.opening, by: process, in: &state) else { return }
      go(process, to: .openUse, state, emit)
    case .openUse:
      guard state[.soleUser] == 0 else { return }
      let isAlone = state[.users] == 0
      state[.users] |= 1 << process
      if isAlone { state[.soleUser] = process + 1 }
      go(process, to: isAlone ? .openFind : .openShare, state, emit)
    case .openFind: find(process, state, emit)
    case .openMake:
      // The old one may come back as long as the directory has not been flushed.
      (state[.hasLog], state[.hasHead], state[.slot0], state[.slot1]) = (1, 0, 0, 0)
      if state[.isLogNamed] == 0 { (state[.durableSlot0], state[.durableSlot1]) = (0, 0) }
      go(process, to: omits(.headLast) ? .openHead : .openName, state, emit)
    case .openName:
      if !omits(.flushOfName) { state[.isLogNamed] = 1 }
      (state[.durableSlot0], state[.durableSlot1]) = (0, 0)
      go(process, to: omits(.headLast) ? .openClear : .openHead, state, emit)
    case .openHead:
      state[.hasHead] = 1
      go(process, to: omits(.headLast) ? .openName : .openClear, state, emit)
    case .openClear:
      let wasInDoubt = state[.isInDoubt]
      if !omits(.clearingBlock) { for cell in [State.Cell.published, .safe, .isInDoubt] { state[cell] = 0 } }
      if state[.hasStranger] == 1 { report("a log is used beside a program that knows none") }
      if !isReader(process) { go(process, to: .directMerging, state, emit) }
      // A new log is not in use before the recovery has set the mark.
      guard isReader(process) || state[.fullDisks] > 0 && isMarked(state) else { return }
      if !isReader(process) { state[.fullDisks] -= 1 }
      state[process, .product] = wasInDoubt
      go(process, to: .adoptMark, state, emit)
    case .openRelease:
      // A lock that becomes shared is released and taken again.
      (state[.soleUser], state[.access]) = (0, 0)
      state[.users] &= ~(1 << process)
      go(process, to: .openShare, state, emit)
    case .openShare:
      guard state[.soleUser] == 0 else { return }
      state[.users] |= 1 << process
      if !isReader(process) { state[.writers] |= 1 << process }
      go(process, to: .openUnlock, state, emit)
    default:
      if !omits(.opening) { state[.opening] = 0 }
      rest(process, state, emit)
    }
  }

  /// Another thread begins to use what the first one has opened; a program that knows no log begins; or a process opens.
  private func enter(_ process: Int, _ state: State, _ emit: Emit) {
    var state = state
    if budget.hasThreads, process == 1 {
      if step(of: 0, in: state) != .out, ![.open, .close].contains(purpose(of: 0, in: state)) {
        rest(process, state, emit)
      }
      return
    }
    guard state[process, .lives] > 0 else { return }
    state[process, .lives] -= 1
    guard !isStranger(process) else {
      // One that finds the mark refuses the store.
      guard state[.access] == 0, !isMarked(state) else { return }
      checkStranger(state)
      state[.hasStranger] = 1
      return go(process, to: .strangerIn, state, emit)
    }
    state[process, .purpose] = Purpose.open.rawValue
    go(process, to: .openLock, state, emit)
  }

  /// The program that knows no log ends.
  func leave(_ process: Int, _ state: State, _ emit: Emit) {
    var state = state
    state[.hasStranger] = 0
    state.clear(process: process)
    emit(state)
  }

  /// Who is alone looks for a log.
  private func find(_ process: Int, _ state: State, _ emit: Emit) {
    var state = state
    let isThere = state[.hasLog] == 1 && state[.hasHead] == 1
    // The control for the head is an environment alone, which knows no mark.
    let isInUse = isMarked(state) || omits(.removalOfUnmarked) || omits(.headLast)
    if isThere, isInUse {
      return go(process, to: .openClear, state, emit)
    }
    if isThere, !isReader(process) { (state[.hasLog], state[.hasHead], state[.isLogNamed]) = (0, 0, 0) }
    guard !isReader(process), state[.hasStranger] == 0, !isThere else {
      // A log is made only by who has access alone; a reader uses no log that is not in use.
      state[.soleUser] = 0
      state[.users] &= ~(1 << process)
      if state[.opening] == process + 1 { state[.opening] = 0 }
      state.clear(process: process)
      return emit(state)
    }
    state[.access] = process + 1
    go(process, to: .openMake, state, emit)
  }

  /// A process that opens the store alone and cannot write to the tree publishes what is in the log, and leaves it there
  /// (L12).
  func adopt(_ process: Int, _ step: Step, _ state: State, _ emit: Emit) {
    var state = state
    switch step {
    case .adoptMark:
      if !omits(.doubtOfAdoption) { state[.isInDoubt] = 1 }
      go(process, to: .adoptTree, state, emit)
    case .adoptTree:
      // A process that opens liblmdb's environment alone takes the newest meta page, unless it did so before the kill.
      for noted in Set([state[.noted], state[.written]]) {
        var state = state
        if noted == state[.written] { state[.hasDeadOwner] = 0 }
        (state[.noted], state[.durable]) = (noted, state[.written])
        resetTail(of: process, to: trees.values[noted].row, in: &state)
        go(process, to: .adoptRecord, state, emit)
      }
    case .adoptRecord:
      if let record = nextRecord(of: process, in: state) {
        apply(record, to: process, in: &state)
        return emit(state)
      }
      let hasRecord = state[process, .end] > state[process, .from]
      if hasRecord, state[process, .product] == 1, !omits(.repeatedWrite) {
        let v = state[process, .v] - 1
        write(state[slot(v).now], at: v, in: &state)
      }
      state[process, .product] = 0
      go(process, to: omits(.flushOfAdoption) ? .adoptPublish : .adoptFlush, state, emit)
    case .adoptFlush:
      flushLog(&state)
      go(process, to: .adoptPublish, state, emit)
    default:
      state[.published] = max(state[.published], state[process, .end])
      go(process, to: .openRelease, state, emit)
    }
  }

  /// L13.
  func close(_ process: Int, _ step: Step, _ state: State, _ emit: Emit) {
    var state = state
    switch step {
    case .closeLock:
      if budget.hasThreads, self.step(of: 1, in: state) != .idle, self.step(of: 1, in: state) != .out { return }
      guard omits(.opening) || take(.opening, by: process, in: &state) else { return }
      if budget.hasThreads { state[1, .step] = Step.out.rawValue }
      go(process, to: .closeUse, state, emit)
    case .closeUse:
      let isAlone = state[.soleUser] == 0 && state[.users] == 1 << process && !isReader(process)
      if isAlone { state[.soleUser] = process + 1 }
      let isLastWriter = isLastWriter(process, in: state) && !omits(.mergeOfLastWriter)
      let merges = isAlone ? !omits(.mergeAtClosing) : isLastWriter
      if isAlone, state[.isInDoubt] == 1 { return go(process, to: .directMerging, state, emit) }
      if isAlone, omits(.removalLast) { (state[.hasLog], state[.hasHead], state[.isLogNamed]) = (0, 0, 0) }
      go(process, to: merges ? .mergeMerging : .closeEnd, state, emit)
    case .closeRemove:
      state[.hasLog] = 0
      go(process, to: .closeName, state, emit)
    case .closeName:
      (state[.hasHead], state[.isLogNamed]) = (0, 0)
      go(process, to: .closeEnd, state, emit)
    default:
      if state[.soleUser] == process + 1 { state[.soleUser] = 0 }
      state[.users] &= ~(1 << process)
      state[.writers] &= ~(1 << process)
      if state[.writers] == 0, !isReader(process), state[.kills] == budget.kills { checkClosed(state) }
      if state[.opening] == process + 1 { state[.opening] = 0 }
      state.clear(process: process)
      emit(state)
    }
  }
}
