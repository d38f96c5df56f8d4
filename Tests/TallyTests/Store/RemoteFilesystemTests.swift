import SystemPackage
import TallySystem
import TallyTestSupport
import Testing

@testable import Tally

@Suite struct RemoteFilesystemTests {
  private let mounts = """
    22 28 0:21 / /sys rw,nosuid shared:7 - sysfs sysfs rw
    28 1 259:2 / / rw,relatime shared:1 - ext4 /dev/root rw
    91 28 0:44 / /mnt/share\\040one rw - nfs4 server:/export rw,vers=4.2
    92 28 0:45 / /mnt/phone rw shared:9 master:2 - fuse.sshfs me@phone:/ rw
    93 28 4095:1048575 / /mnt/big rw - xfs /dev/big rw
    broken line
    """

  @Test func theTypeOfADeviceStandsBehindTheDash() {
    #expect(type(major: 259, minor: 2) == "ext4")
    #expect(type(major: 0, minor: 44) == "nfs4")
    #expect(type(major: 0, minor: 45) == "fuse.sshfs")
    #expect(type(major: 4_095, minor: 1_048_575) == "xfs")
    #expect(type(major: 0, minor: 99) == nil)
    #expect(RemoteFilesystem.type(ofDevice: 5, in: "") == nil)
  }

  @Test(arguments: ["nfs", "nfs4", "cifs", "smb3", "9p", "ceph", "lustre", "fuse.sshfs", "fuse"])
  func filesystemsOfOtherMachinesAreRemote(type: String) {
    #expect(RemoteFilesystem.isRemote(type: type))
  }

  @Test(arguments: ["ext4", "xfs", "btrfs", "zfs", "tmpfs", "overlay", "f2fs", "apfs"])
  func filesystemsOfThisMachineAreNot(type: String) {
    #expect(!RemoteFilesystem.isRemote(type: type))
  }

  @Test func theDirectoryOfTheTestsIsLocal() throws {
    try withTemporaryDirectory { #expect(!RemoteFilesystem.contains($0)) }
  }

  /// The device number as the kernel's `makedev` packs it.
  private func type(major: UInt64, minor: UInt64) -> String? {
    let device = (major & 0xFFF) << 8 | (major & ~0xFFF) << 32 | minor & 0xFF | (minor & ~0xFF) << 12
    return RemoteFilesystem.type(ofDevice: device, in: mounts)
  }
}
