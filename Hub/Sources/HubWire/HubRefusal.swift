/// What a hub says about a refusal, besides its status and the message for people.
package enum HubRefusal {
  /// The header field.
  package static let fieldName = "Tally-Refusal"
  /// Its value if the token belongs to a revoked member.
  package static let revoked = "revoked"
}
