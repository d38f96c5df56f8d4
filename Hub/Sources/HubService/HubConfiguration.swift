/// The settings of a hub's service.
package struct HubConfiguration: Sendable {
  /// Who may create an account.
  package enum Registration: Hashable, Sendable {
    /// Everybody, unless there are issuers of tokens.
    case open
    /// Only those who send this text.
    case secret(String)
  }

  /// Who may create an account.
  package var registration = Registration.open
  /// The issuers whose tokens open an account, too; if set, only their users and holders of the secret can have one.
  package var issuers: HubIssuers?
  /// How many bytes each space of a new account may have.
  package var spaceLimitInBytes = 1 << 30
  /// How many requests of one member are answered at once, and how many more each second.
  package var burst = 600.0, requestsPerSecond = 60.0
  /// The same for requests of one address without a token: new accounts, wrong invitations and wrong recovery codes.
  package var burstOfStrangers = 100.0, requestsOfStrangersPerSecond = 10.0

  /// The most bytes of requests and answers in memory, of one member and in total; a lone request may have more.
  package var bytesInFlightOfMember = 24 << 20, bytesInFlight = 96 << 20
  /// How many requests of one member may wait for a change at the same time.
  package var mostWaits = 100

  /// How many spaces an account may have.
  package var mostSpaces = 100
  /// How many devices of a space may have a card.
  package var mostCards = 1_000
  /// The time after which a connection on which nothing arrives is closed; a request that waits for its answer may take
  /// longer.
  package var idleTimeout = Duration.seconds(75)
  /// The time after which a connection is closed if its request has not arrived as a whole.
  package var bodyTimeout = Duration.seconds(120)
  /// The service that learns of new segments.
  package var webhook: HubWebhook?

  /// Creates the default settings.
  package init() {}
}
