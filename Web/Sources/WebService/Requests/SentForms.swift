import Foundation
import Hummingbird
import NIOCore
import Tally

/// The forms that were sent, with their answers, so that each form changes the store only once.
///
/// A form has a random `key` from its page or its script. A form with the same key and the same fields may arrive
/// again, after a second press, a lost answer or a retry. It then gets the answer of the first one, and waits while
/// that is in progress. Refusals are not kept, so a refused form can be sent again.
actor SentForms {
  /// How many answers are kept; a form that is sent again arrives within seconds.
  static let keptAnswerCount = 256

  private var answers: [String: Task<Response, any Error>] = [:]
  /// The fingerprints of the answers, oldest first.
  private var fingerprints: [String] = []

  /// Answers a form.
  ///
  /// - Parameters:
  ///   - fingerprint: Differs for each form that has another key or other fields.
  ///   - body: Answers the form; it continues if the browser leaves.
  /// - Returns: The answer, or the one that the form got before.
  /// - Throws: What the body throws.
  func answer(
    to fingerprint: String, _ body: @escaping @Sendable () async throws -> Response
  ) async throws -> Response {
    if let known = answers[fingerprint] { return try await known.value }
    let work = Task { try await body() }
    answers[fingerprint] = work
    fingerprints.append(fingerprint)
    if fingerprints.count > Self.keptAnswerCount { answers[fingerprints.removeFirst()] = nil }
    do {
      let response = try await work.value
      if response.status.code >= 400 { forget(fingerprint) }
      return response
    } catch {
      forget(fingerprint)
      throw error
    }
  }

  private func forget(_ fingerprint: String) {
    answers[fingerprint] = nil
    fingerprints.removeAll { $0 == fingerprint }
  }
}

/// The imports of files with their outcomes, so that an import is not done twice if its answer was lost.
actor SentImports {
  private var outcomes: [String: Task<[String: String], Never>] = [:]

  /// The outcome of an import; the import runs unless one with the same key has succeeded or is running.
  func answer(
    to key: String?, _ body: @escaping @Sendable () async -> [String: String]
  ) async -> [String: String] {
    guard let key else { return await body() }
    if let known = outcomes[key] { return await known.value }
    // One person imports few files; the outcomes are short.
    if outcomes.count >= SentForms.keptAnswerCount { outcomes.removeAll() }
    let work = Task { await body() }
    outcomes[key] = work
    let outcome = await withTaskCancellationHandler {
      await work.value
    } onCancel: {
      work.cancel()
    }
    if outcome["words"] == nil { outcomes[key] = nil }
    return outcome
  }
}

extension Request {
  /// Whether the body has the fields of a form.
  var hasForm: Bool { headers[.contentType]?.hasPrefix("application/x-www-form-urlencoded") == true }

  /// A text that distinguishes a form with a key from all others; `nil` for a form without a key.
  func fingerprint(ofForm bytes: ByteBuffer) -> String? {
    let (view, name) = (bytes.readableBytesView, Array("key=".utf8))
    let hasKey = view.starts(with: name) || view.firstRange(of: Array("&".utf8) + name) != nil
    return hasKey ? "\(wantsJSON) \(uri.path) \(view.count) \(String(view.fnv1a, radix: 16))" : nil
  }
}

extension Form {
  /// The id of what the form creates, the same whenever the form is sent; `nil` for a form without a key.
  ///
  /// So nothing is created twice, even if the program has been restarted and no longer knows the answer.
  var newID: UUID? {
    guard let key = self["key"].flatMap({ UUID(uuidString: $0) }) else { return nil }
    let text = fields.filter { $0.name != "confirmed" }.map { "\($0.name)=\($0.value)" }.joined(separator: "&")
    var (bytes, hash) = (key.uuid, text.utf8.fnv1a)
    // The last seven bytes are random in every version of UUIDs.
    withUnsafeMutableBytes(of: &bytes) { bytes in
      for index in 9..<16 {
        unsafe bytes[index] ^= UInt8(truncatingIfNeeded: hash)
        hash >>= 8
      }
    }
    return UUID(uuid: bytes)
  }
}
