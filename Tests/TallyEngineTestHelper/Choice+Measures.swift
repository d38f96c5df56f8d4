import Foundation
import TallyEngine
import TestSupport

extension Choice {
  /// A measure without groups.
  static func plain(
    _ measure: Measure<Record, NoKey>, _ version: Int = 1, isOfDays: Bool = false,
    _ events: @escaping (Content) -> [(instant: Int64, amount: Int)]
  ) -> Choice {
    @MemberBuilder<Record> var members: [Member<Record>] { measure }
    var choice = Choice(name: measure.name, version: version, members: members) { asked, records, generator in
      let amounts = records.flatMap { events($0.content) }.map { (instant: $0.instant, amount: Int128($0.amount)) }
      let check = SumCheck(
        name: measure.name, isOfDays: isOfDays, amounts: amounts, now: asked.date)
      try check.run(
        SumQuestions(
          total: { try asked.total(measure, over: $0) },
          series: { try asked.series(measure, by: $0, over: $1, in: $2, firstWeekday: $3) },
          profile: { try asked.profile(measure, over: $0, in: $1) },
          streak: { try asked.streak(measure, in: $0, restDays: $1) },
          before: { try asked.comparisonWithBefore(measure, over: $0) },
          yearBefore: { try asked.comparisonWithYearBefore(measure, over: $0, in: $1) }), &generator)
    }
    choice.sums = ({ events($0).map { Event(group: [], instant: $0.instant, amount: Int128($0.amount)) } }, false)
    return choice
  }

  /// A measure by one group.
  static func grouped<A>(
    _ measure: Measure<Record, Key1<A>>, _ version: Int = 1, isOfDays: Bool = false, totals: Bool,
    _ value: @escaping (A.PlainKey) -> Value,
    _ events: @escaping (Content) -> [(group: A.PlainKey, instant: Int64, amount: Int)]
  ) -> Choice {
    @MemberBuilder<Record> var members: [Member<Record>] { measure }
    let parts = { (content: Content) in
      events(content).map { Event(group: [value($0.group)], instant: $0.instant, amount: Int128($0.amount)) }
    }
    var choice = Choice(name: measure.name, version: version, members: members) { asked, records, generator in
      let all = records.flatMap { parts($0.content) }
      for group in [nil, records.randomElement(using: &generator).flatMap { events($0.content).first?.group }] {
        let own = all.filter { event in group.map { event.group == [value($0)] } ?? true }
        let check = SumCheck(
          name: "\(measure.name) of \(group.map { "\($0)" } ?? "all")", isOfDays: isOfDays,
          amounts: own.map { (instant: $0.instant, amount: $0.amount) }, now: asked.date)
        try check.run(
          SumQuestions(
            total: { try asked.total(measure, for: group, over: $0) },
            series: { try asked.series(measure, for: group, by: $0, over: $1, in: $2, firstWeekday: $3) },
            profile: { try asked.profile(measure, for: group, over: $0, in: $1) },
            streak: { try asked.streak(measure, for: group, in: $0, restDays: $1) },
            before: { try asked.comparisonWithBefore(measure, for: group, over: $0) },
            yearBefore: { try asked.comparisonWithYearBefore(measure, for: group, over: $0, in: $1) }), &generator)
      }
      try checkGroups(measure.name, all) {
        try asked.totals(measure).map { (group: [value($0.group)], value: $0.value) }
      }
    }
    choice.sums = (parts, totals)
    return choice
  }

