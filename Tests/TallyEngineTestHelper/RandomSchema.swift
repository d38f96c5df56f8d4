import TallyEngine
import TestSupport

/// A random schema of the collections of the random tests.
struct RandomSchema {
  /// A collection of the schema.
  struct Part<Record: Thing> {
    let version: Int
    /// Whether an undo may merge.
    let merges: Bool
    let choices: [Choice<Record>]

    /// The member that refuses a second record with one key.
    var unique: Choice<Record>? { choices.first { $0.uniqueKeys != nil } }

    func collection() -> Collection<Record> {
      let (list, version) = (choices.flatMap(\.members), version)
      let members: () -> [Member<Record>] = { list }
      let upgrade: @Sendable (inout RecordFields, Int) throws -> Void = { fields, old in
        let name = try fields.value(Record.nameField, as: String.self) ?? ""
        try fields.set(Record.nameField, to: Self.name(name, from: old, to: version))
      }
      let merge: @Sendable (Record, Record) -> Record? = { RandomSchema.merge($0, $1) }
      return Collection<Record>(
        Record.collectionName, version: version, isEventLog: Record.isEventLog, members: members, upgrade: upgrade,
        merge: merges ? merge : nil)
    }

    /// The name of a record after an upgrade.
    static func name(_ name: String, from old: Int, to new: Int) -> String {
      old < new ? (old + 1...new).reduce(name) { "\($0)\($1)" } : name
    }
  }

  let parcels: Part<Parcel>?
  let samples: Part<Sample>?
  let happenings: Part<Happening>?
  /// What the schema follows from.
  let numbers: [Int]

  /// Chooses a schema.
  ///
  /// - Parameters:
  ///   - seed: what the choice follows from.
  ///   - versions: the version of each collection.
  ///   - uniques: for each collection, the version of the unique index that it must have; 0 for none, or -1 for any.
  init(seed: Int, versions: [Int], uniques: [Int]) {
    numbers = [seed] + versions + uniques
    var generator = SeededGenerator(seed: UInt64(seed))
    let present = Set((0..<3).filter { _ in !generator.oneIn(4) } + [Int.random(in: 0..<3, using: &generator)])
    func part<Record: Thing>(_ number: Int, _ type: Record.Type) -> Part<Record>? {
      guard present.contains(number) else { return nil }
      return Part(
        version: versions[number], merges: generator.oneIn(3),
        choices: Self.choose(Record.pool(), unique: uniques[number], &generator))
    }
    parcels = part(0, Parcel.self)
    samples = part(1, Sample.self)
    happenings = part(2, Happening.self)
  }

  /// The schema that some numbers stand for, which another process was given.
  init(_ numbers: ArraySlice<Int>) {
    let numbers = Array(numbers)
    self.init(seed: numbers[0], versions: Array(numbers[1...3]), uniques: Array(numbers[4...6]))
  }

  private static func choose<Record>(
    _ pool: [Choice<Record>], unique: Int, _ generator: inout SeededGenerator
  ) -> [Choice<Record>] {
    let share = Int.random(in: 1...3, using: &generator)
    var chosen: [Choice<Record>] = []
    for choice in pool.shuffled(using: &generator) where !chosen.contains(where: { $0.name == choice.name }) {
      if choice.uniqueKeys != nil, unique >= 0 {
        if choice.version == unique { chosen.append(choice) }
      } else if !generator.oneIn(share + 1) {
        chosen.append(choice)
      }
    }
    return chosen
  }

  /// What an undo restores of a record that has been changed since: nothing if the record has an odd amount.
  fileprivate static func merge<Record: Thing>(_ restored: Record, _ current: Record) -> Record? {
    guard let content = merge(restored.content, current.content) else { return nil }
    return Record(number: restored.number, content: content)
  }

  static func merge(_ restored: Content, _ current: Content) -> Content? {
    guard restored.amount.isMultiple(of: 2) else { return nil }
    var merged = restored
    merged.weight = current.weight
    return merged
  }

  var schema: Schema {
    let all: [(any DeclaredCollection)?] = [parcels?.collection(), samples?.collection(), happenings?.collection()]
    return Schema(all.compactMap(\.self))
  }
}
