import ArgumentParser
import Tally

/// `tally compact`.
struct CompactCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    commandName: "compact",
    abstract: "Return the space of deleted data to the disk.",
    usage: "tally compact [<options>]",
    discussion: """
      Replaces the store's file with a verified copy whose pages are full; until then the old file stays, so there must \
      be room for both. No other process may have the store open.

      With --plain, prints a line with these columns: bytesBefore, bytes.
      """
  )

  func run(in session: Session) throws {
    let summary = try Signals.deferringInterruption {
      try session.withVerificationProgress { progress in
        try TaskStore.compact(at: session.storePath, configuration: session.configuration, progress: progress)
      }
    }
    try session.answer(
      ["bytesBefore": .integer(summary.sizeBeforeInBytes), "bytes": .integer(summary.sizeInBytes)],
      plain: .record(["bytesBefore", "bytes"])
    ) {
      session.say("Compacted from \(summary.sizeBeforeInBytes.inBytes) to \(summary.sizeInBytes.inBytes).")
    }
  }
}
