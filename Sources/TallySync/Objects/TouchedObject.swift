import Foundation
import Tally

/// An object that a write touches.
///
/// A class: what a snapshot brings is passed on several times. It never changes.
final class TouchedObject: Sendable {
  /// Its state in the store.
  let before: ObjectState
  /// Its state now.
  let state: ObjectState
  /// The state that its record has, if changes of others were joined to it.
  let recorded: ObjectState?
  /// What becomes of the state, if it came as a whole and nothing was known of the object.
  let prepared: PreparedState?

  init(
    before: ObjectState, state: ObjectState, recorded: ObjectState? = nil, prepared: PreparedState? = nil
  ) {
    (self.before, self.state, self.recorded, self.prepared) = (before, state, recorded, prepared)
  }

  /// Whether it is a task that is or was below another one.
  var isLinked: Bool {
    prepared?.isLinked ?? (before.reference(.parent) != nil || state.reference(.parent) != nil)
  }

  /// The list that a task names.
  var list: UUID? { if let item = prepared?.task?.item { item.listID } else { state.reference(.list) } }

  /// Whether it is shown.
  var isShown: Bool { prepared?.task != nil || state.isShown }
}

/// A write to one register of an object that has no record.
struct DeviceWrite {
  let object: ObjectKey
  let field: ObjectState.Field
  let value: [UInt8]
  /// Whether to write it even if the register already has the value.
  var isRepeated = false
}
