import Foundation
import Synchronization
import SystemPackage

/// The files of the tz database, read once each.
///
/// A file that changes while the process runs is not read again, as with Foundation and the C library.
final class TimeZoneDatabase: Sendable {
  /// The database of the system: where `TZDIR` says (tzset(3)), or one of the usual places.
  static let system = TimeZoneDatabase(
    directories: [ProcessInfo.processInfo.environment["TZDIR"]].compactMap { $0 } + [
      "/usr/share/zoneinfo", "/usr/lib/zoneinfo", "/usr/share/lib/zoneinfo", "/etc/zoneinfo",
    ])

  private let directories: [FilePath]
  private let tables = Mutex<[String: TimeZoneTable?]>([:])

  /// A database of the first of some directories that has a zone.
  init(directories: [String]) {
    self.directories = directories.map { FilePath($0) }
  }

  /// The table of a zone; `nil` where no file, or none that can be understood, has its name.
  ///
  /// - Complexity: a lookup; the first one of a name reads a file.
  func table(named name: String) -> TimeZoneTable? {
    tables.withLock { tables in
      if let known = tables[name] { return known }
      let table = read(name)
      tables[name] = .some(table)
      return table
    }
  }

  private func read(_ name: String) -> TimeZoneTable? {
    let path = FilePath(name)
    // A name stays within its directory.
    guard path.isRelative, !path.isEmpty, path.isLexicallyNormal, path.components.first?.kind == .regular else {
      return nil
    }
    for directory in directories {
      let file = URL(filePath: directory.pushing(path).string)
      if let data = try? Data(contentsOf: file) { return TimeZoneTable(tzif: [UInt8](data)) }
    }
    return nil
  }
}
