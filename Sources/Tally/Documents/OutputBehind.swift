internal import Foundation
internal import SystemPackage
internal import TallySystem

/// Writes blocks of an export to a file on a thread of its own, while the next ones are made: writing takes about half
/// as long as making them.
///
/// A short export needs no thread. If the system has none, the caller writes: whoever finds blocks that nobody is
/// writing writes them. An error is thrown by one of the later calls, and nothing is written after it.
final class OutputBehind: Sendable {
  /// How many bytes a block has before it is written: the size of a pipe's buffer.
  static let blockSizeInBytes = 1 << 16
  /// How many blocks may wait; more would only take memory.
  private static let blockLimit = 4
  /// Starts write-back after so many bytes, so that the final flush is short.
  private static let writeBackStepInBytes = 8 << 20

  private struct State {
    var blocks: [[UInt8]] = []
    /// Blocks that have been written, for the memory that they have.
    var spare: [[UInt8]] = []
    /// Whether somebody is writing a block; one at a time may.
    var isWriting = false
    /// The bytes written since the disk was asked to begin.
    var bytesToWriteBack = 0
    var hasThread = false
    var isStopped = false
    var failure: (any Error)?
  }

  private let output: FileDescriptor
  private let detach: @Sendable (@escaping @Sendable () -> Void) -> Void
  private let state = Monitor(State())

  /// Prepares to write; nobody else may write to the file until `finish` or `stop` has returned.
  ///
  /// - Parameters:
  ///   - output: The file.
  ///   - detach: Runs a closure on another thread; a test may do otherwise.
  init(
    to output: FileDescriptor,
    detach: @escaping @Sendable (@escaping @Sendable () -> Void) -> Void = { Thread.detachNewThread($0) }
  ) {
    (self.output, self.detach) = (output, detach)
  }

  /// Takes the bytes of a block, and leaves an empty array with room for the next.
  func write(_ bytes: inout [UInt8]) throws {
    try makeRoom()
    let needsThread = state.withLock { state in
      state.blocks.append(bytes)
      bytes = state.spare.popLast() ?? []
      guard !state.hasThread, state.blocks.count > 1 else { return false }
      state.hasThread = true
      return true
    }
    bytes.reserveCapacity(Self.blockSizeInBytes)
    state.wakeAll()
    if needsThread { startThread() }
  }

  /// Waits until everything is written, or stops at an error.
  func finish() throws {
    while writeNext() {}
    try state.wait { state throws in
      if let failure = state.failure { throw failure }
      return state.blocks.isEmpty && !state.isWriting ? true : nil
    }
    stop()
  }

  /// Leaves the file alone, as soon as the block that is being written is there; those that wait are not written.
  func stop() {
    state.withLock { state in (state.isStopped, state.blocks) = (true, []) }
    state.wakeAll()
    state.wait { $0.isWriting ? nil : true }
  }

  /// Waits until another block may wait; writes one here if no thread does.
  private func makeRoom() throws {
    while true {
      let hasRoom = try state.wait { state throws -> Bool? in
        if let failure = state.failure { throw failure }
        if state.blocks.count < Self.blockLimit { return true }
        return state.isWriting ? nil : false
      }
      if hasRoom ?? false { return }
      _ = writeNext()
    }
  }

  private func startThread() {
    detach { [self] in
      nameCurrentThread("tally.write")
      while waitForBlock() { _ = writeNext() }
    }
  }

  /// Waits for a block that nobody is writing; false at the end.
  private func waitForBlock() -> Bool {
    state.wait { state in
      if state.isStopped { return false }
      return state.blocks.isEmpty || state.isWriting ? nil : true
    } ?? false
  }

  /// Writes the next block, unless somebody else is writing or none is left.
  private func writeNext() -> Bool {
    let block: [UInt8]? = state.withLock { state in
      guard !state.isWriting, !state.blocks.isEmpty else { return nil }
      state.isWriting = true
      return state.blocks.removeFirst()
    }
    guard var block else { return false }
    let result = Result { try output.writeAll(block) }
    let byteCount = block.count
    block.removeAll(keepingCapacity: true)
    let isWriteBackDue = state.withLock { state in
      state.spare.append(block)
      if case .failure(let error) = result { (state.failure, state.blocks) = (error, []) }
      state.bytesToWriteBack += byteCount
      guard state.bytesToWriteBack >= Self.writeBackStepInBytes else { return false }
      state.bytesToWriteBack = 0
      return true
    }
    // `isWriting` stays true until here, so that `stop` waits for this call.
    if isWriteBackDue { SystemCalls.startWriteBack(output) }
    state.withLock { $0.isWriting = false }
    state.wakeAll()
    return true
  }
}
