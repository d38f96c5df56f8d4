package import SystemPackage

#if canImport(Darwin)
  import Darwin
#endif

/// Recognises filesystems whose memory maps and locks are not coherent between machines, or not at all.
package enum RemoteFilesystem {
  /// Whether a path that exists lies on such a filesystem.
  ///
  /// Linux names the type of each mounted filesystem in `/proc/self/mountinfo` (proc(5)); Swift does not
  /// import glibc's `statfs`, which has it as a number. Where nothing can be learned the answer is no.
  package static func contains(_ path: FilePath) -> Bool {
    #if canImport(Darwin)
      var information = statfs()
      // The call only writes into the local it is given.
      let result = unsafe path.withPlatformString { path in unsafe statfs(path, &information) }
      return result == 0 && information.f_flags & UInt32(MNT_LOCAL) == 0
    #else
      guard let device = try? path.stat().deviceID.rawValue,
        let file = try? FileDescriptor.open(FilePath("/proc/self/mountinfo"), .readOnly, options: .closeOnExec),
        let mounts = try? file.closeAfter({ try file.readToEnd() })
      else { return false }
      return type(ofDevice: UInt64(device), in: String(decoding: mounts, as: UTF8.self)).map(isRemote) ?? false
    #endif
  }

  /// The type of the filesystem with a device number, in the lines of a `mountinfo` file.
  ///
  /// A line's third word is the device as `major:minor`; the type is the word after a lone dash.
  package static func type(ofDevice device: UInt64, in mounts: String) -> String? {
    let major = (device >> 8) & 0xFFF | (device >> 32) & ~0xFFF
    let minor = device & 0xFF | (device >> 12) & ~0xFF
    let number = "\(major):\(minor)"
    // By bytes: to look for characters takes longer than everything else of opening a store.
    for line in mounts.utf8.split(separator: UInt8(ascii: "\n")) {
      let words = line.split(separator: UInt8(ascii: " "))
      guard words.count > 2, words[2].elementsEqual(number.utf8),
        let dash = words.firstIndex(where: { $0.elementsEqual("-".utf8) })
      else { continue }
      return words.dropFirst(dash + 1).first.map { String(Substring($0)) }
    }
    return nil
  }

  /// Whether filesystems of a type lie on another machine or are served by another program.
  package static func isRemote(type: String) -> Bool {
    type.hasPrefix("fuse") || remoteTypes.contains(type)
  }

  private static let remoteTypes: Set<String> = [
    "9p", "afs", "ceph", "cifs", "coda", "gfs2", "glusterfs", "lustre", "ncpfs", "nfs", "nfs4", "ocfs2", "smb3",
    "smbfs", "virtiofs",
  ]
}
