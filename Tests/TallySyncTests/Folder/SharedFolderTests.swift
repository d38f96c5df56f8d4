import Foundation
import SystemPackage
import TallySystem
import TallyTestSupport
import TestSupport
import Testing

@testable import Tally
@testable import TallySync

/// Users of one machine who share the folder of a space.
struct SharedFolderTests {
  private func permissions(_ path: FilePath) throws -> UInt16 {
    UInt16(truncatingIfNeeded: try path.stat().permissions.rawValue)
  }

  private func descendants(of folder: FilePath) throws -> [FilePath] {
    try FileManager.default.subpathsOfDirectory(atPath: folder.string).map { folder.appending($0) }
  }

  /// Everything in a shared folder gets the group permissions of the folder, whatever the mask of the user who creates it.
  @Test(arguments: [0o2775, 0o2770, 0o775] as [Int]) func directoriesTakeThePermissionsOfTheFolder(mode: Int)
    async throws
  {
    try await withTemporaryDirectory { directory in
      let folder = directory.appending("folder")
      try SystemCalls.createDirectory(folder, permissions: FilePermissions(rawValue: numericCast(mode)))
      let store = try TaskStore(at: directory.appending("store"), configuration: .testing())
      _ = try await StoreSync(store).setUp(in: folder, deviceName: "first")
      try await store.write { _ = try $0.add("one", to: .inbox) }
      try await StoreSync(store).synchronize()
      for path in try descendants(of: folder) {
        let permissions = try permissions(path)
        if try path.stat().type == .directory {
          #expect(permissions & 0o777 == UInt16(mode & 0o777), "\(path)")
        } else {
          #expect(permissions & 0o040 != 0, "\(path)")
        }
      }
      try store.close()
    }
  }

  /// A user who may not write there learns it before the store belongs to the space.
  @Test func aFolderThatCannotBeWrittenIsNotJoined() async throws {
    // Root may write everywhere.
    guard geteuid() != 0 else { return }
    try await withTemporaryDirectory { directory in
      let space = try await FolderSpace(1, in: directory)
      try await space.sync(0).synchronize()
      let invitation = try await space.sync(0).invite()
      let id = try await space.sync(0).status().space
      let replicas = space.folder.appending("tally-\(id)").appending("replicas")
      try SystemCalls.changePermissions(replicas, to: [.ownerReadExecute])
      let other = try space.addStore()
      let error = await #expect(throws: TallyError.self) {
        try await StoreSync(other).join(invitation, in: space.folder, deviceName: "other")
      }
      #expect(error?.code == .syncUnreachable && error?.remedy.contains("chmod") == true)
      #expect(try await !StoreSync(other).isSetUp)
      try SystemCalls.changePermissions(replicas, to: [.ownerReadWriteExecute])
      try await StoreSync(other).join(invitation, in: space.folder, deviceName: "other")
      try space.close()
    }
  }

  @Test func aProbeThatFailsIsAFaultWithARemedy() async throws {
    try await withTemporaryDirectory { directory in
      let disk = FolderDisk { step in if step == .write { throw Errno.permissionDenied } }
      let transport = FolderTransport(at: directory, space: FolderFixture.space, disk: disk)
      try await transport.prepare()
      let fault = await #expect(throws: FolderFault.self) { try await transport.checkWritable() }
      #expect(fault?.kind == .notPermitted)
      let error = TallyError.unreachable(try #require(fault))
      #expect(error.remedy.contains("chmod -R g+rwX '\(directory)/tally-a5"), "\(error.remedy)")
      // The failed probe leaves nothing.
      #expect(try descendants(of: directory).count == 3)
      try await FolderTransport(at: directory, space: FolderFixture.space, disk: FolderDisk()).checkWritable()
      #expect(try descendants(of: directory).count == 3)
    }
  }
}
