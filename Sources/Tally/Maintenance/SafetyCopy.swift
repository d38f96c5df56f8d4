import Foundation
import SystemPackage
import TallySystem

/// A store's file as it was before something replaced or mended it, kept in the store's directory for its user.
///
/// It is a backup like any other: `restore` takes it back. Nothing ever removes it but its user.
enum SafetyCopy {
  /// What the file was replaced by; the names are seen by users.
  enum Reason: String, CaseIterable {
    case restore = "before-restore"
    case repair = "before-repair"
    case migration = "before-migration"
  }

  private static let maximumAttempts = 100

  /// Gives a file of the same filesystem a second name, after the reason and the instant.
  static func create(
    _ file: FilePath, because reason: Reason, in directory: FilePath, at now: Timestamp
  ) throws(Errno) -> FilePath {
    let instant = now.iso8601.prefix { $0 != "." && $0 != "Z" }.filter { $0 != "-" && $0 != ":" }
    var attempt = 1
    while true {
      let suffix = attempt == 1 ? "" : "-\(attempt)"
      let kept = directory.appending("\(reason.rawValue)-\(instant)Z\(suffix).mdb")
      do throws(Errno) {
        try SystemCalls.link(file, as: kept)
        return kept
      } catch {
        // Of the same second, or by a clock that stands still.
        guard error == .fileExists, attempt < maximumAttempts else { throw error }
        attempt += 1
      }
    }
  }

  /// Whether a name in a store's directory is one of these.
  static func isSafetyCopy(_ name: String) -> Bool {
    name.hasSuffix(".mdb") && Reason.allCases.contains { name.hasPrefix($0.rawValue) }
  }
}
