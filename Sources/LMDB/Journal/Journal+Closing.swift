import CLMDB
import SystemPackage
import TallySystem

extension Journal {
  /// Ends the pin; the environment is about to be closed.
  func endPin() {
    unsafe setPin(nil)
  }

  /// Leaves the processes that have the environment open, which this one has closed; the last one marks the file clean.
  ///
  /// Two that close at once both have to see that nobody is left, so that they do it one after the other. If it fails
  /// the next opening recovers.
  func leave() {
    presence.release()
    // Another process's checkpoint takes as long as a flush; one that is stopped in it must not hold this one up.
    let isTurn = try? waitForResult(
      until: .after(Self.longestWaitForLeaving), pausing: { _ in pause(microseconds: 1_000) },
      { () throws -> Bool? in try checkpointLock.tryAcquire(.exclusive) ? true : nil })
    guard isTurn != nil else { return }
    defer { checkpointLock.release() }
    guard !isFailed, (try? presence.tryAcquire(.exclusive)) == true else { return }
    defer { presence.release() }
    try? cleanUnused()
  }

  private static let longestWaitForLeaving = Duration.seconds(2)

  /// Marks a file clean that nobody has open.
  private func cleanUnused() throws {
    let published = try published()
    guard published.header.state == .dirty else { return }
    var header = published.header
    header.steadyTransaction = try MetaPage.latest(of: DataFileReader(descriptor: dataFile)).transactionID
    try markClean(after: (header, published.slot), at: header.position)
  }
}
