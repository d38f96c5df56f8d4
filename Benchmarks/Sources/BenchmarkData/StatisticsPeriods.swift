package import Foundation
package import Tally

/// The periods around now in which completions are counted.
package enum StatisticsPeriods {
  package static let names: [(name: String, component: Calendar.Component)] = [
    ("day", .day), ("week", .weekOfYear), ("month", .month), ("year", .year),
  ]

  /// The whole period around now.
  package static func interval(of component: Calendar.Component) throws -> Range<Timestamp> {
    let calendar = DataSet.configuration().calendar
    guard let interval = calendar.dateInterval(of: component, for: TaskGenerator.now.date) else {
      throw WrongAnswer(description: "the calendar has no such period")
    }
    return try Timestamp(interval.start)..<Timestamp(interval.end)
  }
}
