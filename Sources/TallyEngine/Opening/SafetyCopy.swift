package import SystemPackage
import TallySystem

/// The old data file of a store that was restored, repaired or migrated, kept in the store's directory for its user.
///
/// It is a backup like any other, which `restore` can read. Only the user ever removes it.
package enum SafetyCopy {
  /// Why the copy was made; users see the names.
  package enum Reason: String, CaseIterable {
    case restore = "before-restore"
    case repair = "before-repair"
    case migration = "before-migration"
  }

  private static let maximumAttempts = 100

  /// Gives a file a second name (hard link) on the same filesystem, made of the reason and the instant.
  package static func create(
    _ file: FilePath, because reason: Reason, in directory: FilePath, at now: Timestamp
  ) throws(Errno) -> FilePath {
    let instant = now.iso8601.prefix { $0 != "." && $0 != "Z" }.filter { $0 != "-" && $0 != ":" }
    var attempt = 1
    while true {
      let suffix = attempt == 1 ? "" : "-\(attempt)"
      let kept = directory.appending("\(reason.rawValue)-\(instant)Z\(suffix).mdb")
      do throws(Errno) {
        assert(kept.lastComponent.map { isSafetyCopy($0.string) } == true, "the name is not one of a safety copy")
        try SystemCalls.link(file, as: kept)
        return kept
      } catch {
        // Another copy has this name, because it was made in the same second or because the clock has stopped.
        guard error == .fileExists, attempt < maximumAttempts else { throw error }
        attempt += 1
      }
    }
  }

  /// Whether a file with this name in a store's directory is a safety copy.
  package static func isSafetyCopy(_ name: String) -> Bool {
    name.hasSuffix(".mdb") && Reason.allCases.contains { name.hasPrefix($0.rawValue) }
  }
}
