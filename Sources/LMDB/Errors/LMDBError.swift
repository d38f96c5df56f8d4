/// What went wrong in the binding or in liblmdb, in words for a person and as a code for a program.
///
/// No key and no value ever appears in an error: they may be private.
public struct LMDBError: Error, Sendable {
  /// What kind of failure this is; compare it with the constants.
  public var code: Code { storage.code }
  /// The operation, such as `put` or `begin write`.
  public var operation: String { storage.operation }
  /// The fault, as one sentence without a full stop.
  public var message: String { storage.message }
  /// The remedy, as one sentence without a full stop.
  public var remedy: String { storage.remedy }
  /// The code liblmdb or the system returned; 0 if the binding found the fault itself.
  public var returnCode: Int32 { storage.returnCode }
  /// The error that caused this one, such as a decoder's without the values that it quoted.
  public var cause: (any Error)? { storage.cause }

  /// One word instead of five fields: an error of this size travels in a register, so that functions which throw it
  /// cost their callers nothing while nothing is thrown.
  private let storage: Storage

  /// Creates an error; texts that are left out are those of the code.
  public init(
    _ code: Code,
    operation: String,
    message: String? = nil,
    remedy: String? = nil,
    returnCode: Int32 = 0,
    cause: (any Error)? = nil
  ) {
    storage = Storage(
      code: code,
      operation: operation,
      message: message ?? code.message,
      remedy: remedy ?? code.remedy,
      returnCode: returnCode,
      cause: cause
    )
  }

  private final class Storage: Sendable {
    let code: Code
    let operation: String
    let message: String
    let remedy: String
    let returnCode: Int32
    let cause: (any Error)?

    init(
      code: Code, operation: String, message: String, remedy: String, returnCode: Int32, cause: (any Error)?
    ) {
      self.code = code
      self.operation = operation
      self.message = message
      self.remedy = remedy
      self.returnCode = returnCode
      self.cause = cause
    }
  }
}

extension LMDBError: CustomStringConvertible {
  /// The operation, the message, then the remedy.
  public var description: String {
    let suffix = returnCode == 0 ? "" : " [\(returnCode)]"
    return "\(operation): \(message)\(suffix). \(remedy)."
  }
}

extension LMDBError {
  /// The error of a codec that was given bytes it did not write.
  public static func undecodable(_ type: String, byteCount: Int, cause: (any Error)? = nil) -> LMDBError {
    LMDBError(
      .undecodable, operation: "decode", message: "\(byteCount) bytes are not an encoded \(type)", cause: cause)
  }
}
