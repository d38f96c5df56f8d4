extension LogModel {
  /// Emits the state after a process was killed: its locks end, and the system keeps what it wrote.
  func kill(_ process: Int, in state: State, _ emit: Emit) {
    guard state[.kills] > 0, step(of: process, in: state) != .out else { return }
    var state = state
    state[.kills] -= 1
    for each in budget.hasThreads ? [1, 0] : [process] { end(each, &state) }
    if budget.restarts { state[process, .lives] = max(state[process, .lives], 1) }
    emit(state)
  }

  private func end(_ process: Int, _ state: inout State) {
    if state[.tree] == process + 1 { state[.hasDeadOwner] = 1 }
    for lock in [State.Cell.opening, .turn, .merging, .tree, .soleUser, .access] where state[lock] == process + 1 {
      state[lock] = 0
    }
    state[.users] &= ~(1 << process)
    state[.writers] &= ~(1 << process)
    if isStranger(process) { state[.hasStranger] = 0 }
    state.clear(process: process)
  }

  /// Emits every state that a power cut can leave: what was flushed, and any part of what was not.
  func cutPower(in state: State, _ emit: Emit) {
    guard state[.cuts] > 0 else { return }
    var state = state
    state[.cuts] -= 1
    for process in (0..<state.processCount).reversed() { end(process, &state) }
    // Somebody looks afterwards.
    state[0, .lives] = max(state[0, .lives], 1)
    (state[.hasDeadOwner], state[.isUnseen], state[.forgotten]) = (0, 1, 0)
    // The shared block holds anything; these are the worst that it can hold.
    (state[.published], state[.safe], state[.isInDoubt]) = (State.maximumCommit, State.maximumCommit, 0)
    var logs = leftSlots(state, .slot0, .durableSlot0).flatMap { leftSlots($0, .slot1, .durableSlot1) }
    // The last change of the name may be lost.
    if state[.isLogNamed] != state[.hasLog] {
      logs += logs.map { log in
        var log = log
        (log[.hasLog], log[.hasHead]) = (log[.isLogNamed], log[.isLogNamed])
        return log
      }
    }
    for var log in logs {
      if log[.hasLog] == 0 {
        for cell in [State.Cell.hasHead, .slot0, .slot1, .durableSlot0, .durableSlot1] { log[cell] = 0 }
      }
      log[.isLogNamed] = log[.hasLog]
      for tree in Set([log[.written], log[.durable]]) {
        for cell in [State.Cell.noted, .written, .durable] { log[cell] = tree }
        emit(log)
      }
    }
  }

  /// What a slot may hold afterwards: the new record, the old one, or some sectors of each.
  private func leftSlots(_ state: State, _ now: State.Cell, _ durable: State.Cell) -> [State] {
    let choices = state[now] == state[durable] ? [state[now]] : Set([state[now], state[durable], 0]).sorted()
    return choices.map { record in
      var state = state
      state[now] = record
      state[durable] = record
      return state
    }
  }
}

/// Visits every state that a model can reach.
struct LogExplorer {
  private(set) var stateCount = 0
  private(set) var stepCount = 0
  /// The contradiction that was found, if any, with the steps that lead to it.
  private(set) var violation: String?
  /// Whether the limit ended the search.
  private(set) var isCut = false

  /// Visits states in the order of their distance, so that the first violation is one of the shortest.
  init(_ model: LogModel, limit: Int = .max) {
    var states = [model.first]
    var origins: [(parent: Int, action: String)] = [(0, "")]
    var known = Set(states)
    var index = 0
    var action = ""
    while index < states.count, violation == nil {
      let state = states[index]
      let visit = { (next: LogModelState) in
        stepCount += 1
        guard known.insert(next).inserted else { return }
        states.append(next)
        origins.append((index, action))
      }
      for process in 0..<state.processCount {
        action = "\(process) \(model.step(of: process, in: state))"
        model.advance(process, in: state, visit)
        action = "\(process) is killed"
        model.kill(process, in: state, visit)
      }
      action = "the power is cut"
      model.cutPower(in: state, visit)
      if let found = model.violation {
        violation = found + "\n" + Self.path(to: index, origins).joined(separator: "\n")
      }
      index += 1
      if states.count > limit {
        isCut = true
        break
      }
    }
    stateCount = states.count
  }

  private static func path(to index: Int, _ origins: [(parent: Int, action: String)]) -> [String] {
    var (path, index): ([String], Int) = ([], index)
    while index > 0 {
      path.append(origins[index].action)
      index = origins[index].parent
    }
    return path.reversed()
  }
}
