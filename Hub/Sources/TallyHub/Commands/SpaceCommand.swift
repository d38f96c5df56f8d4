import ArgumentParser
import Foundation
import HubService
import HubStorage
import TallySync

/// `tally-hub space`.
struct SpaceCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "space", abstract: "List, erase and hand over spaces.",
    subcommands: [List.self, Erase.self, Give.self, Owner.self])

  struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "List the spaces in the order of their ids, an object of JSON on each line.")

    @OptionGroup var place: StoreOptions
    @Option(help: "List only the spaces of this account.") var account: String?

    func run() async throws {
      try await place.withStore { store in
        let known = if let account { try await store.knownAccount(account) as HubAccount? } else { HubAccount?.none }
        var last: SpaceID?
        repeat {
          let page = try await store.spaces(after: last, limit: 1_000)
          for space in page where known == nil || space.account == known?.id { try OperatorOutput.printLine(space) }
          last = page.last.flatMap { SpaceID($0.space) }
        } while last != nil
      }
    }
  }

  struct Erase: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Erase a space with everything in it.",
      discussion: "Its devices keep their tasks, and are refused from now on.")

    @OptionGroup var place: StoreOptions
    @Argument(help: "The id of the space.") var space: String

    func run() async throws {
      let id = try SpaceCommand.id(space)
      try await place.withStore { store in
        guard try await store.eraseSpace(id) else { throw ValidationError("The space is unknown.") }
      }
    }
  }

  struct Give: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Let another account answer for a space, with its limit of bytes.")

    @OptionGroup var place: StoreOptions
    @Argument(help: "The id of the space.") var space: String
    @Argument(help: "The account.") var account: String

    func run() async throws {
      let id = try SpaceCommand.id(space)
      try await place.withStore { store in
        let account = try await store.knownAccount(account)
        guard try await store.give(id, to: account) else { throw ValidationError("The space is unknown.") }
      }
    }
  }

  struct Owner: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Make the device with a replica an owner of its space.",
      discussion: """
        For a space whose only owner is lost together with the recovery code. The people of the space find the replica with \
        'tally sync members'. Make sure that they want this: an owner can shut out every other device.
        """)

    @OptionGroup var place: StoreOptions
    @Argument(help: "The id of the space.") var space: String
    @Argument(help: "The replica.") var replica: String

    func run() async throws {
      let id = try SpaceCommand.id(space)
      guard let replica = ReplicaID(replica) else { throw ValidationError("The replica has 32 hexadecimal digits.") }
      try await place.withStore { store in
        guard try await store.setRole(.owner, ofMemberOf: replica, in: id) != nil else {
          throw ValidationError("The space has no such replica, or it was revoked.")
        }
      }
    }
  }

  private static func id(_ text: String) throws -> SpaceID {
    guard let id = SpaceID(text) else { throw ValidationError("'\(text)' is not the id of a space.") }
    return id
  }
}
