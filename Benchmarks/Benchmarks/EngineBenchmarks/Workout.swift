import BenchmarkData
import Foundation
import TallyEngine

/// A record as most applications declare it: the engine codes its fields by their names.
struct Workout: StoredRecord, Codable {
  var id: UUID
  var sport: String
  var start: Date
  var minutes: Int
  var notes: String
  var isRace: Bool
}

/// The same record, which writes its fields itself.
struct WorkoutByHand: BinaryRecord {
  var id: UUID
  var sport: String
  var start: Date
  var minutes: Int
  var notes: String
  var isRace: Bool

  func encode(to fields: inout FieldOutput) {
    fields.append(sport, as: 1)
    fields.append(start, as: 2)
    fields.append(minutes, as: 3)
    fields.append(notes, as: 4)
    fields.append(isRace, as: 5)
  }
}

extension WorkoutByHand {
  init(id: UUID, fields: inout FieldInput) throws {
    self.init(
      id: id, sport: try fields.string(1), start: try fields.date(2), minutes: try fields.int(3),
      notes: try fields.string(4), isRace: try fields.bool(5))
  }
}

/// Either form, for what prepares and compares; what is timed names its type.
protocol WorkoutRecord: StoredRecord where ID == UUID {
  static var collection: TallyEngine.Collection<Self> { get }
  static var bySport: Index<Self, Key2<String, Date>> { get }
  static var trained: Measure<Self, Key1<String>> { get }
  static var sessions: Measure<Self, Key1<String>> { get }

  init(_ workout: Workout)
  var workout: Workout { get }
}

extension Workout: WorkoutRecord {
  static let bySport = index("bySport") { ($0.sport, $0.start) }
  static let newest = index("newest") { Descending($0.start) }
  static let byLength = index("byLength") { ($0.minutes, $0.start) }
  static let trained = sum("trained", of: \.minutes, over: bySport, totals: true)
  static let sessions = count("sessions", over: bySport, totals: true)
  static let collection = Collection<Workout>("workouts") {
    bySport
    newest
    byLength
    trained
    sessions
  }

  init(_ workout: Workout) { self = workout }
  var workout: Workout { self }
}

extension WorkoutByHand: WorkoutRecord {
  static let bySport = index("bySport") { ($0.sport, $0.start) }
  static let newest = index("newest") { Descending($0.start) }
  static let byLength = index("byLength") { ($0.minutes, $0.start) }
  static let trained = sum("trained", of: \.minutes, over: bySport, totals: true)
  static let sessions = count("sessions", over: bySport, totals: true)
  static let collection = Collection<WorkoutByHand>("workoutsByHand") {
    bySport
    newest
    byLength
    trained
    sessions
  }

  init(_ workout: Workout) {
    self.init(
      id: workout.id, sport: workout.sport, start: workout.start, minutes: workout.minutes, notes: workout.notes,
      isRace: workout.isRace)
  }
  var workout: Workout {
    Workout(id: id, sport: sport, start: start, minutes: minutes, notes: notes, isRace: isRace)
  }
}

extension AnswerHash {
  init(_ workouts: some Sequence<Workout>) {
    self.init()
    for workout in workouts {
      combine(workout.id.uuidString)
      combine(workout.sport)
      combine(Int(workout.start.timeIntervalSince1970 * 1_000_000))
      combine(workout.minutes)
      combine(workout.notes)
      combine(workout.isRace ? 1 : 0)
    }
  }
}
