internal import Foundation
internal import TallySystem

/// Reads the records of another source on a thread of its own, some thousands ahead: reading a document takes about as long
/// as writing it to the store.
///
/// The first records are read at once, so that a short document needs no thread.
struct SourceAhead<Source: DocumentSource & ~Copyable>: DocumentSource, ~Copyable {
  let isForeign: Bool
  private let reading: Reading<Source>
  private var piece: RecordPiece

  /// Begins to read; nobody else may use what the source reads from while this exists.
  ///
  /// - Parameters:
  ///   - source: The other source.
  ///   - detach: Runs a closure on another thread; a test may do otherwise.
  init(
    _ source: consuming Source,
    detach: (@escaping @Sendable () -> Void) -> Void = { Thread.detachNewThread($0) }
  ) {
    isForeign = source.isForeign
    reading = Reading(source)
    piece = reading.readPiece()
    if piece.end == nil { reading.start(detach) }
  }

  deinit { reading.stop() }

  var exportDate: Timestamp? { piece.exportDate }
  var byteCount: Int64 { piece.byteCount }

  mutating func next() throws -> (record: DocumentRecord, position: TextPosition)? {
    while true {
      if let record = piece.records.popLast() { return record }
      if let end = piece.end {
        try end.get()
        return nil
      }
      piece = reading.takePiece()
    }
  }
}

/// Some records of a document, one after the other.
private struct RecordPiece {
  static let recordLimit = 256
  /// How much of a document is read at once at most, except for one longer record.
  static let byteLimit: Int64 = 1 << 18

  /// In the reverse of their order, so that each can be taken without a copy.
  var records: [(record: DocumentRecord, position: TextPosition)] = []
  /// When the document was written, as it says before all of these records.
  var exportDate: Timestamp?
  /// The bytes read so far.
  var byteCount: Int64 = 0
  /// The bytes read for these records.
  var sizeInBytes: Int64 = 0
  /// What comes after these records: the end of the document, or an error; `nil` for more records.
  var end: Result<Void, any Error>?
}

/// The reading of a source, and the pieces that wait to be taken.
///
/// Unchecked, because only one thread at a time uses the source: the taker's, until the reading one begins.
private final class Reading<Source: DocumentSource & ~Copyable>: @unchecked Sendable {
  private struct State {
    var pieces: [RecordPiece] = []
    /// Whether the reading thread uses the source.
    var isRunning = false
    var hasBegun = false
    /// Whether the reading thread must leave the source alone.
    var isStopped = false

    private static var pieceLimit: Int { 16 }
    private static var byteLimit: Int64 { 4 << 20 }

    /// Whether another piece may wait: all of them together have a size at most, unless one record is longer.
    func hasRoom(for piece: RecordPiece) -> Bool {
      let size = pieces.reduce(piece.sizeInBytes) { $0 + $1.sizeInBytes }
      return pieces.isEmpty || pieces.count < Self.pieceLimit && size <= Self.byteLimit
    }
  }

  private var source: Source
  /// A record that was read after the date of the document changed; it begins the next piece.
  private var held: (record: DocumentRecord, position: TextPosition)?
  private let state = Monitor(State())

  init(_ source: consuming Source) {
    self.source = source
  }

  func readPiece() -> RecordPiece {
    var piece = RecordPiece()
    piece.records.reserveCapacity(RecordPiece.recordLimit)
    let start = source.byteCount
    do {
      while piece.records.count < RecordPiece.recordLimit, source.byteCount - start < RecordPiece.byteLimit {
        guard let record = try held ?? source.next() else {
          piece.end = .success(())
          break
        }
        held = piece.records.isEmpty || source.exportDate == piece.exportDate ? nil : record
        guard held == nil else { break }
        piece.exportDate = source.exportDate
        piece.records.append(record)
      }
    } catch {
      piece.end = .failure(error)
    }
    piece.records.reverse()
    piece.byteCount = source.byteCount
    piece.sizeInBytes = source.byteCount - start
    return piece
  }
}

extension Reading where Source: ~Copyable {
  /// Goes on reading on another thread, if the system has one.
  func start(_ detach: (@escaping @Sendable () -> Void) -> Void) {
    detach { [self] in
      let mayRead = state.withLock { state in
        (state.hasBegun, state.isRunning) = (true, !state.isStopped)
        return state.isRunning
      }
      state.wakeAll()
      guard mayRead else { return }
      nameCurrentThread("tally.read")
      while offer(readPiece()) {}
      state.withLock { $0.isRunning = false }
      state.wakeAll()
    }
  }

  /// Waits for room and adds a piece; returns false after the last one.
  private func offer(_ piece: RecordPiece) -> Bool {
    let goesOn = state.wait { state in
      if state.isStopped { return false }
      guard state.hasRoom(for: piece) else { return nil }
      state.pieces.append(piece)
      return piece.end == nil
    }
    state.wakeAll()
    return goesOn ?? false
  }

  /// Waits for the next piece; without a thread, reads it here.
  func takePiece() -> RecordPiece {
    guard hasThread() else { return readPiece() }
    let piece = state.wait { $0.pieces.isEmpty ? nil : $0.pieces.removeFirst() }
    state.wakeAll()
    return piece ?? RecordPiece()
  }

  /// Whether the thread reads: Foundation does not report that the system has none, so one that has not begun for a while
  /// must not begin any more.
  private func hasThread() -> Bool {
    state.wait(atMost: Self.longestStart) { $0.hasBegun || $0.isStopped ? true : nil }
    return state.withLock { state in
      if !state.hasBegun { state.isStopped = true }
      return !state.isStopped
    }
  }

  private static var longestStart: Duration { .seconds(1) }

  /// Ends the reading, and waits until the other thread no longer uses the source.
  func stop() {
    state.withLock { $0.isStopped = true }
    state.wakeAll()
    state.wait { $0.isRunning ? nil : true }
  }
}
