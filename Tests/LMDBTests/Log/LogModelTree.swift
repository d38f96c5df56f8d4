extension LogModel {
  /// Reads the log up to what is published, one record a step, while liblmdb's lock is held; true once that is done.
  private func catchUp(_ process: Int, _ state: inout State) -> Bool {
    let row = trees.values[state[process, .file]].row
    guard fit(process, to: row, in: &state) == .ready else {
      report("a merge finds a tail that does not fit the tree")
      return true
    }
    guard state[process, .end] < state[process, .target] else { return true }
    guard let record = nextRecord(of: process, in: state) else {
      report("a merge cannot read a published record")
      return true
    }
    apply(record, to: process, in: &state)
    return state[process, .end] >= state[process, .target]
  }

  /// L7.
  func merge(_ process: Int, _ step: Step, _ state: State, _ emit: Emit) {
    var state = state
    switch step {
    case .mergeMerging:
      guard take(.merging, by: process, in: &state) else { return }
      go(process, to: .mergeTree, state, emit)
    case .mergeTree:
      guard takeTree(by: process, in: &state) else { return }
      state[process, .file] = state[.noted]
      go(process, to: .mergePublished, state, emit)
    case .mergePublished:
      state[process, .target] = state[.published]
      go(process, to: .mergeCatch, state, emit)
    case .mergeCatch:
      guard catchUp(process, &state) else { return emit(state) }
      let isEnd = purpose(of: process, in: state) == .close && state[.soleUser] == process + 1
      guard isEnd || state[process, .end] > trees.values[state[process, .file]].row.commit else {
        state[.tree] = 0
        return go(process, to: .mergeUnlock, state, emit)
      }
      state[process, .product] = trees.number(of: merged(by: process, in: state))
      go(process, to: omits(.rowWithEntries) ? .mergeFirst : .mergePages, state, emit)
    case .mergeFirst:
      // The control commits the row in a transaction of its own, before the entries.
      var tree = trees.values[state[process, .file]]
      tree.row = merged(by: process, in: state).row
      for cell in [State.Cell.written, .durable, .noted] { state[cell] = trees.number(of: tree) }
      go(process, to: .mergePages, state, emit)
    case .mergePages:
      state[.durable] = state[.written]
      go(process, to: .mergeMeta, state, emit)
    case .mergeMeta:
      state[.written] = state[process, .product]
      go(process, to: .mergeSync, state, emit)
    case .mergeSync:
      state[.durable] = state[.written]
      go(process, to: .mergeNote, state, emit)
    case .mergeNote:
      state[.noted] = state[.written]
      go(process, to: .mergeSafe, state, emit)
    case .mergeSafe:
      state[.tree] = 0
      state[.safe] = max(state[.safe], trees.values[state[process, .product]].row.v)
      go(process, to: .mergeUnlock, state, emit)
    default:
      state[.merging] = 0
      state[process, .product] = 0
      switch purpose(of: process, in: state) {
      case .merge: rest(process, state, emit)
      case .close: go(process, to: state[.soleUser] == process + 1 ? .closeRemove : .closeEnd, state, emit)
      default: go(process, to: .roomCheck, state, emit)
      }
    }
  }

  /// L9: a commit into the tree, with the changes of a write, or of what a killed process has left (L10, L12).
  func commitDirectly(_ process: Int, _ step: Step, _ state: State, _ emit: Emit) {
    var state = state
    switch step {
    case .directMerging:
      guard take(.merging, by: process, in: &state) else { return }
      go(process, to: .directTree, state, emit)
    case .directTree:
      guard takeTree(by: process, in: &state) else { return }
      state[process, .file] = state[.noted]
      go(process, to: .directPublished, state, emit)
    case .directPublished:
      state[process, .target] = state[.published]
      go(process, to: .directCatch, state, emit)
    case .directCatch:
      guard catchUp(process, &state) else { return emit(state) }
      if state[process, .attempt] == 0, !omits(.keepingRecords), let record = nextRecord(of: process, in: state) {
        apply(record, to: process, in: &state)
        return emit(state)
      }
      if purpose(of: process, in: state) == .open, omits(.recovery) {
        // The control believes what it has read, and leaves it where it is.
        (state[.tree], state[.published]) = (0, state[process, .end])
        var tree = trees.values[state[.noted]]
        tree.isMarked = true
        for cell in [State.Cell.noted, .written, .durable] { state[cell] = trees.number(of: tree) }
        return go(process, to: .directClear, state, emit)
      }
      state[process, .product] = trees.number(of: directTree(of: process, in: &state))
      go(process, to: .directMark, state, emit)
    case .directMark:
      if !omits(.doubtOfDirect) { state[.isInDoubt] = 1 }
      go(process, to: .directPages, state, emit)
    case .directPages:
      state[.durable] = state[.written]
      go(process, to: .directMeta, state, emit)
    case .directMeta:
      state[.written] = state[process, .product]
      go(process, to: .directSync, state, emit)
    case .directSync:
      state[.durable] = state[.written]
      go(process, to: .directNote, state, emit)
    case .directNote:
      state[.noted] = state[.written]
      go(process, to: .directSafe, state, emit)
    case .directSafe:
      state[.tree] = 0
      state[.safe] = max(state[.safe], trees.values[state[process, .product]].row.v)
      go(process, to: .directPublish, state, emit)
    case .directPublish:
      state[.published] = max(state[.published], trees.values[state[process, .product]].row.commit)
      go(process, to: .directClear, state, emit)
    case .directClear:
      state[.isInDoubt] = 0
      go(process, to: .directUnlock, state, emit)
    default:
      state[.merging] = 0
      if state[process, .product] != 0 {
        resetTail(of: process, to: trees.values[state[process, .product]].row, in: &state)
      }
      (state[process, .product], state[process, .file], state[process, .target]) = (0, 0, 0)
      if purpose(of: process, in: state) == .open { return go(process, to: .openRelease, state, emit) }
      if purpose(of: process, in: state) == .close { return go(process, to: .mergeMerging, state, emit) }
      go(process, to: state[process, .attempt] == 0 ? .snapBegin : .writeUnlock, state, emit)
    }
  }

  /// The tree of a direct commit: all that is published, and the own changes, or an empty commit if there are none.
  ///
  /// Its checksum is none that a record has, so that it begins a chain.
  private func directTree(of process: Int, in state: inout State) -> ModelTree {
    var tree = merged(by: process, in: state)
    if state[process, .attempt] == 0 {
      if omits(.numberOfRecovery) {
        tree.isMarked = true
        return tree
      }
      state[.attempts] += 1
      if !omits(.mark) { tree.isMarked = true }
    }
    tree.attempts.append(state[process, .attempt] == 0 ? state[.attempts] : state[process, .attempt])
    tree.row.commit += 1
    tree.row.sum = sum(after: tree.row.sum, commit: tree.row.commit, v: 255)
    return tree
  }
}
