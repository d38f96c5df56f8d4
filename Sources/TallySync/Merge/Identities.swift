public import Foundation

/// The identity of a task, a list, or an object of a kind that this version does not know.
struct ObjectKey: Hashable, Comparable, Sendable {
  /// The kinds, as stored and sent: do not change.
  static let (taskKind, listKind, filterKind, seriesKind) = (UInt8(1), UInt8(2), UInt8(3), UInt8(4))
  /// The kinds of objects in which devices tell one another about themselves.
  ///
  /// Versions that do not know them keep such objects and pass them on.
  static let (deviceKind, settlementKind, listMergeKind) = (UInt8(40), UInt8(41), UInt8(42))

  let kind: UInt8
  let id: UUID

  var isTask: Bool { kind == Self.taskKind }
  var isList: Bool { kind == Self.listKind }
  var isFilter: Bool { kind == Self.filterKind }
  var isSeries: Bool { kind == Self.seriesKind }
  /// Whether people write the object, rather than the devices themselves.
  var isOfPeople: Bool { isTask || isList || isFilter || isSeries }

  /// The stored form: the kind, then the id.
  var bytes: [UInt8] { [kind] + ReplicaID(id).bytes }

  init(kind: UInt8, id: UUID) { (self.kind, self.id) = (kind, id) }

  init(isList: Bool, id: UUID) { self.init(kind: isList ? Self.listKind : Self.taskKind, id: id) }

  /// A series; it has the id of its first task.
  init(ofSeries id: UUID) { self.init(kind: Self.seriesKind, id: id) }

  /// A saved filter, which has a name and no id: the start of the name's hash is its id here.
  init(ofFilter key: [UInt8]) {
    self.init(kind: Self.filterKind, id: UUID(bytes: Array(ContentHash(of: key).bytes.prefix(16))) ?? UUID())
  }

  /// The object about a device; it has the id of the device's replica.
  init(ofDevice replica: ReplicaID) { self.init(kind: Self.deviceKind, id: replica.uuid) }

  /// The object that names the list into which a list was merged; it has the id of the merged list.
  init(ofMergedList id: UUID) { self.init(kind: Self.listMergeKind, id: id) }

  /// How many bytes the stored form has.
  static let byteCount = 17

  /// Reads the stored form.
  init(bytes: some Collection<UInt8>) throws(CodingFault) {
    guard bytes.count == Self.byteCount, let kind = bytes.first, let id = UUID(bytes: Array(bytes.dropFirst())) else {
      throw .impossibleValue
    }
    self.init(kind: kind, id: id)
  }

  /// Orders keys by their stored form.
  static func < (left: ObjectKey, right: ObjectKey) -> Bool {
    (left.kind, ReplicaID(left.id)) < (right.kind, ReplicaID(right.id))
  }
}

extension UUID {
  /// The id of sixteen bytes; `nil` for another number of them.
  init?(bytes: [UInt8]) {
    guard bytes.count == 16 else { return nil }
    let low = bytes[8...]
    self.init(
      uuid: (
        bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], bytes[5], bytes[6], bytes[7],
        low[8], low[9], low[10], low[11], low[12], low[13], low[14], low[15]
      ))
  }
}

/// The identity of one copy of a store, among those that synchronise.
public struct ReplicaID: Hashable, Comparable, Sendable, LosslessStringConvertible {
  static let byteCount = 16

  /// The first and the last eight bytes, most significant first.
  let high: UInt64
  private let low: UInt64

  /// The id with the sixteen bytes of a UUID.
  ///
  /// - Parameter uuid: the bytes.
  public init(_ uuid: UUID) {
    // Copied at once, without an array: every comparison of two keys comes here.
    (high, low) = unsafe withUnsafeBytes(of: uuid.uuid) { bytes in
      unsafe (
        UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
        UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
      )
    }
  }

  /// The author of elements that every replica generates alike, such as the tags of the next task of a series.
  ///
  /// It is sent to others: do not change it.
  static let program = ReplicaID(UUID(uuid: (0, 0, 0, 0, 0, 0, 0x80, 0, 0x80, 0, 0, 0, 0, 0, 0, 1)))

  /// The id with sixteen bytes.
  ///
  /// - Parameter bytes: Sixteen bytes; `nil` is returned for another number of them.
  public init?(bytes: some Collection<UInt8>) {
    guard let uuid = UUID(bytes: Array(bytes)) else { return nil }
    self.init(uuid)
  }

  /// Reads the description.
  ///
  /// - Parameter description: Thirty-two hexadecimal digits in lower case; `nil` is returned for anything else.
  public init?(_ description: String) {
    guard let bytes = HexDigits.bytes(of: description) else { return nil }
    self.init(bytes: bytes)
  }

  /// The sixteen bytes.
  public var bytes: [UInt8] {
    // Copied at once.
    unsafe withUnsafeBytes(of: (high.bigEndian, low.bigEndian)) { unsafe Array($0) }
  }

  /// The same bytes as a UUID.
  var uuid: UUID { UUID(bytes: bytes) ?? UUID() }

  /// Orders replicas by their bytes.
  public static func < (left: ReplicaID, right: ReplicaID) -> Bool { (left.high, left.low) < (right.high, right.low) }

  /// Thirty-two hexadecimal digits.
  public var description: String { HexDigits.text(of: bytes) }
}

/// The identity of a set of tasks that several replicas share.
public struct SpaceID: Hashable, Sendable, LosslessStringConvertible {
  /// How many bytes it has.
  public static let byteCount = 16

  /// The sixteen bytes.
  public let bytes: [UInt8]

  /// Makes a new one from random bytes.
  public init() { bytes = .random(count: Self.byteCount) }

  /// The space with sixteen bytes.
  ///
  /// - Parameter bytes: Sixteen bytes; `nil` is returned for another number of them.
  public init?(bytes: some Collection<UInt8>) {
    guard bytes.count == Self.byteCount else { return nil }
    self.bytes = Array(bytes)
  }

  /// Reads the description.
  ///
  /// - Parameter description: Thirty-two hexadecimal digits in lower case; `nil` is returned for anything else.
  public init?(_ description: String) {
    guard let bytes = HexDigits.bytes(of: description) else { return nil }
    self.init(bytes: bytes)
  }

  /// Thirty-two hexadecimal digits.
  public var description: String { HexDigits.text(of: bytes) }
}

extension [UInt8] {
  /// Bytes that nobody can guess.
  static func random(count: Int) -> [UInt8] {
    var generator = SystemRandomNumberGenerator()
    return (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
  }
}
