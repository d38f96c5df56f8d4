import Foundation
import TallyEngine

/// The record of most tests.
struct Workout: StoredRecord, Codable, Hashable {
  var id = UUID()
  var sport: String
  var start: Date
  var minutes: Int
  var notes = ""
  var tags: [String] = []
  var rating: Double?
}

extension Workout {
  static let bySport = index("bySport") { ($0.sport, $0.start) }
  static let newest = index("newest") { Descending($0.start) }
  static let byTag = index("byTag", each: \.tags)
  static let trained = sum("trained", of: \.minutes, over: bySport, totals: true)
  static let sessions = count("sessions", over: newest)
  static let length = distribution("length", of: \.minutes)
  static let collection = Collection<Workout>("workouts") {
    bySport
    newest
    byTag
    trained
    sessions
    length
  }

  static let sports = ["run", "ride", "swim", "row"]

  /// A random workout of the years 2020 to 2022.
  static func random(using generator: inout some RandomNumberGenerator, id: UUID = UUID()) -> Workout {
    let seconds = Double(Int.random(in: 0..<94_694_400, using: &generator))
    return Workout(
      id: id, sport: sports.randomElement(using: &generator) ?? "",
      start: Date(timeIntervalSince1970: 1_577_836_800 + seconds),
      minutes: Int.random(in: -20...300, using: &generator), notes: Bool.random(using: &generator) ? "" : "felt good ü",
      tags: ["a", "b", "c"].filter { _ in Bool.random(using: &generator) },
      rating: Bool.random(using: &generator) ? nil : Double.random(in: 0...5, using: &generator))
  }
}

/// A store in a directory that is removed with it.
final class TemporaryStore {
  let directory: URL
  private(set) var store: Store
  private let schema: Schema

  init(_ schema: Schema = Schema(Workout.collection), durable: Bool = false) throws {
    directory = FileManager.default.temporaryDirectory.appending(path: "tally-engine-\(UUID().uuidString)")
    self.schema = schema
    store = try Self.open(directory, schema)
  }

  deinit {
    try? store.close()
    try? FileManager.default.removeItem(at: directory)
  }

  static func open(_ directory: URL, _ schema: Schema) throws -> Store {
    var configuration = StoreConfiguration()
    configuration.durability = .relaxed
    return try Store(at: directory, schema: schema, configuration: configuration)
  }

  /// Closes the store and opens it again, perhaps with another schema.
  func reopen(_ other: Schema? = nil) throws {
    try store.close()
    store = try Self.open(directory, other ?? schema)
  }
}
