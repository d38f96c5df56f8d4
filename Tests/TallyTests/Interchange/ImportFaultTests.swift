import Foundation
import TallyTestSupport
import Testing

@testable import Tally

/// Broken documents: a typed error with its place, and an unchanged store.
struct ImportFaultTests {
  private static let id = "00000000-0000-0000-0000-0000000000a1"

  @Test(
    arguments: [
      (#"{}"#, TallyError.Code.malformedDocument, "no text", 1),
      (#"{"text":"a","text":"b"}"#, .malformedDocument, "text appears twice", 13),
      (#"{"text":1}"#, .malformedDocument, "text is not a text", 9),
      (#"{"text":null}"#, .malformedDocument, "text is not a text", 9),
      (#"{"text":["a"]}"#, .malformedDocument, "text is not a text", 9),
      (#"{"text":" \t"}"#, .blankTitle, "empty", 1),
      (#"{"text":"a","titel":"b"}"#, .unknownKey, "titel", 13),
      (#"{"text":"a","my secret diary":"b"}"#, .unknownKey, "The key is not", 13),
      (#"{"text":"a","id":"x"}"#, .malformedDocument, "id is not a UUID", 18),
      (#"{"text":"a","id":null}"#, .malformedDocument, "id is not a UUID", 18),
      (#"{"text":"a","state":"done"}"#, .invalidState, "state", 21),
      (#"{"text":"a","state":"completed"}"#, .inconsistentTask, "no completion time", 1),
      (#"{"text":"a","state":"active","completedAt":"2026-01-01T00:00:00Z"}"#, .inconsistentTask, "not completed", 1),
      (#"{"text":"a","createdAt":"2026-02-30T00:00:00Z"}"#, .invalidInstant, "createdAt", 25),
      (#"{"text":"a","createdAt":1234567890}"#, .malformedDocument, "createdAt is not an instant", 25),
      (#"{"text":"é","completedAt":"2026-01-01T00:00:00"}"#, .invalidInstant, "offset", 27),
      (#"{"text":"a","updatedAt":"0000-01-01T00:00:00Z"}"#, .valueOutOfRange, "updatedAt", 25),
      (#"{"text":"a","scheduledDate":"2026-13-01"}"#, .invalidDay, "scheduledDate", 29),
      (#"{"text":"a","sortOrder":1.5}"#, .malformedDocument, "sortOrder is not an integer", 25),
      (#"{"text":"a","sortOrder":9007199254740992}"#, .valueOutOfRange, "sort order", 1),
      (#"{"text":"a","listID":"00000000-0000-0000-0000-0000000000ff"}"#, .unknownList, "neither", 1),
      (
        #"{"text":"a","attributes":{"x":{"day":"2026-01-01","instant":"2026-01-01T00:00:00Z"}}}"#, .malformedDocument,
        "more than one of", 51
      ),
      (
        #"{"text":"a","tags":["# + (0..<65).map { "\"\($0)\"" }.joined(separator: ",") + "]}", .malformedDocument,
        "more than 64 tags", 331
      ),
      (#"["text"]"#, .malformedDocument, "object is expected", 1),
      (#""text""#, .malformedDocument, "object is expected", 1),
    ] as [(String, TallyError.Code, String, Int)])
  func brokenLinesAreNamedWithTheirPlace(line: String, code: TallyError.Code, message: String, column: Int) throws {
    let good = #"{"id":"00000000-0000-0000-0000-0000000000b1","text":"good"}"#
    try expectFault("\(good)\n\n\(line)\n", .ndjson, code, message, TextPosition(line: 3, column: column))
  }

  @Test(
    arguments: [
      ("[]", TallyError.Code.malformedDocument, "not an object", 1, 1),
      ("{}", .malformedDocument, "neither a schemaVersion nor tasks", 1, 2),
      (#"{"schemaVersion":3}"#, .newerFormat, "schema version 3", 1, 18),
      (#"{"schemaVersion":0}"#, .malformedDocument, "schema version 0", 1, 18),
      (#"{"schemaVersion":"1"}"#, .malformedDocument, "schemaVersion is not an integer", 1, 18),
      (#"{"schemaVersion":1,"tasks":{}}"#, .malformedDocument, "tasks is not an array", 1, 28),
      (#"{"schemaVersion":1,"tasks":[],"tasks":[]}"#, .malformedDocument, "tasks appears twice", 1, 31),
      (#"{"schemaVersion":1,"tasks":[1]}"#, .malformedDocument, "object is expected", 1, 29),
      (#"{"schemaVersion":1,"exportDate":"today"}"#, .invalidInstant, "exportDate", 1, 33),
      (#"{"schemaVersion":1,"appVersion":1}"#, .malformedDocument, "appVersion is not a text", 1, 33),
      (#"{"schemaVersion":1,"lists":[{"name":"a"}]}"#, .malformedDocument, "no id", 1, 29),
      ("{\"schemaVersion\":1,\"lists\":[\n {\"id\":\"\(id)\"}]}", .malformedDocument, "no name", 2, 2),
      ("{\"schemaVersion\":1,\"lists\":[\n {\"id\":\"\(id)\",\"name\":\"\"}]}", .blankListName, "name", 2, 2),
      (
        "{\"schemaVersion\":1,\"lists\":[\n {\"id\":\"\(id)\",\"name\":\"a\",\"colorHex\":\"red\"}]}", .invalidColor,
        "colour", 2, 2
      ),
      (#"{"schemaVersion":1,"completions":[{}]}"#, .malformedDocument, "no taskID", 1, 35),
      (#"{"schemaVersion":1} {}"#, .malformedDocument, "after the end", 1, 21),
      (
        "{\"schemaVersion\":1,\"tasks\":[{\"id\":\"\(id)\",\"text\":\"a\"},\n{\"id\":\"\(id)\",\"text\":\"b\"}]}",
        .duplicateID,
        "twice", 2, 1
      ),
      (
        "{\"schemaVersion\":1,\"lists\":[{\"id\":\"\(id)\",\"name\":\"a\"},\n{\"id\":\"\(id)\",\"name\":\"b\"}]}",
        .duplicateID,
        "twice", 2, 1
      ),
      (
        "{\"tasks\":[\n{\"text\":\"a\",\"listID\":\"\(id)\"},\n{\"text\":\"b\",\"listID\":\"00000000-0000-0000-0000-0000000000a2\"}],"
          + "\"schemaVersion\":1}", .unknownList, id, 2, 1
      ),
    ] as [(String, TallyError.Code, String, Int, Int)])
  func brokenDocumentsAreNamedWithTheirPlace(
    document: String,
    code: TallyError.Code,
    message: String,
    line: Int,
    column: Int
  ) throws {
    try expectFault(document, .json, code, message, TextPosition(line: line, column: column))
  }

  @Test func everyTruncationIsATypedErrorAndChangesNothing() throws {
    try withStore { (store: TaskStore) throws in
      let bytes = Array(Self.smallDocument.utf8)
      for count in 0..<bytes.count {
        let error = #expect(throws: TallyError.self, "\(count) bytes") { try store.importBytes(Array(bytes[..<count])) }
        #expect(error?.position != nil, "\(count) bytes")
      }
      #expect(try store.read { try $0.taskCount + $0.listCount } == 0)
      #expect(try store.importBytes(bytes).tasks.added == 2)
    }
  }

  @Test func mutatedDocumentsNeverCrashNorLeaveAHalf() throws {
    var generator = SeededGenerator(seed: SeededGenerator.chooseSeed(for: "mutatedDocuments"))
    let document = Array(Self.smallDocument.utf8)
    try withStore { (store: TaskStore) throws in
      for _ in 0..<1_000 {
        var bytes = document
        bytes[Int.random(in: 0..<bytes.count, using: &generator)] = .random(in: 0...255, using: &generator)
        do {
          try store.importBytes(
            bytes,
            .json,
            ImportOptions(isDryRun: generator.oneIn(2), isLenient: generator.oneIn(2))
          )
        } catch let error as TallyError {
          #expect(error.position != nil, "\(error)")
        }
      }
    }
  }

  @Test func noErrorHoldsTextOfTheDocument() throws {
    let secret = "secret"
    let lines = [
      #"{"text":"secret","state":"secret"}"#, #"{"text":"secret","createdAt":"secret"}"#,
      #"{"text":"secret","id":"secret"}"#,
      #"{"text":"secret","state":"completed"}"#, #"{"text":"secret","scheduledDate":"secret"}"#, #"{"text":"secret"#,
      #"{"text":"secret" secret"#, #"{"this is a secret key":"secret"}"#,
    ]
    try withStore { (store: TaskStore) throws in
      for line in lines {
        let error = #expect(throws: TallyError.self) { try store.importText(line, .ndjson) }
        #expect(error.map { "\($0)" }?.contains(secret) == false)
      }
    }
  }

  /// Every kind of value once.
  private static let smallDocument = """
    {
      "exportDate": "2026-11-21T12:00:00Z", "appVersion": "1", "schemaVersion": 1,
      "lists": [{"id": "00000000-0000-7000-8000-0000000000b1", "name": "L", "colorHex": "007AFF", "sortOrder": 0,
        "createdAt": "2026-11-01T00:00:00Z", "updatedAt": "2026-11-01T00:00:00Z"}],
      "tasks": [
        {"id": "00000000-0000-7000-8000-0000000000a1", "text": "é\\uD83D\\uDE00\\n", "notes": null, "state": "completed",
          "listID": "00000000-0000-7000-8000-0000000000b1", "completedAt": "2026-11-02T00:00:00+03:00"},
        {"text": "水", "scheduledDate": "2026-11-21", "dueDate": "2026-11-22T00:00:00.5Z", "sortOrder": -1}
      ],
      "completions": [{"taskID": "00000000-0000-7000-8000-0000000000c1", "completedAt": "2026-10-01T00:00:00Z",
        "createdAt": "2026-09-01T00:00:00Z", "listID": null, "taskDeleted": true}]
    }
    """

  private func expectFault(
    _ document: String,
    _ format: InterchangeFormat,
    _ code: TallyError.Code,
    _ message: String,
    _ position: TextPosition
  ) throws {
    try withStore { (store: TaskStore) throws in
      try store.writeAndWait { _ = try $0.add("kept", to: .inbox) }
      let before = try store.exportedText()
      for isDryRun in [true, false] {
        let error = #expect(throws: TallyError.self) {
          try store.importText(document, format, ImportOptions(isDryRun: isDryRun))
        }
        #expect(error?.code == code)
        #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
        #expect(error?.position == position)
      }
      #expect(try store.exportedText() == before)
    }
  }
}
