import Foundation
import Hummingbird
import NIOCore
import Tally

/// The forms that have been sent, each with its answer, so that each of them changes the store once.
///
/// A form has a `key`, which its page or its script has drawn. A form that comes again with the same key and the same
/// fields, as after a second press, a lost answer or a retry, gets the answer of the first one; while that is in
/// progress, it waits. Refusals are not kept: the form can be sent again.
actor SentForms {
  /// How many answers are kept: a form comes again within seconds.
  static let keptAnswerCount = 256

  private var answers: [String: Task<Response, any Error>] = [:]
  /// Of the answers, oldest first.
  private var fingerprints: [String] = []

  /// Answers a form.
  ///
  /// - Parameters:
  ///   - fingerprint: Differs for each form that has another key or other fields.
  ///   - body: Answers it. It goes on if the browser leaves.
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

/// The imports of files, each with its outcome: one that is sent again after its answer was lost is not done twice.
actor SentImports {
  private var outcomes: [String: Task<[String: String], Never>] = [:]

  /// The outcome of an import; of one without a key, or that failed or asked before, the import is done.
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

  /// What distinguishes a form with a key from every other one; `nil` for a form without a key.
  func fingerprint(ofForm bytes: ByteBuffer) -> String? {
    let (view, name) = (bytes.readableBytesView, Array("key=".utf8))
    let hasKey = view.starts(with: name) || view.firstRange(of: Array("&".utf8) + name) != nil
    return hasKey ? "\(wantsJSON) \(uri.path) \(view.count) \(String(view.fnv1a, radix: 16))" : nil
  }
}

extension Form {
  /// The id of what the form creates, the same whenever the form is sent; `nil` for a form without a key.
  ///
  /// So nothing is created twice, even if the program that knew the answer has ended.
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
