package import LMDB
package import SystemPackage
import TallySystem

/// The files that make a directory a store, and that only the store may write.
package enum StoreFiles {
  /// Whether a path leads to a file of a store, or to a place that is reserved for one.
  ///
  /// It may do so by its name in a store's directory, by a symbolic link, or by another name (hard link) of the file.
  ///
  /// - Parameters:
  ///   - path: The path.
  ///   - directory: The directory of a store, whose files may have names elsewhere, too.
  /// - Returns: Whether it does.
  package static func contain(_ path: FilePath, ofStoreAt directory: FilePath? = nil) -> Bool {
    let paths = [path] + (SystemCalls.resolvingLinks(path).map { [$0] } ?? [])
    let isNamedSo = paths.contains { path in
      path.lastComponent.map { StoreOpening.storeNames.contains($0.string) } == true && isStore(path.parentOrCurrent)
    }
    guard !isNamedSo, let identity = try? FileIdentity(of: path) else { return isNamedSo }
    let directories = paths.map(\.parentOrCurrent).filter(isStore) + (directory.map { [$0] } ?? [])
    return directories.contains { directory in
      StoreOpening.storeNames.contains { (try? FileIdentity(of: directory.appending($0))) == identity }
    }
  }

  /// Throws `outputNotCreated` for a path that leads to a file of a store, because a process that has the store open
  /// would lose it.
  package static func refuseAsOutput(_ path: FilePath, ofStoreAt directory: FilePath? = nil) throws {
    guard contain(path, ofStoreAt: directory) else { return }
    throw TallyError.outputNotCreated("The output path is that of a file of a store")
  }

  /// Whether a name is one of those that operating systems and synchronisation tools create in any directory.
  ///
  /// A directory that contains nothing else counts as empty.
  package static func isClutter(_ name: String) -> Bool {
    clutter.contains(name.lowercased()) || ["._", ".trash-"].contains { name.lowercased().hasPrefix($0) }
  }

  /// The names, in lower case because some filesystems ignore case.
  private static let clutter: Set = [
    // macOS.
    ".ds_store", ".localized", ".apdisk", ".fseventsd", ".spotlight-v100", ".temporaryitems", ".trashes",
    ".documentrevisions-v100", ".volumeicon.icns", ".com.apple.timemachine.donotpresent", "icon\r",
    // Windows.
    "thumbs.db", "ehthumbs.db", "ehthumbs_vista.db", "desktop.ini", "$recycle.bin", "system volume information",
    // Linux.
    ".directory", "lost+found", ".trash", ".hidden",
    // Syncthing, Dropbox, Nextcloud, Synology.
    ".stfolder", ".stignore", ".stversions", ".dropbox", ".dropbox.attr", ".dropbox.cache", ".sync",
    ".owncloudsync.log", "@eadir",
  ]

  /// Whether a path leads to the data file in a store's directory, which has locks, unlike a published snapshot.
  package static func isLive(_ path: FilePath) -> Bool {
    [path, SystemCalls.resolvingLinks(path) ?? path].map(\.parentOrCurrent).contains { directory in
      let isLocked = [StoreAccess.fileName, StoreOpening.lockFileName].contains { name in
        (try? directory.appending(name).stat()) != nil
      }
      let dataFile = directory.appending(StoreOpening.dataFileName)
      return isLocked && (try? FileIdentity(of: dataFile) == FileIdentity(of: path)) == true
    }
  }

  private static func isStore(_ directory: FilePath) -> Bool {
    (try? directory.appending(StoreOpening.dataFileName).stat()) != nil
  }
}

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

  /// The ends of the names of a data file, and of a log that could not be brought into it.
  package static let dataType = "mdb"
  package static let logType = "log"
  private static let maximumAttempts = 100

  /// Gives a file a second name (hard link) on the same filesystem, made of the reason and the instant.
  package static func create(
    _ file: FilePath, because reason: Reason, in directory: FilePath, at now: Timestamp, type: String = dataType
  ) throws(Errno) -> FilePath {
    let instant = now.iso8601.prefix { $0 != "." && $0 != "Z" }.filter { $0 != "-" && $0 != ":" }
    var attempt = 1
    while true {
      let suffix = attempt == 1 ? "" : "-\(attempt)"
      let kept = directory.appending("\(reason.rawValue)-\(instant)Z\(suffix).\(type)")
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
    [dataType, logType].contains { name.hasSuffix(".\($0)") }
      && Reason.allCases.contains { name.hasPrefix($0.rawValue) }
  }
}

/// Records whose bytes could not be read, moved here by a repair so that views work again and nothing is lost.
///
/// The first repair that needs the table creates it. The key is the name of the record's table, a zero byte and the
/// record's key; the value is the record with its bytes unchanged.
package struct SetAsideTable {
  package let rows: Database<[UInt8], [UInt8]>

  /// Stored: do not change.
  package static let name = "setAside"
  /// The longest key that liblmdb can store, in bytes.
  private static let maximumKeyByteCount = 511

  /// Opens the table; `nil` if no repair has created it yet.
  package init?(openingIn environment: LMDBEnvironment) throws(LMDBError) {
    do throws(LMDBError) {
      rows = try Database(opening: Self.name, in: environment)
    } catch {
      guard error.code == .databaseNotFound else { throw error }
      return nil
    }
  }

  /// Opens the table, and creates it if necessary.
  package init(creatingIn transaction: inout WriteTransaction) throws(LMDBError) {
    rows = try Database(opening: Self.name, creating: true, in: &transaction)
  }

  /// Stores a record with any bytes.
  package func put(_ record: [UInt8], of table: String, key: [UInt8], in transaction: inout WriteTransaction)
    throws(LMDBError)
  {
    // No key of Tally's is so long that it would be cut; a damaged key carries no information.
    let key = (Array(table.utf8) + [0] + key).prefix(Self.maximumKeyByteCount)
    try rows.put(record, forKey: Array(key), in: &transaction)
  }
}
