import TallyEngine
import TestSupport

/// A change of some records of one collection.
enum Action {
  case save(collection: Int, number: Int, Content)
  case insert(collection: Int, [(number: Int, content: Content)])
  case update(collection: Int, number: Int, amount: Int, name: String)
  case delete(collection: Int, [Int])
  /// Two records exchange their codes, which may have to be unique.
  case exchange(collection: Int, Int, Int)

  /// The action without its contents.
  var summary: String {
    switch self {
    case .save(let collection, let number, _): "save \(collection)/\(number)"
    case .insert(let collection, let records): "insert \(collection)/\(records.map(\.number))"
    case .update(let collection, let number, _, _): "update \(collection)/\(number)"
    case .delete(let collection, let numbers): "delete \(collection)/\(numbers)"
    case .exchange(let collection, let one, let other): "exchange \(collection)/\(one) and \(other)"
    }
  }

  /// The numbers of the records of a collection.
  static let numbers = 0..<40

  /// A random number; some records change much more often than the others.
  private static func number(_ generator: inout SeededGenerator) -> Int {
    Int.random(in: 0..<(generator.oneIn(2) ? numbers.upperBound : 5), using: &generator)
  }

  /// Random actions on the collections of a schema; many concern a record that one before concerns, too.
  static func several(
    _ count: Int, in schema: RandomSchema, isHuge: Bool, startingAt first: (collection: Int, number: Int)? = nil,
    using generator: inout SeededGenerator
  ) -> [Action] {
    let present = [schema.parcels != nil, schema.samples != nil, schema.happenings != nil]
    var place = first ?? (0, 0)
    return (0..<count).map { index in
      if index == 0 ? first == nil : generator.oneIn(2) {
        place.collection = (0..<3).filter { present[$0] }.randomElement(using: &generator) ?? 0
        place.number = number(&generator)
      }
      return random(place.collection, place.number, isHuge: isHuge, using: &generator)
    }
  }

  private static func random(
    _ collection: Int, _ number: Int, isHuge: Bool, using generator: inout SeededGenerator
  ) -> Action {
    func others(_ count: Int) -> [Int] { (0..<count).map { _ in Self.number(&generator) } }
    func content() -> Content { .random(isHuge: isHuge, using: &generator) }
    switch Int.random(in: 0..<11, using: &generator) {
    case 0..<5: return .save(collection: collection, number: number, content())
    case 5:
      let count = Int.random(in: 0...7, using: &generator)
      return .insert(collection: collection, others(count).map { ($0, content()) })
    case 6, 7:
      return .update(collection: collection, number: number, amount: content().amount, name: content().name)
    case 8: return .delete(collection: collection, [number])
    case 9: return .exchange(collection: collection, number, others(1)[0])
    default: return .delete(collection: collection, others(6))
    }
  }

  /// Performs the action; returns the code of the error if it is refused, and then it has changed nothing.
  func perform(in writer: inout Writer) throws -> TallyError.Code? {
    let collection =
      switch self {
      case .save(let collection, _, _), .insert(let collection, _), .update(let collection, _, _, _),
        .delete(let collection, _), .exchange(let collection, _, _):
        collection
      }
    do {
      switch collection {
      case 0: try perform(Parcel.self, in: &writer)
      case 1: try perform(Sample.self, in: &writer)
      default: try perform(Happening.self, in: &writer)
      }
      return nil
    } catch let error as TallyError
      where [.duplicateKey, .duplicateID, .unchangeableRecord].contains(error.code)
    {
      return error.code
    }
  }

  /// The steps in which two records exchange their codes, so that no two ever have one.
  static func exchange(_ one: Int, _ other: Int, _ codes: [String?]) -> [(number: Int, code: String?)] {
    [(one, nil), (other, codes[0]), (one, codes[1])]
  }

  private func perform<Record: Thing>(_ type: Record.Type, in writer: inout Writer) throws {
    switch self {
    case .save(_, let number, let content): try writer.save(Record(number: number, content: content))
    case .insert(_, let records):
      try writer.insert(contentsOf: records.map { Record(number: $0.number, content: $0.content) })
    case .update(_, let number, let amount, let name):
      try writer.update(type, Record.id(of: number)) { record in
        record.content.amount = amount
        record.content.name = name
      }
    case .delete(_, let numbers): try writer.delete(type, numbers.map { Record.id(of: $0) })
    case .exchange(_, let one, let other):
      let codes = try [one, other].map { try writer.record(type, Record.id(of: $0))?.content.code }
      for (number, code) in Self.exchange(one, other, codes) {
        try writer.update(type, Record.id(of: number)) { $0.content.code = code }
      }
    }
  }
}

/// One write of some actions, as a process makes it on its own: it follows from two numbers alone.
struct LonelyWrite {
  let actions: [Action]
  let isUndoable: Bool

  init(_ number: Int, seed: Int, in schema: RandomSchema, isHuge: Bool) {
    var generator = SeededGenerator(seed: UInt64(seed) << 20 | UInt64(number))
    let count = Int.random(in: 1...4, using: &generator)
    actions = Action.several(count, in: schema, isHuge: isHuge, using: &generator)
    isUndoable = !generator.oneIn(4)
  }

  /// Writes; a sum that is too large refuses the whole write.
  func perform(in store: Store) throws {
    do {
      try store.writeAndWait(undoable: isUndoable) { writer in
        for action in actions { _ = try action.perform(in: &writer) }
      }
    } catch let error as TallyError where error.code == .valueOutOfRange {}
  }
}
