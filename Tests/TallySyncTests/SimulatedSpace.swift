import Foundation

@testable import TallySync

/// Replicas that write and receive each other's changes, in one process and in an order that a test chooses.
///
/// Beside the merged states it keeps every operation with what its author had seen, for `NaiveHistory`.
struct SimulatedSpace {
  /// What a user does to one object.
  enum Action: Hashable {
    case setTitle(UInt8), setList(UUID), setParent(UUID)
    case addTag(UInt8), removeTag(UInt8)
    case complete(UInt8), reopen
    case delete, restore
    case move(UInt8), renumber(UInt8)
  }

  struct ObjectKey: Hashable {
    let isList: Bool
    let id: UUID
  }

  struct Operation {
    let author: Int
    /// Its place in its author's log.
    let index: Int
    let object: ObjectKey
    let action: Action
    /// How many operations of each replica its author had received, its own included.
    let seen: [Int]
    let change: ObjectState

    func hasSeen(_ other: Operation) -> Bool { other.index < seen[other.author] }
  }

  struct Replica {
    let id: ReplicaID
    var objects: [ObjectKey: ObjectState] = [:]
    /// How many operations of each replica have arrived.
    var received: [Int]
  }

  private(set) var replicas: [Replica]
  private(set) var logs: [[Operation]]

  init(replicaCount: Int) {
    replicas = (0..<replicaCount).map { number in
      Replica(id: ReplicaID(Self.id(1_000 + number)), received: Array(repeating: 0, count: replicaCount))
    }
    logs = Array(repeating: [], count: replicaCount)
  }

  /// A fixed id for a number.
  static func id(_ number: Int) -> UUID {
    let bytes = unsafe withUnsafeBytes(of: UInt64(number).bigEndian) { unsafe Array($0) }
    return UUID(
      uuid: (
        0, 0, 0, 0, 0, 0, 0, 0, bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], bytes[5], bytes[6], bytes[7]
      ))
  }

  var operations: [Operation] { logs.flatMap(\.self) }

  /// Does something on a replica whose clock shows a time; false if there is nothing to do.
  @discardableResult
  mutating func perform(_ action: Action, on object: ObjectKey, at number: Int, clock: Int64) -> Bool {
    let replica = replicas[number]
    let state = replica.objects[object] ?? ObjectState()
    guard let change = state.change(for: action, at: clock, by: replica.id) else { return false }
    append(change, action, object, number)
    return true
  }

  /// Undoes a write of a field that the replica has made, if the field still has that value.
  mutating func undo(_ operation: Operation, of field: ObjectState.Field, to old: Register?, clock: Int64) -> Bool {
    let replica = replicas[operation.author]
    guard let state = replica.objects[operation.object], let write = operation.change.registers[field],
      let change = state.undoing(write, of: field, to: old, at: clock, by: replica.id)
    else { return false }
    append(change, operation.action, operation.object, operation.author)
    return true
  }

  private mutating func append(_ change: ObjectState, _ action: Action, _ object: ObjectKey, _ number: Int) {
    let operation = Operation(
      author: number, index: logs[number].count, object: object, action: action, seen: replicas[number].received,
      change: change)
    logs[number].append(operation)
    replicas[number].received[number] += 1
    replicas[number].objects[object, default: ObjectState()].join(change)
  }

  /// Hands over the next operations of one replica to another; false if there are none.
  @discardableResult
  mutating func deliver(from sender: Int, to receiver: Int, atMost count: Int = .max) -> Bool {
    let start = replicas[receiver].received[sender]
    let end = min(logs[sender].count, start.addingReportingOverflow(count).overflow ? .max : start + count)
    guard sender != receiver, start < end else { return false }
    for operation in logs[sender][start..<end] { receive(operation, at: receiver) }
    replicas[receiver].received[sender] = end
    return true
  }

  /// Hands over an operation again.
  mutating func repeatDelivery(of operation: Operation, to receiver: Int) {
    guard operation.index < replicas[receiver].received[operation.author] else { return }
    receive(operation, at: receiver)
  }

  private mutating func receive(_ operation: Operation, at receiver: Int) {
    replicas[receiver].objects[operation.object, default: ObjectState()].join(operation.change)
  }

  /// Hands everything to everybody.
  mutating func exchangeAll() {
    for receiver in replicas.indices {
      for sender in replicas.indices { deliver(from: sender, to: receiver) }
    }
  }

  /// The outline that a replica shows.
  func outline(of number: Int) -> Outline {
    func states(areLists: Bool) -> [UUID: ObjectState] {
      let objects = replicas[number].objects.filter { $0.key.isList == areLists }
      return Dictionary(uniqueKeysWithValues: objects.map { ($0.key.id, $0.value) })
    }
    return Outline(tasks: states(areLists: false), lists: states(areLists: true))
  }
}

extension ObjectState {
  /// The change that an action causes; `nil` for none.
  func change(for action: SimulatedSpace.Action, at clock: Int64, by replica: ReplicaID) -> ObjectState? {
    switch action {
    case .setTitle(let title): setting(.title, to: [title], at: clock, by: replica)
    case .setList(let id): setting(.list, to: Self.bytes(of: id), at: clock, by: replica)
    case .setParent(let id): setting(.parent, to: Self.bytes(of: id), at: clock, by: replica)
    case .addTag(let tag): adding([tag], to: .tags, at: clock, by: replica)
    case .removeTag(let tag): removing([tag], from: .tags)
    case .complete(let value): completing(with: [value], at: clock, by: replica)
    case .reopen: reopening()
    case .delete: settingLife(toDeleted: true, at: clock, by: replica)
    case .restore: settingLife(toDeleted: false, at: clock, by: replica)
    case .move(let place): setting(.order, to: [place], at: clock, by: replica)
    case .renumber(let place): renumbering(to: [place], by: replica)
    }
  }

  private static func bytes(of id: UUID) -> [UInt8] {
    unsafe withUnsafeBytes(of: id.uuid) { unsafe Array($0) }
  }
}

extension ObjectState {
  /// Restores the value of an earlier write, if the field still has the value that another write has set.
  ///
  /// - Parameters:
  ///   - write: the write to undo.
  ///   - field: a field with a register.
  ///   - old: what it replaced; `nil` if the field had no value.
  ///   - clock: the time now.
  ///   - replica: who undoes it.
  /// - Returns: the change, or `nil` if somebody has written the field since.
  fileprivate func undoing(
    _ write: Register, of field: Field, to old: Register?, at clock: Int64, by replica: ReplicaID
  ) -> ObjectState? {
    guard registers[field] == write else { return nil }
    return setting(field, to: old?.value ?? [], at: clock, by: replica)
  }
}
