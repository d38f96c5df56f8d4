/// How a hub serves.
package struct HubConfiguration: Sendable {
  /// Who may create an account.
  package enum Registration: Hashable, Sendable {
    /// Everybody, unless there are issuers of tokens.
    case open
    /// Those who have this text.
    case secret(String)
  }

  /// Who may create an account.
  package var registration = Registration.open
  /// Whose tokens open an account, too; only their users and those with the secret have one then.
  package var issuers: HubIssuers?
  /// How many bytes each space of a new account may have.
  package var spaceLimitInBytes = 1 << 30
  /// How many requests of one member are answered in a row, and how many more each second.
  package var burst = 600.0, requestsPerSecond = 60.0
  /// The same for requests of one address without a token: new accounts, wrong invitations and wrong recovery codes.
  package var burstOfStrangers = 100.0, requestsOfStrangersPerSecond = 10.0

  /// How many bytes of requests and answers of one member, and of all, may be in memory; the only request may have more.
  package var bytesInFlightOfMember = 24 << 20, bytesInFlight = 96 << 20
  /// How many requests of one member may wait for a change at the same time.
  package var mostWaits = 100

  /// How many spaces an account may have.
  package var mostSpaces = 100
  /// How many devices of a space may have a card.
  package var mostCards = 1_000
  /// When a connection is closed on which nothing arrives; a request that waits for its answer may take longer.
  package var idleTimeout = Duration.seconds(75)
  /// When a connection is closed whose request has not arrived as a whole.
  package var bodyTimeout = Duration.seconds(120)
  /// Who learns of new segments.
  package var webhook: HubWebhook?

  /// Creates the defaults.
  package init() {}
}
