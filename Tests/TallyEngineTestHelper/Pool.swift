import Foundation
import TallyEngine
import TestSupport

extension Thing {
  /// All members that a random schema may have; of those with one name it has at most one.
  static func pool() -> [Choice<Self>] { plainIndexes() + indexesOfEach() + sums() + groupedSums() + counts() }

  private static func plainIndexes() -> [Choice<Self>] {
    [
      .one(index("byName") { $0.content.name }, 1, Value.text) { [$0.name] },
      .two(index("byName", version: 2) { ($0.content.isOpen, $0.content.name) }, 2, Value.flag, Value.text) {
        [($0.isOpen, $0.name)]
      },
      .one(index("byTime") { $0.content.date }, 1, Value.instant) { [$0.date] },
      .one(index("byTime", version: 2) { Descending($0.content.date) }, 2, { .falling(.instant($0)) }) { [$0.date] },
      .two(index("byPlace") { ($0.content.place, $0.content.date) }, 1, Value.text, Value.instant) {
        [($0.place, $0.date)]
      },
      .two(
        index("byPlace", version: 2) { (Descending($0.content.place ?? ""), Descending($0.content.timestamp)) }, 2,
        { .falling(.text($0)) }, { .falling(.number($0.microsecondsSince1970)) }
      ) { [($0.place ?? "", $0.timestamp)] },
      .one(index("byCode", unique: true, each: { $0.content.code.map { [$0] } ?? [] }), 1, isUnique: true, Value.text) {
        $0.code.map { [$0] } ?? []
      },
      .two(
        index(
          "byCode", version: 2, unique: true,
          each: { thing in thing.content.code.map { [($0, thing.content.day)] } ?? [] }),
        2, isUnique: true, Value.text, { .number(Int64($0)) }
      ) { content in content.code.map { [($0, content.day)] } ?? [] },
      .three(
        index("byThree") { ($0.content.isOpen, $0.content.name, $0.content.date) }, 1, Value.flag, Value.text,
        Value.instant
      ) { [($0.isOpen, $0.name, $0.date)] },
      .three(
        index("byThree", version: 2) { (Descending($0.content.day), $0.content.code, Descending($0.content.weight)) },
        2,
        { .falling(.number(Int64($0))) }, Value.text, { .falling(.real($0)) }
      ) { [($0.day, $0.code, $0.weight)] },
      .one(index("byWeight") { $0.content.weight }, 1, Value.real) { [$0.weight] },
      .one(index("byWeight", version: 2) { $0.content.amount }, 2, { .number(Int64($0)) }) { [$0.amount] },
    ]
  }

  private static func indexesOfEach() -> [Choice<Self>] {
    [
      .one(index("byTag", each: { $0.content.tags }), 1, Value.text) { $0.tags },
      .two(
        index("byTag", version: 2, each: { thing in thing.content.tags.map { ($0, thing.content.date) } }), 2,
        Value.text,
        Value.instant
      ) { content in content.tags.map { ($0, content.date) } },
      .three(
        index(
          "byTagAndDay",
          each: { thing in
            thing.content.tags.map { ($0, Descending(thing.content.isOpen), thing.content.calendarDay) }
          }), 1, Value.text, { .falling(.flag($0)) }, { .number(Int64($0.dayNumber)) }
      ) { content in content.tags.map { ($0, content.isOpen, content.calendarDay) } },
    ]
  }

  private static func sums() -> [Choice<Self>] {
    let falling = index("byTime", version: 2) { Descending($0.content.date) }
    let days = index("unlisted") { ($0.content.name, $0.content.calendarDay) }
    return [
      .plain(sum("amount", of: { $0.content.amount }, at: { $0.content.date })) { [($0.microseconds, $0.amount)] },
      .plain(sum("amount", version: 2, of: { $0.content.amount }, over: falling), 2) { [($0.microseconds, $0.amount)] },
      .plain(sum("amountByDay", of: { $0.content.amount }, at: { $0.content.calendarDay }), isOfDays: true) {
        [(Int64($0.day) * 86_400_000_000, $0.amount)]
      },
      .grouped(
        sum("amountByDay", version: 2, of: { $0.content.amount }, over: days, totals: true), 2, isOfDays: true,
        totals: true, Value.text
      ) { [($0.name, Int64($0.day) * 86_400_000_000, $0.amount)] },
      .distribution(distribution("amounts", of: { $0.content.amount })),
      .distribution(
        distribution("amounts", version: 2, of: { $0.content.amount }, by: { $0.content.place }, totals: true), 2,
        Value.text
      ) { $0.place },
    ]
  }

  private static func groupedSums() -> [Choice<Self>] {
    let tags = index("byTag", version: 2, each: { thing in thing.content.tags.map { ($0, thing.content.date) } })
    // An index gives a record a key once; so does a measure over it.
    func once(_ content: Content) -> [String] { content.tags }
    return [
      .grouped(sum("byTags", of: { $0.content.amount }, over: tags), totals: false, Value.text) { content in
        once(content).map { ($0, content.microseconds, content.amount) }
      },
      .grouped(
        sum("byTags", version: 2, of: { $0.content.amount }, over: tags, totals: true), 2, totals: true, Value.text
      ) { content in once(content).map { ($0, content.microseconds, content.amount) } },
      .grouped(
        sum("events", totals: true) { thing in
          thing.content.tags.enumerated().map { (thing.content.amount, thing.content.date + Double($0 * 400), $1) }
        }, totals: true, Value.text
      ) { content in
        content.tags.enumerated().map {
          ($1, Timestamp(clamping: content.date + Double($0 * 400)).microsecondsSince1970, content.amount)
        }
      },
      .grouped(
        sum("byPlaces", of: { $0.content.amount }, at: { $0.content.timestamp }, by: { $0.content.place }),
        totals: false, Value.text
      ) { [($0.place, $0.microseconds, $0.amount)] },
    ]
  }

  private static func counts() -> [Choice<Self>] {
    let three = index("byThree") { ($0.content.isOpen, $0.content.name, $0.content.date) }
    return [
      .grouped(
        count("count", at: { $0.content.date }, by: { Descending($0.content.name) }), totals: false,
        {
          .falling(.text($0))
        }
      ) { [($0.name, $0.microseconds, 1)] },
      .grouped(
        count("count", version: 2, at: { $0.content.date }, by: { $0.content.day }, totals: true), 2, totals: true,
        { .number(Int64($0)) }
      ) { [($0.day, $0.microseconds, 1)] },
      .paired(count("pairs", over: three, totals: true), totals: true, Value.flag, Value.text) {
        [($0.isOpen, $0.name, $0.microseconds, 1)]
      },
      .paired(
        sum("pairs", version: 2, of: { $0.content.amount }, over: three), 2, totals: false, Value.flag, Value.text
      ) {
        [($0.isOpen, $0.name, $0.microseconds, $0.amount)]
      },
    ]
  }
}
