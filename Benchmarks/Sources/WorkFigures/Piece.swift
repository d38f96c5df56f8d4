import BenchmarkData
import Foundation
import Tally

/// What a piece of work is timed beside.
enum Yardstick: String {
  /// A fixed amount of arithmetic, sorting and copying.
  case processor
  /// A durable creation by liblmdb alone, in a copy of the same store.
  case disk
}

/// A piece of everyday work: one row of the suite `work`.
struct Piece {
  let name: String
  let yardstick: Yardstick
  /// How often the work is done between two readings of the clock.
  let repetitionCount: Int
  /// How often that is timed.
  let sampleCount: Int
  /// Prepares a store, and returns the work, which receives the number of its repetitions before.
  let makeReady: () throws -> Work

  /// Work on a store that was made ready for it.
  struct Work {
    let run: (Int) throws -> Void
    let close: () throws -> Void
  }
}

extension Piece {
  /// Work that only reads the kept store.
  static func reading(
    _ name: String, repetitions: Int = 1, samples: Int = 30, _ work: @escaping (TaskStore) throws -> Void
  ) -> Piece {
    Piece(name: name, yardstick: .processor, repetitionCount: repetitions, sampleCount: samples) {
      let store = try WorkData.set.open()
      return Work(run: { _ in try work(store) }, close: { try store.close() })
    }
  }

  /// Work that changes a copy of the store, and is on the disk when it returns.
  static func writing(
    _ name: String, samples: Int = 40, _ work: @escaping (TaskStore, Int) throws -> Void
  ) -> Piece {
    prepared(name, samples: samples, { _ in }, { store, _, number in try work(store, number) })
  }

  /// As `writing`, where the work needs something that is prepared before.
  static func prepared<Prepared>(
    _ name: String, yardstick: Yardstick = .disk, samples: Int = 40,
    _ prepare: @escaping (TaskStore) throws -> Prepared,
    _ work: @escaping (TaskStore, Prepared, Int) throws -> Void
  ) -> Piece {
    Piece(name: name, yardstick: yardstick, repetitionCount: 1, sampleCount: samples) {
      let store = try WorkData.set.openCopy("work-\(name)")
      let prepared = try prepare(store)
      return Work(run: { number in try work(store, prepared, number) }, close: { try store.close() })
    }
  }
}

/// The store that the work is done on.
enum WorkData {
  static let set = DataSet(taskCount: 1_000)
}
