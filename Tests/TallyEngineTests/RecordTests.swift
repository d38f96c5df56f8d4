import Foundation
import TallyEngine
import TestSupport
import Testing

/// Random histories of writes against a plain Swift model: records, indexes, measures, undo and the log of changes.
struct RandomRecordTests {
  static let stepCount = TestSize.of("TALLY_ENGINE_STEPS", quick: 120, long: 2_000)

  @Test func everyAnswerIsThatOfAPlainModel() throws {
    var generator = SeededGenerator(seed: SeededGenerator.chooseSeed(for: "everyAnswerIsThatOfAPlainModel"))
    let temporary = try TemporaryStore()
    var (model, states): ([UUID: Workout], [[UUID: Workout]]) = ([:], [])
    var last = try temporary.store.read { try $0.position }
    var lastModel = model
    for step in 0..<Self.stepCount {
      let before = model
      switch Int.random(in: 0..<10, using: &generator) {
      case 0:
        if let previous = states.popLast() {
          try temporary.store.writeAndWait { try $0.undo() }
          model = previous
        } else {
          #expect(throws: TallyError.self) { try temporary.store.writeAndWait { try $0.undo() } }
        }
      case 1: try temporary.reopen()
      case 2:
        let many = (0..<Int.random(in: 1...40, using: &generator)).map { _ in Workout.random(using: &generator) }
        try temporary.store.writeAndWait { try $0.insert(contentsOf: many) }
        for each in many { model[each.id] = each }
        states.append(before)
      default:
        try temporary.store.writeAndWait { writer in
          for _ in 0..<Int.random(in: 1...5, using: &generator) {
            let known = model.keys.sorted { $0.uuidString < $1.uuidString }.randomElement(using: &generator)
            if let known, Int.random(in: 0..<3, using: &generator) == 0 {
              #expect(try writer.delete(Workout.self, known))
              model[known] = nil
            } else {
              let isNew = known == nil || Bool.random(using: &generator)
              let record = Workout.random(using: &generator, id: isNew ? UUID() : known ?? UUID())
              try writer.save(record)
              model[record.id] = record
            }
          }
          try Self.compare(writer, with: model)
        }
        if model != before { states.append(before) }
      }
      try temporary.store.read { reader in
        try Self.compare(reader, with: model)
        if step.isMultiple(of: 7) {
          let changes = try reader.changes(since: last).changes(of: Workout.self)
          #expect(
            changes.inserted.union(changes.updated).union(changes.deleted).isSuperset(
              of: Self.difference(lastModel, model)))
          #expect(changes.deleted.isDisjoint(with: model.keys))
          last = try reader.position
        }
      }
      if step.isMultiple(of: 7) { lastModel = model }
      if step.isMultiple(of: 5) {
        let report = try temporary.store.verify()
        #expect(report.isSound, "\(report.faults.prefix(5))")
        #expect(report.recordCount == model.count)
      }
    }
  }

  private static func difference(_ old: [UUID: Workout], _ new: [UUID: Workout]) -> Set<UUID> {
    Set(old.keys).union(new.keys).filter { old[$0] != new[$0] }
  }

  private static func compare(_ queries: borrowing some StoreQueries & ~Copyable, with model: [UUID: Workout]) throws {
    #expect(try queries.count(Workout.self) == model.count)
    for sport in Workout.sports {
      let expected = model.values.filter { $0.sport == sport }.sorted {
        ($0.start, $0.id.uuidString) < ($1.start, $1.id.uuidString)
      }
      #expect(try queries.records(in: Workout.bySport, sport) == expected)
      #expect(
        try queries.records(in: Workout.bySport, sport, reversed: true, limit: 5)
          == Array(expected.reversed().prefix(5)))
      #expect(try queries.total(Workout.trained, for: sport) == expected.reduce(0) { $0 + Int64($1.minutes) })
    }
    let newest = model.values.sorted { ($1.start, $0.id.uuidString) < ($0.start, $1.id.uuidString) }
    #expect(try queries.records(in: Workout.newest, limit: 10) == Array(newest.prefix(10)))
    for tag in ["a", "b"] {
      #expect(try Set(queries.records(in: Workout.byTag, tag)) == Set(model.values.filter { $0.tags.contains(tag) }))
    }
    #expect(try queries.total(Workout.trained) == model.values.reduce(0) { $0 + Int64($1.minutes) })
    #expect(try queries.total(Workout.sessions) == Int64(model.count))
    if let some = model.values.first { #expect(try queries.record(Workout.self, some.id) == some) }
  }
}

/// Sums by local periods against Foundation's calendar.
struct SeriesTests {
  static let zones = [
    "Europe/Berlin", "America/Sao_Paulo", "Asia/Kolkata", "Australia/Lord_Howe", "Pacific/Apia", "America/New_York",
    "Asia/Kathmandu", "Africa/Cairo", "UTC",
  ]

  @Test(arguments: zones) func periodsAreThoseOfTheCalendar(_ name: String) throws {
    var generator = SeededGenerator(seed: SeededGenerator.chooseSeed(for: "periodsAreThoseOfTheCalendar"))
    let temporary = try TemporaryStore()
    let workouts = (0..<800).map { _ in Workout.random(using: &generator) }
    try temporary.store.writeAndWait { try $0.insert(contentsOf: workouts) }
    let zone = try #require(TimeZone(identifier: name))
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = zone
    calendar.firstWeekday = 2
    let start = Date(timeIntervalSince1970: Double(Int.random(in: 1_577_836_800..<1_600_000_000, using: &generator)))
    let range = start..<start.addingTimeInterval(Double(Int.random(in: 100_000..<60_000_000, using: &generator)))
    for period in Period.allCases {
      let points = try temporary.store.read {
        try $0.series(Workout.trained, for: "run", by: period, over: range, in: zone)
      }
      let inside = workouts.filter { $0.sport == "run" && range.contains($0.start) }
      #expect(points.reduce(0) { $0 + $1.value } == inside.reduce(0) { $0 + Int64($1.minutes) }, "\(name) \(period)")
      for (index, point) in points.enumerated() {
        let end = index + 1 < points.count ? points[index + 1].start : range.upperBound
        let expected = inside.filter { $0.start >= point.start && $0.start < end }
        #expect(point.value == expected.reduce(0) { $0 + Int64($1.minutes) }, "\(name) \(period) \(point)")
        if let component = Self.component(period), index > 0 {
          #expect(
            calendar.dateInterval(of: component, for: point.start)?.start == point.start, "\(name) \(period) \(point)")
        }
      }
    }
  }

  private static func component(_ period: Period) -> Calendar.Component? {
    switch period {
    case .day: .day
    case .week: .weekOfYear
    case .month: .month
    case .year: .year
    // Foundation has no quarters on every system, and an hour of the clock may begin where an offset changes.
    case .hour, .quarter: nil
    }
  }
}