  /// A measure by two groups.
  static func paired<A, B>(
    _ measure: Measure<Record, Key2<A, B>>, _ version: Int = 1, totals: Bool,
    _ first: @escaping (A.PlainKey) -> Value, _ second: @escaping (B.PlainKey) -> Value,
    _ events: @escaping (Content) -> [(a: A.PlainKey, b: B.PlainKey, instant: Int64, amount: Int)]
  ) -> Choice {
    @MemberBuilder<Record> var members: [Member<Record>] { measure }
    let parts = { (content: Content) in
      events(content).map {
        Event(group: [first($0.a), second($0.b)], instant: $0.instant, amount: Int128($0.amount))
      }
    }
    var choice = Choice(name: measure.name, version: version, members: members) { asked, records, generator in
      let all = records.flatMap { parts($0.content) }
      if let (a, b, _, _) = records.randomElement(using: &generator).flatMap({ events($0.content).first }) {
        let own = all.filter { $0.group == [first(a), second(b)] }
        let check = SumCheck(
          name: "\(measure.name) of \(a), \(b)", isOfDays: false,
          amounts: own.map { (instant: $0.instant, amount: $0.amount) }, now: asked.date)
        try check.run(
          SumQuestions(
            total: { try asked.total(measure, for: a, b, over: $0) },
            series: { try asked.series(measure, for: a, b, by: $0, over: $1, in: $2, firstWeekday: $3) }), &generator)
      }
      try checkGroups(measure.name, all) {
        try asked.totals(measure).map { (group: [first($0.a), second($0.b)], value: $0.value) }
      }
    }
    choice.sums = (parts, totals)
    return choice
  }

  /// Compares the groups and their sums.
  private static func checkGroups(
    _ name: String, _ events: [Event], _ ask: () throws -> [(group: [Value], value: Int64)]
  ) throws {
    var sums: [[Value]: Int128] = [:]
    for event in events { sums[event.group, default: 0] += event.amount }
    let expected = sums.filter { $0.value != 0 }.sorted { $0.key.precede($1.key) }
    do {
      let found = try ask()
      try Difference.check(found.map(\.group), expected.map(\.key), "\(name), the groups")
      try Difference.check(found.map { Int128($0.value) }, expected.map(\.value), "\(name), the sums of the groups")
    } catch let error as TallyError
      where error.code == .valueOutOfRange && expected.contains(where: { Int64(exactly: $0.value) == nil })
    {}
  }

  /// A distribution by a group, or of all records.
  static func distribution<A>(
    _ measure: Measure<Record, Key1<A>>, _ version: Int = 1, _ value: @escaping (A.PlainKey) -> Value,
    _ group: @escaping (Content) -> A.PlainKey
  ) -> Choice {
    @MemberBuilder<Record> var members: [Member<Record>] { measure }
    return Choice(name: measure.name, version: version, members: members) { asked, records, generator in
      let some = records.randomElement(using: &generator).map { group($0.content) }
      try checkQuantiles(measure.name, records.map(\.content.amount), &generator) {
        try asked.quantile($0, of: measure)
      }
      guard let some else { return }
      let own = records.filter { value(group($0.content)) == value(some) }
      try checkQuantiles("\(measure.name) of \(some)", own.map(\.content.amount), &generator) {
        try asked.quantile($0, of: measure, for: some)
      }
      try Difference.check(asked.total(measure, for: some), Int64(own.count), "\(measure.name), the number")
    }
  }

  /// A distribution without groups.
  static func distribution(_ measure: Measure<Record, NoKey>, _ version: Int = 1) -> Choice {
    @MemberBuilder<Record> var members: [Member<Record>] { measure }
    return Choice(name: measure.name, version: version, members: members) { asked, records, generator in
      try checkQuantiles(measure.name, records.map(\.content.amount), &generator) {
        try asked.quantile($0, of: measure)
      }
      try Difference.check(asked.total(measure), Int64(records.count), "\(measure.name), the number")
    }
  }

  /// Compares quantiles by the nearest rank, which may be 0.8 % off beyond 127.
  private static func checkQuantiles(
    _ name: String, _ amounts: [Int], _ generator: inout SeededGenerator, _ ask: (Double) throws -> Int64?
  ) throws {
    let sorted = amounts.sorted()
    for fraction in [0, 0.5, 1, Double.random(in: 0...1, using: &generator)] {
      let found = try ask(fraction)
      guard !sorted.isEmpty else {
        try Difference.check(found, nil, "\(name), a quantile of nothing")
        continue
      }
      let rank = max(1, Int((fraction * Double(sorted.count)).rounded(.up)))
      let expected = sorted[rank - 1]
      let distance = (Double(found ?? 0) - Double(expected)).magnitude
      let limit = (-128...127).contains(expected) ? 0 : Double(expected).magnitude * 0.008 + 1
      if found == nil || distance > limit {
        throw Difference("\(name), the quantile \(fraction): is \(found.map { "\($0)" } ?? "none"), not \(expected)")
      }
    }
  }
}
