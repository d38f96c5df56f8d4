import Foundation
package import SystemPackage
import TallySystem

/// The files of the tz database, read once each.
///
/// A file that changes while the process runs is not read again, as with Foundation and the C library.
package final class TimeZoneDatabase: Sendable {
  /// The database of the system: in the directory that `TZDIR` names (tzset(3)), or one of the usual places.
  package static let system = TimeZoneDatabase(
    // Only this variable: to read all of them takes longer than reading the zone. The system's copy is not changed.
    directories: [unsafe getenv("TZDIR").map { unsafe String(cString: $0) }].compactMap { $0 } + [
      "/usr/share/zoneinfo", "/usr/lib/zoneinfo", "/usr/share/lib/zoneinfo", "/etc/zoneinfo",
    ])

  private let directories: [FilePath]
  private let tables = Monitor<[String: TimeZoneTable?]>([:])

  /// A database that takes each zone from the first of some directories that has it.
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
    // Not lazily mapped: that would read the first file twice.
    for directory in directories {
      if let table = Self.table(at: directory.pushing(path)) { return table }
    }
    return nil
  }

  private static func table(at file: FilePath) -> TimeZoneTable? {
    // The largest zones have some kilobytes; a device or a pipe might never end.
    guard let status = try? file.stat(), status.type == .regular, status.size <= 1 << 20,
      let descriptor = try? FileDescriptor.open(file, .readOnly, options: .closeOnExec),
      let bytes = try? descriptor.closeAfter({ try descriptor.readToEnd() })
    else { return nil }
    return TimeZoneTable(tzif: bytes)
  }
}

extension TimeZoneDatabase {
  /// Whether there is a database at all.
  package var isThere: Bool { table(named: "Etc/UTC") != nil || table(named: "UTC") != nil }

  /// Whether a zone of this name is in the database.
  package func contains(_ name: String) -> Bool { table(named: name) != nil }

  /// The name of the zone that a file of the system is: one of the database, a link to one, or a copy of one.
  ///
  /// - Complexity: follows at most eight links; a copy is compared with every zone.
  package func name(ofFile file: FilePath) -> String? {
    var file = file.lexicallyNormalized()
    for _ in 0..<8 {
      if let name = name(ofFileWithin: file) { return name }
      guard let target = try? FileManager.default.destinationOfSymbolicLink(atPath: file.string) else { break }
      let path = FilePath(target)
      file = (path.isAbsolute ? path : file.removingLastComponent().pushing(path)).lexicallyNormalized()
    }
    guard let table = Self.table(at: file) else { return nil }
    // Debian notes the name of a copy here.
    let noted = (try? String(contentsOfFile: "/etc/timezone", encoding: .utf8))?.trimmingCharacters(in: .newlines)
    return ([noted].compactMap { $0 } + TimeZone.knownTimeZoneIdentifiers).first { self.table(named: $0) == table }
  }

  /// The directory of a second copy of all zones, where there is one.
  private static let posixPrefix = "posix/"

  private func name(ofFileWithin file: FilePath) -> String? {
    let path = file.string
    for directory in directories {
      // Compared as strings: views of components are a tenth of the work of a command's start.
      let start = directory.string + "/"
      guard path.hasPrefix(start) else { continue }
      var name = path.dropFirst(start.count)
      while name.hasPrefix(Self.posixPrefix) { name = name.dropFirst(Self.posixPrefix.count) }
      if TimeZone(identifier: String(name)) != nil, contains(String(name)) { return String(name) }
    }
    return nil
  }
}
