import Foundation
import TallyFormats
import TallyTestSupport
import Testing

@testable import Tally

/// Broken documents: a typed error with its place, and an unchanged store.
struct FormatFaultTests {
  @Test(arguments: [
    (DocumentFormat.taskwarrior, "[{\"description\":\"a\"}]", TallyError.Code.malformedDocument, "no uuid", 1, 2),
    (.taskwarrior, "[\n{\"uuid\":\"x\"}]", .malformedDocument, "no uuid", 2, 1),
    (.taskwarrior, "[{\"uuid\":\"00000000-0000-4000-8000-000000000001\"}]", .malformedDocument, "no description", 1, 2),
    (
      .taskwarrior,
      "[{\"uuid\":\"00000000-0000-4000-8000-000000000001\",\"description\":\"a\",\"due\":\"soon\"}]",
      .invalidInstant, "due", 1, 2
    ),
    (.taskwarrior, "[1]", .malformedDocument, "object is expected", 1, 2),
    (.taskwarrior, "[{\"a\":1,\"a\":2}]", .malformedDocument, "twice", 1, 9),
    (.taskwarrior, "[{\"uuid\":", .malformedDocument, "ends too early", 1, 10),
    (.ical, "SUMMARY:a\r\n", .malformedDocument, "BEGIN:VCALENDAR", 1, 1),
    (.ical, "BEGIN:VCALENDAR\nBEGIN:VTODO\nSUMMARY:a\n", .malformedDocument, "cut off", 2, 1),
    (.ical, "BEGIN:VCALENDAR\nBEGIN:VTODO\nno colon\nEND:VTODO\n", .malformedDocument, "colon", 3, 1),
    (.ical, "BEGIN:VCALENDAR\nBEGIN:VTODO\nEND:VEVENT\n", .malformedDocument, "no BEGIN", 3, 1),
    (
      .ical, "BEGIN:VCALENDAR\nBEGIN:VTODO\nSUMMARY:a\nDUE;TZID=Nowhere:20260101T000000\nEND:VTODO\n", .invalidInstant,
      "TZID", 2, 1
    ),
    (.ical, "BEGIN:VCALENDAR\nBEGIN:VTODO\nSUMMARY:a\nDUE:soon\nEND:VTODO\n", .invalidInstant, "DUE", 2, 1),
    (.csv, "name\na\n", .malformedDocument, "text or title", 1, 1),
    (.csv, "text,text\na,b\n", .malformedDocument, "twice", 1, 6),
    (.csv, "text\n\"a\n", .malformedDocument, "not closed", 2, 1),
    (.csv, "text,id\n\"a\"b,\n", .malformedDocument, "closing quote", 2, 4),
    (.csv, "text\na,b\n", .malformedDocument, "more cells", 2, 1),
    (.csv, "text,dueDay\n\na,tomorrow\n", .invalidDay, "dueDay", 3, 1),
    (.csv, "text,id\na,7\n", .malformedDocument, "id", 2, 1),
    (.todoist, "A,B\n", .malformedDocument, "TYPE", 1, 1),
    (.todotxt, "a\nb tally:{\"text\":5}\n", .malformedDocument, "text is not a text", 2, 1),
  ])
  func aBrokenDocumentIsNamedWithItsPlace(
    format: DocumentFormat, text: String, code: TallyError.Code, message: String, line: Int, column: Int
  ) throws {
    try withStore { (store: TaskStore) throws in
      try store.writeAndWait { _ = try $0.add("kept", to: .inbox) }
      let before = try store.tasks
      for isDryRun in [true, false] {
        let error = #expect(throws: TallyError.self) {
          try store.importText(text, as: format, ImportOptions(isDryRun: isDryRun))
        }
        #expect(error?.code == code && error?.message.contains(message) == true, "\(error as Any)")
        #expect(error?.position?.line == line, "\(error as Any)")
        #expect(error?.position?.column == column, "\(error as Any)")
      }
      #expect(try store.tasks == before)
    }
  }

  @Test(arguments: [DocumentFormat.todotxt, .ical, .csv, .markdown])
  func bytesThatAreNotUTF8AreNamed(format: DocumentFormat) throws {
    let head: [DocumentFormat: String] = [
      .ical: "BEGIN:VCALENDAR\n", .csv: "text\n", .todotxt: "a\n", .markdown: "# a\n",
    ]
    try withStore { (store: TaskStore) throws in
      let bytes = Array((head[format] ?? "").utf8) + [UInt8(ascii: "b"), 0xFF, UInt8(ascii: "\n")]
      let error = #expect(throws: TallyError.self) { try store.importBytes(bytes, as: format) }
      #expect(error?.message.contains("UTF-8") == true && error?.position?.line == 2)
    }
  }

  @Test(arguments: FormatRoundTripTests.formats)
  func changedDocumentsEndInTasksOrATypedErrorWithAPlace(format: DocumentFormat) throws {
    var generator = SeededGenerator(seed: SeededGenerator.chooseSeed(for: "changed \(format)"))
    try withStore { source in
      try source.writeAndWait { transaction in
        let list = try transaction.addList(name: "Home")
        for number in 0..<8 {
          try transaction.insert(contentsOf: [try FormatRoundTripTests.task(number, in: [list], using: &generator)])
        }
      }
      let document = Array(try source.exportedText(as: format).utf8)
      try withStore { (store: TaskStore) throws in
        for _ in 0..<200 {
          var bytes = document
          bytes[Int.random(in: 0..<bytes.count, using: &generator)] = .random(in: 0...255, using: &generator)
          if generator.oneIn(4) { bytes = Array(bytes.prefix(Int.random(in: 0..<bytes.count, using: &generator))) }
          do {
            try store.importBytes(bytes, as: format, ImportOptions(isDryRun: generator.oneIn(2), isLenient: true))
          } catch let error as TallyError {
            #expect(error.position != nil, "\(error)")
          }
        }
      }
    }
  }

  @Test(
    arguments: [
      ("{\"schemaVersion\":2", nil, DocumentFormat.json), ("{\"id\":1,\"text\":\"a\"}", nil, .ndjson),
      ("[{\"uuid\":", "json", .taskwarrior), ("{\"uuid\":\"\",\"description\":\"a\"}", "json", .taskwarrior),
      ("BEGIN:VCALENDAR", nil, .ical), ("TYPE,CONTENT", "csv", .todoist), ("text,notes", nil, .csv),
      ("a,b", "csv", .csv), ("- [ ] a", nil, .markdown), ("(A) a", nil, .todotxt), ("# a", "txt", .todotxt),
      ("\u{FEFF}\n BEGIN:VCALENDAR", nil, .ical), ("[]\n", nil, .taskwarrior), ("[\n]\n", "json", .taskwarrior),
      ("[", nil, .taskwarrior), ("[\"a\"]", nil, .taskwarrior), ("[] a", nil, .todotxt), ("[a] b", nil, .todotxt),
    ] as [(String, String?, DocumentFormat)])
  func aFormatIsGuessed(text: String, fileExtension: String?, format: DocumentFormat) {
    #expect(DocumentFormat(ofDocumentBeginningWith: Array(text.utf8), fileExtension: fileExtension) == format)
  }

  @Test func anEmptyExportOfTaskwarriorHasNoTasks() throws {
    try withStore { (store: TaskStore) throws in
      for text in ["[]", "[\n]\n"] {
        let summary = try store.importText(text, as: nil)
        #expect(summary == ImportSummary(), "\(text)")
      }
    }
  }

  @Test func todoistCannotBeExported() throws {
    try withStore { (store: TaskStore) throws in
      let error = #expect(throws: TallyError.self) { try store.exportedText(as: .todoist) }
      #expect(error?.code == .outputNotCreated)
    }
  }
}
