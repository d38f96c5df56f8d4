/// A collection of records of one type, with everything that is kept of them.
///
/// ```swift
/// extension Workout {
///   static let collection = Collection<Workout>("workouts", version: 1) { bySport; newest; trained; length }
/// }
/// ```
///
/// A collection lists its members: a question about an index or a measure that is not listed throws, and names it.
public struct Collection<Record: StoredRecord>: Sendable {
  /// The name, which is stored.
  public let name: String
  /// The version of the records.
  public let version: Int
  /// Whether records are only ever inserted and deleted, never changed.
  public let isEventLog: Bool
  let indexes: [DeclaredIndex<Record>]
  let measures: [DeclaredMeasure<Record>]
  let upgrade: (@Sendable (inout RecordFields, _ version: Int) throws -> Void)?
  let merge: (@Sendable (_ restored: Record, _ current: Record) -> Record?)?
  /// Reads a record of an encoded id from its fields, and appends it to others.
  let appendRecord: @Sendable (_ id: RawSpan, _ fields: RecordInput, _ records: inout [Record]) throws -> Void

  /// Declares a collection.
  ///
  /// - Parameters:
  ///   - name: the name, which is stored: 1 to 64 bytes, without control characters.
  ///   - version: the version of the records; raise it together with an `upgrade`. A store with a newer version opens
  ///     for reading only.
  ///   - isEventLog: whether records are only ever inserted and deleted: what happened stays as it was.
  ///   - members: the collection's indexes and measures.
  ///   - upgrade: turns the fields of a record of an older version into those of this one. Records are upgraded when
  ///     they are read, and stored in the new form when they are saved or ``Store/upgradeRecords()`` is called.
  ///   - merge: what an undo restores if the record has been changed since by a write that cannot be undone: made of the
  ///     record that the undo would restore and the current one. Without it, or if it returns `nil`, the undo is refused.
  @inlinable
  public init(
    _ name: String, version: Int = 1, isEventLog: Bool = false,
    @MemberBuilder<Record> members: () -> [Member<Record>] = { [] },
    upgrade: (@Sendable (inout RecordFields, _ version: Int) throws -> Void)? = nil,
    merge: (@Sendable (_ restored: Record, _ current: Record) -> Record?)? = nil
  ) {
    // Hot code is made here, where the compiler knows the type of the records.
    self.init(name, version, isEventLog, members(), upgrade, merge) { id, fields, records in
      var offset = 0
      records.append(try Record.decodeRecord(id: Record.ID.readKey(id, at: &offset), from: fields))
    }
  }

  @usableFromInline
  init(
    _ name: String, _ version: Int, _ isEventLog: Bool, _ members: [Member<Record>],
    _ upgrade: (@Sendable (inout RecordFields, _ version: Int) throws -> Void)?,
    _ merge: (@Sendable (_ restored: Record, _ current: Record) -> Record?)?,
    appendRecord: @escaping @Sendable (RawSpan, RecordInput, inout [Record]) throws -> Void
  ) {
    (self.name, self.version, self.isEventLog) = (name, version, isEventLog)
    (self.upgrade, self.merge, self.appendRecord) = (upgrade, merge, appendRecord)
    indexes = members.compactMap(\.index)
    measures = members.compactMap(\.measure)
  }
}

/// An index or a measure in the list of a collection.
public struct Member<Record: StoredRecord>: Sendable {
  let index: DeclaredIndex<Record>?
  let measure: DeclaredMeasure<Record>?
}

/// Lists a collection's members, whatever their keys are.
@resultBuilder
public enum MemberBuilder<Record: StoredRecord> {
  /// An index.
  public static func buildExpression(_ index: Index<Record, some CompositeKey>) -> [Member<Record>] {
    [Member(index: index.declared, measure: nil)]
  }

  /// An index of texts.
  public static func buildExpression(_ text: TextIndex<Record>) -> [Member<Record>] {
    [Member(index: text.declared, measure: nil)]
  }

  /// A measure.
  public static func buildExpression(_ measure: Measure<Record, some CompositeKey>) -> [Member<Record>] {
    [Member(index: nil, measure: measure.declared)]
  }

  /// The whole list.
  public static func buildBlock(_ members: [Member<Record>]...) -> [Member<Record>] { members.flatMap(\.self) }

  /// A part of the list that depends on a condition.
  public static func buildOptional(_ members: [Member<Record>]?) -> [Member<Record>] { members ?? [] }
}

/// The collections of a store.
///
/// ```swift
/// let store = try Store(at: folder, schema: Schema(Workout.collection, Shoe.collection))
/// ```
///
/// A store may have more collections than a schema: programs that know other collections may also use it.
public struct Schema: Sendable {
  let collections: [any DeclaredCollection]

  /// Creates a schema; each type of record is in at most one collection.
  public init(_ collections: any DeclaredCollection...) {
    self.collections = collections
  }

  /// Creates a schema of collections that are known when the program runs.
  public init(_ collections: [any DeclaredCollection]) {
    self.collections = collections
  }

  /// The longest name of a collection, an index or a measure, in bytes of UTF-8.
  public static let maximumNameByteCount = 64

  /// Checks that the declarations fit together.
  func check() throws(TallyError) {
    try Self.check(collections.map(\.name), "collections")
    guard Set(collections.map(\.recordType)).count == collections.count else {
      throw .invalidSchema("Two collections have records of one type", remedy: "Give each collection a type of its own")
    }
    for collection in collections {
      try Self.check(collection.memberNames, "members of '\(collection.name)'")
      guard collection.versions.allSatisfy((1...Int(UInt32.max)).contains) else {
        throw .invalidSchema(
          "A version in '\(collection.name)' is not from 1 to 4,294,967,295, or to 16,777,215 for an index of texts",
          remedy: "Count versions from 1")
      }
    }
  }

  private static func check(_ names: [String], _ what: String) throws(TallyError) {
    for name in names {
      guard (1...maximumNameByteCount).contains(name.utf8.count),
        !name.unicodeScalars.contains(where: { $0.properties.generalCategory == .control || $0 == "/" })
      else {
        throw .invalidSchema(
          "The name '\(name.prefix(80))' among the \(what) is empty, too long, or has a slash or a control character",
          remedy: "Give a name of 1 to \(maximumNameByteCount) bytes")
      }
    }
    guard Set(names).count == names.count else {
      throw .invalidSchema("Two of the \(what) have the same name", remedy: "Give each a name of its own")
    }
  }
}

/// The tables of a collection in a store; for the library only.
public protocol CollectionTables: AnyObject, Sendable {}

/// A collection of a schema, whatever its records are; only ``Collection`` conforms.
public protocol DeclaredCollection: Sendable {
  /// The name, which is stored.
  var name: String { get }
  /// The version of the records.
  var version: Int { get }
  /// The type of the records.
  var recordType: ObjectIdentifier { get }
  /// The names of the indexes and measures.
  var memberNames: [String] { get }
  /// The versions of the collection, its indexes and its measures.
  var versions: [Int] { get }
  /// Creates the tables of the collection in a store; for the library only.
  func makeTables() -> any CollectionTables
}

extension TallyError {
  static func invalidSchema(_ message: String, remedy: String) -> TallyError {
    TallyError(.invalidIndex, message, remedy: remedy)
  }
}
