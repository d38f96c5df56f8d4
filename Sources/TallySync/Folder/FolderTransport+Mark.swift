import Crypto
import SystemPackage

extension FolderTransport {
  /// A hash of the names, lengths and times of the files of a replica.
  ///
  /// - Parameter replica: This replica.
  /// - Returns: The hash.
  /// - Throws: `FolderFault` if the folder cannot be reached or read.
  public func mark(of replica: ReplicaID) async throws -> [UInt8]? {
    try await onQueue { transport in
      var lines: [String] = []
      for part in FolderListing.Part.allCases {
        for entry in try transport.listing.entries(part, of: replica) {
          lines.append("\(entry.name.text) \(entry.byteCount) \(entry.modified)")
        }
      }
      return Array(SHA256.hash(data: Array(lines.sorted().joined(separator: "\n").utf8)))
    }
  }
}
