/// The reason for a refusal in a header field, besides the status and the message for people.
package enum HubRefusal {
  /// The header field.
  package static let fieldName = "Tally-Refusal"
  /// Its value if the token belongs to a revoked member.
  package static let revoked = "revoked"
}
