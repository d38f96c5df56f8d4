/// A flush that a disk forgets after the accounts have been made: each is a control, which must break.
enum LogOmission: String, CaseIterable {
  /// Nothing is forgotten.
  case nothing
  /// Those of the log.
  case log
  /// Those of the data file, its synchronous writes excepted.
  case tree
  /// The synchronous writes of the data file, which are its meta pages.
  case metaPages
  /// Those of the directory, so that a new log may be gone.
  case directory

  static let controls = allCases.filter { $0 != .nothing }
}

extension FileLog {
  /// The same events, where a disk forgets something.
  func forgetting(_ omission: LogOmission, in root: UInt64, since first: Int) -> FileLog {
    guard omission != .nothing else { return self }
    let (logs, trees) = (files(named: "log"), files(named: "data.mdb"))
    return FileLog(
      events.enumerated().map { index, event in
        guard index >= first else { return event }
        switch (omission, event) {
        case (.log, .flush(let inode, _)) where logs.contains(inode): return .beginningOfFlush
        case (.tree, .flush(let inode, _)) where trees.contains(inode): return .beginningOfFlush
        case (.directory, .flush(root, _)): return .beginningOfFlush
        case (.metaPages, .write(let inode, let offset, let bytes, true)) where trees.contains(inode):
          return .write(file: inode, offset: offset, bytes: bytes, isSynchronous: false)
        default: return event
        }
      })
  }

  /// Every file that has had a name.
  private func files(named name: String) -> Set<UInt64> {
    Set(
      events.compactMap { event in
        guard case .entry(_, name, let target, _) = event else { return nil }
        return target
      })
  }
}
