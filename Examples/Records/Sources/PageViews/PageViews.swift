// Page views: a log of events, counts by hour, and retention by deleting a range; what was counted by day stays.
//
//   swift run --package-path Examples/Records PageViews FOLDER

import Foundation
import TallyEngine

/// An event that writes its fields itself, which is several times faster than `Codable`.
struct PageView: BinaryRecord {
  /// A version 7 UUID is in the order of time, so that new records are stored one after the other.
  let id: UUID
  let path: String
  let at: Date
  let milliseconds: Int

  func encode(to fields: inout FieldOutput) {
    fields.append(path, as: 1)
    fields.append(at, as: 2)
    fields.append(milliseconds, as: 3)
  }
}

extension PageView {
  init(id: UUID, fields: inout FieldInput) throws {
    self.id = id
    path = try fields.string(1)
    at = try fields.date(2)
    milliseconds = try fields.int(3)
  }

  static let byTime = index("byTime", \.at)
  static let byPath = index("byPath") { ($0.path, $0.at) }
  static let views = count("views", over: byPath, totals: true)
  static let latency = distribution("latency", of: \.milliseconds, by: \.path)
  static let collection = Collection<PageView>("pageViews", isEventLog: true) {
    byTime
    byPath
    views
    latency
  }
}

/// The views of a page on a day, which are kept when the events are not.
struct DayOfViews: StoredRecord, Codable {
  var id: String
  var path: String
  var day: CalendarDay
  var count: Int

  static let byPath = index("byPath") { ($0.path, $0.day) }
  static let counted = sum("counted", of: \.count, over: byPath)
  static let collection = Collection<DayOfViews>("daysOfViews") {
    byPath
    counted
  }
}

/// Keeps how often each page was seen on some days, and deletes the events: both or neither.
func retire(_ days: Range<CalendarDay>, in zone: TimeZone, _ writer: inout Writer) throws -> Int {
  let dates = days.dates(in: zone)
  for (path, _) in try writer.totals(PageView.views, over: dates) {
    for point in try writer.series(PageView.views, for: path, by: .day, over: dates, in: zone) where point.value > 0 {
      let day = point.day(in: zone)
      try writer.save(DayOfViews(id: "\(day) \(path)", path: path, day: day, count: Int(point.value)))
    }
  }
  return try writer.deleteRecords(in: PageView.byTime, from: dates.lowerBound, upTo: dates.upperBound)
}

@main
struct PageViews {
  static func main() async throws {
    guard let folder = CommandLine.arguments.dropFirst().first, let tokyo = TimeZone(identifier: "Asia/Tokyo") else {
      FileHandle.standardError.write(Data("usage: PageViews FOLDER\n".utf8))
      exit(64)
    }
    let store = try Store(
      at: URL(filePath: folder), schema: Schema(PageView.collection, DayOfViews.collection))
    let start = try CalendarDay(year: 2026, month: 6, day: 1)
    // Nobody undoes what visitors have done, so the history need not keep it.
    try await store.write(undoable: false) { writer in
      try writer.insert(
        contentsOf: (0..<5_000).map { number in
          // Twelve days of views, a view every 207 seconds.
          let instant = start.start(in: tokyo).adding(seconds: Int64(number) * 207)
          let path = number % 3 == 0 ? "/" : number % 7 == 0 ? "/about" : "/docs"
          return PageView(id: UUIDv7.next(), path: path, at: instant.date, milliseconds: 5 + number * 31 % 200)
        })
    }
    let third = try start.adding(days: 2)
    let hours = try store.read {
      try $0.series(PageView.views, by: .hour, over: (third..<third.adding(days: 1)).dates(in: tokyo), in: tokyo)
    }
    print("By hour: \(hours.map { "\($0.value)" }.joined(separator: " "))")
    try store.read { reader in
      for (path, count) in try reader.totals(PageView.views) {
        let slowest = try reader.quantile(0.99, of: PageView.latency, for: path)
        print("\(path): \(count) views, 99 % of them within about \(slowest ?? 0) ms")
      }
    }
    do {
      try await store.write { writer in
        guard let first = try writer.records(in: PageView.byTime, limit: 1).first else { return }
        try writer.save(PageView(id: first.id, path: "/", at: first.at, milliseconds: 0))
      }
    } catch let error as TallyError where error.code == .unchangeableRecord {
      print("An event stays as it is: \(error.code)")
    }

    let days = start..<(try start.adding(days: 7))
    let deletedCount = try await store.write(undoable: false) { try retire(days, in: tokyo, &$0) }
    print("Deleted: \(deletedCount)")
    try store.read { reader in
      let kept = try reader.totals(DayOfViews.counted)
      print("Kept by day: \(kept.map { "\($0.group) \($0.value)" }.joined(separator: ", "))")
      print("Events left: \(try reader.count(PageView.self)), counted: \(try reader.total(PageView.views))")
    }
    try store.close()
  }
}
