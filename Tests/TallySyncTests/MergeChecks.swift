import Testing

@testable import TallySync

/// Requires that all replicas hold the same, and that it is what the naive history says.
func expectConvergence(of space: SimulatedSpace, _ story: @autoclosure () -> String) {
  var space = space
  space.exchangeAll()
  guard let first = space.replicas.first else { return }
  for replica in space.replicas.dropFirst() where replica.objects != first.objects {
    Issue.record("replicas differ: \(story())")
    return
  }
  for (key, state) in first.objects {
    if let fault = fault(of: state, by: NaiveHistory(of: key, in: space)) {
      Issue.record("\(fault): \(story())")
      return
    }
  }
  let outline = space.outline(of: 0)
  if space.replicas.indices.dropFirst().contains(where: { space.outline(of: $0) != outline }) {
    Issue.record("outlines differ: \(story())")
  }
}

/// What differs between a merged object and its naive history; `nil` for nothing.
func fault(of state: ObjectState, by history: NaiveHistory) -> String? {
  let live = history.liveCompletions
  if state.completion?.first != live.min() { return "the completion is \(state.completion ?? []), not of \(live)" }
  if state.elements(of: .tags) != history.tags { return "the tags are not \(history.tags)" }
  for field in [.title, .order, .list, .parent, .life] as [ObjectState.Field] {
    let (value, expected) = (state.registers[field]?.value, history.value(of: field))
    if value != expected { return "field \(field) is \(value ?? []), not \(expected ?? [])" }
  }
  if history.mustBeDeleted, !state.isDeleted { return "a deletion that had seen everything has no effect" }
  if history.mustBeAlive, state.isDeleted { return "a deletion removed what its author had not seen" }
  return nil
}
