import Foundation
import TallyFormats
import TallyTestSupport
import Testing

@testable import Tally

/// Broken documents: a typed error with its place, and an unchanged store.
struct FormatFaultTests {
  @Test(
    arguments: [
      (DocumentFormat.taskwarrior, "[1]", TallyError.Code.malformedDocument, "no tasks", 1, 1),
      (.taskwarrior, "[{\"a\":1,\"a\":2}]", .malformedDocument, "twice", 1, 9),
      (.taskwarrior, "[{\"uuid\":", .malformedDocument, "ends too early", 1, 10),
      (.ical, "SUMMARY:a\r\n", .malformedDocument, "BEGIN:VCALENDAR", 1, 1),
      (.ical, "BEGIN:VCALENDAR\nBEGIN:VTODO\nSUMMARY:a\n", .malformedDocument, "cut off", 2, 1),
      (.ical, "BEGIN:VCALENDAR\nBEGIN:VTODO\nEND:VEVENT\n", .malformedDocument, "no BEGIN", 3, 1),
      (.csv, "amount,place\na,b\n", .malformedDocument, "name of a title", 1, 1),
      (.csv, "text\n\"a\n", .malformedDocument, "not closed", 2, 1),
      (.todoist, "A,B\n", .malformedDocument, "TYPE", 1, 1),
      (.ticktick, "A,B\n", .malformedDocument, "List Name", 1, 1),
      (.markdown, "Some words\n", .malformedDocument, "no tasks", 1, 1),
      (.org, "Some words\n* A heading\n", .malformedDocument, "no tasks", 1, 1),
    ] as [(DocumentFormat, String, TallyError.Code, String, Int, Int)])
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

  /// The stored forms count bytes of names and tags in two bytes, but a document may have any number of them.
  @Test(arguments: [("attributes", "{\"\"b\"\":\"\"c\"\"}"), ("tags", "[\"\"b\"\"]")])
  func aNameOrTagOfAnyLengthIsLeftOutBesideTheExtension(field: String, exact: String) throws {
    let long = String(repeating: "x", count: 70_000)
    let (column, cell) = field == "tags" ? ("tags", long) : (long, "y")
    try withStore { (store: TaskStore) throws in
      try store.importText("text,\(column),tally\na,\(cell),\"{\"\"\(field)\"\":\(exact)}\"\n", as: .csv)
      #expect(try store.tasks.map(\.title) == ["a"])
    }
  }

  /// Bytes that are not UTF-8 are read as Windows wrote them, and named.
  @Test(arguments: [
    (DocumentFormat.todotxt, "", "b"), (.ical, "BEGIN:VCALENDAR\nBEGIN:VTODO\nSUMMARY:", "b"), (.csv, "text\n", "b"),
    (.markdown, "# a\n- [ ] ", "b"), (.org, "* TODO ", "b"),
  ])
  func bytesThatAreNotUTF8AreReadAndNamed(format: DocumentFormat, head: String, title: String) throws {
    let end = format == .ical ? "\nEND:VTODO\nEND:VCALENDAR\n" : "\n"
    try withStore { (store: TaskStore) throws in
      let bytes = Array((head + title).utf8) + [0xFC, 0x80] + Array(end.utf8)
      let summary = try store.importBytes(bytes, as: format)
      #expect(summary.account.map(\.kind) == ["encoding"])
      #expect(try store.tasks.map(\.title) == ["b\u{FC}\u{20AC}"])
    }
  }

  @Test(arguments: [true, false])
  func utf16IsReadByItsMark(isBigEndian: Bool) throws {
    let units = "\u{FEFF}title,due\nCafé 𝄞,2026-12-24\n".utf16
    let bytes = units.flatMap {
      isBigEndian ? [UInt8($0 >> 8), UInt8($0 & 0xFF)] : [UInt8($0 & 0xFF), UInt8($0 >> 8)]
    }
    try withStore { (store: TaskStore) throws in
      #expect(try store.importBytes(bytes, as: nil).account.isEmpty)
      #expect(try store.tasks.map(\.title) == ["Café 𝄞"])
    }
  }

  @Test(arguments: [
    "root:x:0:0:root:/root:/bin/bash\ndaemon:x:1:1:daemon:/usr/sbin:/usr/sbin/nologin\n",
    "#!/bin/sh\necho hello\n", "int main(void) {\n  return 0;\n}\n", "[core]\nbare = false\n[user]\nname = A\n",
    "2026-01-01 10:00:01 INFO start\n2026-01-01 10:00:02 INFO end\n", "Jan  3 10:00:00 host kernel: up\n",
    "<!DOCTYPE html>\n<html>\n</html>\n", "a\u{0}b\n", "127.0.0.1 - - [10/Oct/2026] \"GET / HTTP/1.0\" 200\n",
    "a\tb\tc\td\n1\t2\t3\t4\n",
  ])
  func aTextThatIsNoListOfTasksIsRefused(text: String) throws {
    try withStore { (store: TaskStore) throws in
      #expect(throws: TallyError.self) { try store.importText(text, as: nil) }
      #expect(try store.tasks.isEmpty)
    }
  }

  @Test(arguments: [
    "Buy milk\nCall Ann: about the car\n", "(A) a +b\n", "x 2026-01-01 done\n", "Milk\nEggs\nBread; butter\n",
  ])
  func linesOfTasksAreTaken(text: String) throws {
    try withStore { (store: TaskStore) throws in
      try store.importText(text, as: nil)
      #expect(try store.tasks.count == text.split(separator: "\n").count)
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
