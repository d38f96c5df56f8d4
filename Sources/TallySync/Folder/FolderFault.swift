public import SystemPackage
import TallySystem

/// Why the folder of a space could not be read or written.
public struct FolderFault: Error, Hashable, Sendable {
  /// What an embedder may want to distinguish.
  public enum Kind: Hashable, Sendable {
    /// The folder of the space is not there: a disk is not mounted, or the folder was moved.
    case unreachable
    /// The disk is full, or the user's share of it.
    case full
    /// The user may not read or write there.
    case notPermitted
    /// Something that was asked for is not in the folder, or only a part of it.
    case missing
    /// A space, a segment or a name cannot be stored.
    case invalid
    /// Anything else that the system reports.
    case failed
  }

  /// Which of the cases it is.
  public let kind: Kind
  /// The file or directory.
  public let path: FilePath
  /// What the system says, or the mistake; a part of a sentence.
  public let reason: String
}

extension FolderFault: CustomStringConvertible {
  /// A sentence for people.
  public var description: String {
    switch kind {
    case .unreachable: "The folder '\(path)' cannot be reached: \(reason)"
    case .full: "The disk of '\(path)' is full: \(reason)"
    case .notPermitted: "'\(path)' may not be used: \(reason)"
    case .missing: "'\(path)' is not there yet: \(reason)"
    case .invalid: "'\(path)' cannot be stored: \(reason)"
    case .failed: "'\(path)' could not be read or written: \(reason)"
    }
  }

  /// What to do about it.
  public var remedy: String {
    switch kind {
    case .unreachable: "Connect the disk or start the program that provides the folder; nothing was lost"
    case .full: "Free space on the disk; the rest is sent again later"
    case .notPermitted:
      "Users who share the folder need a group that may write in it. The owner of the folder runs: "
        + "chgrp -R GROUP \(quoted) && chmod -R g+rwX \(quoted) && find \(quoted) -type d -exec chmod g+s {} +"
    case .missing: "Wait until the folder has been copied to this device"
    case .invalid: "Report this as a fault of the program that stores it"
    case .failed: "Check the disk, then try again; the rest is sent again later"
    }
  }
}

extension FolderFault {
  /// The folder of the space that contains the path, or the path itself, quoted for a shell.
  private var quoted: String {
    var folder = path
    while let name = folder.lastComponent, !name.string.hasPrefix("tally-") { folder.removeLastComponent() }
    let shown = folder.lastComponent == nil ? path : folder
    return "'" + shown.string.replacing("'", with: "'\\''") + "'"
  }

  /// Takes what the system says about a path.
  init(_ error: Errno, at path: FilePath) {
    let kind: Kind =
      switch error {
      case .noSpace, .diskQuotaExceeded: .full
      case .permissionDenied, .notPermitted, .readOnlyFileSystem: .notPermitted
      case .noSuchFileOrDirectory: .missing
      default: .failed
      }
    self.init(kind: kind, path: path, reason: "\(error)")
  }

  /// Runs a body, and makes a fault of what the system says.
  static func at<R>(_ path: FilePath, _ body: () throws -> R) throws(FolderFault) -> R {
    try FolderFault.replacing(
      { error in (error as? FolderFault) ?? FolderFault(error as? Errno ?? .ioError, at: path) }, body)
  }
}
