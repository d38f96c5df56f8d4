import ArgumentParser
import Tally
import TallySync

/// `tally sync`: alone it synchronises now.
struct SyncCommand: SessionCommand {
  static let configuration = CommandConfiguration(
    commandName: "sync",
    abstract: "Keep this store the same as those of other devices, through a shared folder or a hub.",
    usage: "tally sync <subcommand> ...",
    discussion: """
      The folder is one that something else keeps the same on all devices: Syncthing, a network drive, a USB stick. \
      What Tally writes there is encrypted.

      EXAMPLES
        tally sync setup ~/Sync
        tally sync join tally-invite-… --at ~/Sync
        tally sync setup https://hub.example
        tally sync now
        tally sync run --service > ~/.config/systemd/user/tally-sync.service
      """,
    subcommands: withGlobalOptions([
      SyncSetupCommand.self, SyncInviteCommand.self, SyncJoinCommand.self, SyncNowCommand.self, SyncRunCommand.self,
      SyncStatusCommand.self, SyncMembersCommand.self, SyncRoleCommand.self, SyncRevokeCommand.self,
      SyncRecoveryCodeCommand.self, SyncMoveCommand.self, SyncStopCommand.self, SyncLeaveCommand.self,
      SyncDiffCommand.self, SyncApplyCommand.self,
    ])
  )

  func run(in session: Session) throws {
    try SyncNowCommand().run(in: session)
  }
}
