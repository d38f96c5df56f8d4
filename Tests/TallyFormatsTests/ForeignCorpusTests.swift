import Foundation
import SystemPackage
import TallyFormats
import TallyTestSupport
import Testing

@testable import Tally

/// Documents of other programs, each with one fault at one of several places: none is refused, nothing else is lost, and
/// the account names exactly that fault.
struct ForeignCorpusTests {
  /// A fault of a format: what stands in place of a sound part, and the kinds that the account names.
  struct Fault: Sendable {
    var part: String
    var faulty: String
    var kinds: [String]
    /// Whether the part is one of the document and not of a task.
    var isOfDocument = false
  }

  /// A format with a sound task, which has the number of the task where it says `#`.
  struct Form: Sendable {
    var format: DocumentFormat
    var head: String
    var task: String
    var separator = ""
    var end = ""
    var faults: [Fault]

    /// A document of some tasks, of which one has the fault.
    func document(of count: Int, _ fault: Fault?, at place: Int) -> String {
      let tasks = (0..<count).map { number in
        let own = fault.map { !$0.isOfDocument && number == place ? replacing(task, $0) : task } ?? task
        return own.replacingOccurrences(of: "%", with: String(number))
      }
      let beginning = fault.map { $0.isOfDocument ? replacing(head, $0) : head } ?? head
      return beginning + tasks.joined(separator: separator) + end
    }

    private func replacing(_ text: String, _ fault: Fault) -> String {
      text.replacingOccurrences(of: fault.part, with: fault.faulty)
    }
  }

  static let forms: [Form] = [
    Form(
      format: .taskwarrior, head: "[",
      task: """
        {"uuid":"00000000-0000-4000-8000-00000000000%","description":"Task %","status":"pending","priority":"H",\
        "entry":"20260101T000000Z","due":"20270101T090000Z","tags":["home"]}
        """, separator: ",\n", end: "]\n",
      faults: [
        Fault(part: "20270101T090000Z", faulty: "next week", kinds: ["date"]),
        Fault(part: "20260101T000000Z", faulty: "", kinds: ["date"]),
        Fault(part: "\"H\"", faulty: "\"Z\"", kinds: ["priority"]),
        Fault(part: "pending", faulty: "odd", kinds: ["state"]),
        Fault(part: "[\"home\"]", faulty: "7", kinds: ["tag"]),
        Fault(part: "\"due\"", faulty: "\"until\"", kinds: ["until"]),
        Fault(part: "\"tags\"", faulty: "\"depends\"", kinds: ["depends"]),
      ]),
    Form(
      format: .ical, head: "BEGIN:VCALENDAR\r\nVERSION:2.0\r\n",
      task: """
        BEGIN:VTODO\r\nUID:task-%@example.org\r\nDTSTAMP:20260101T000000Z\r\nSUMMARY:Task %\r\nDTSTART;TZID=Europe/Berlin:20270101T090000\r\n\
        DUE:20270102T090000Z\r\nCATEGORIES:home\r\nRRULE:FREQ=WEEKLY\r\nSTATUS:NEEDS-ACTION\r\nEND:VTODO\r\n
        """, end: "END:VCALENDAR\r\n",
      faults: [
        Fault(part: "Europe/Berlin", faulty: "Customized Time Zone", kinds: ["zone"]),
        Fault(part: "TZID=Europe/Berlin", faulty: "TZID=\"(UTC+01:00) Berlin\"", kinds: ["zone"]),
        Fault(part: "TZID=Europe/Berlin", faulty: "TZID=W. Europe Standard Time", kinds: []),
        Fault(part: "20270102T090000Z", faulty: "2nd of January", kinds: ["date"]),
        Fault(part: "20270102T090000Z", faulty: "20271332T090000Z", kinds: ["date"]),
        Fault(part: ":home", faulty: ":#home,a\\,b", kinds: []),
        Fault(part: ":home", faulty: ":" + String(repeating: "x", count: 80), kinds: ["tag"]),
        Fault(part: "FREQ=WEEKLY", faulty: "FREQ=SECONDLY", kinds: ["recurrence"]),
        Fault(part: "FREQ=WEEKLY", faulty: "every week", kinds: ["recurrence"]),
        Fault(part: "NEEDS-ACTION", faulty: "PAUSED", kinds: ["state"]),
        Fault(part: "CATEGORIES:home", faulty: "no name and no value", kinds: ["line"]),
        Fault(part: "CATEGORIES:home", faulty: "LOCATION:Berlin", kinds: ["property"]),
        Fault(part: "CATEGORIES:home", faulty: "RELATED-TO;RELTYPE=SIBLING:x", kinds: ["relation"]),
        Fault(part: "CATEGORIES:home", faulty: "RELATED-TO:nowhere", kinds: ["parent"]),
        Fault(
          part: "CATEGORIES:home\r\n",
          faulty: "BEGIN:VALARM\r\nTRIGGER:19760401T005545Z\r\nX-APPLE-PROXIMITY:ARRIVE\r\nEND:VALARM\r\n",
          kinds: ["alarm"]),
      ]),
    Form(
      format: .csv, head: "Task name;Deadline;Done;Project;Priority;Labels;Repeat\n",
      task: "Task %;24.12.2026;no;Home;high;a,b;weekly", separator: "\n", end: "\n",
      faults: [
        Fault(part: "24.12.2026", faulty: "whenever", kinds: ["date"]),
        Fault(part: "24.12.2026", faulty: "32.12.2026", kinds: ["date"]),
        Fault(part: "24.12.2026", faulty: "12/24/2026", kinds: []),
        Fault(part: "24.12.2026", faulty: "24 Dec 2026", kinds: []),
        Fault(part: "24.12.2026", faulty: "2026-12-24T10:00:00+0100", kinds: []),
        Fault(part: "24.12.2026", faulty: "3/4/2026", kinds: ["date"]),
        Fault(part: ";no;", faulty: ";perhaps;", kinds: ["state"]),
        Fault(part: "high", faulty: "vital", kinds: ["priority"]),
        Fault(part: "weekly", faulty: "at full moon", kinds: ["recurrence"]),
        Fault(part: "weekly", faulty: "weekly;more", kinds: ["cell"]),
        Fault(part: "Home", faulty: "\"Home\" \"2\"", kinds: ["quote"]),
        Fault(part: "Project", faulty: "Estimate", kinds: ["column"], isOfDocument: true),
        Fault(part: "Project", faulty: "Deadline", kinds: ["column"], isOfDocument: true),
      ]),
    Form(
      format: .todoist, head: "TYPE,CONTENT,PRIORITY,INDENT,DATE,DATE_LANG\n",
      task: "task,Task % @home,1,1,every 2 weeks,en", separator: "\n", end: "\n",
      faults: [
        Fault(part: "every 2 weeks", faulty: "every full moon", kinds: ["recurrence"]),
        Fault(part: "every 2 weeks", faulty: "after lunch", kinds: ["date"]),
        Fault(part: "every 2 weeks,en", faulty: "jeden Montag,de", kinds: ["date"]),
        Fault(part: "every 2 weeks", faulty: "every mon starting 12 jan 2027", kinds: []),
        Fault(part: "task,", faulty: "task,", kinds: []),
      ]),
    Form(
      format: .ticktick,
      head:
        "\"Date: 2026-11-01+0000\"\n\"List Name\",\"Title\",\"Due Date\",\"Repeat\",\"Priority\",\"Status\",\"Timezone\"\n",
      task: "Home,Task %,2026-12-01T09:00:00+0000,RRULE:FREQ=WEEKLY,5,0,Europe/Berlin", separator: "\n", end: "\n",
      faults: [
        Fault(part: "2026-12-01T09:00:00+0000", faulty: "soon", kinds: ["date"]),
        Fault(part: "RRULE:FREQ=WEEKLY", faulty: "ERULE:NAME=CUSTOM", kinds: ["recurrence"]),
        Fault(part: ",5,0,", faulty: ",5,7,", kinds: ["state"]),
        Fault(part: "Europe/Berlin", faulty: "Mars/Olympus", kinds: ["zone"]),
      ]),
    Form(
      format: .todotxt, head: "", task: "(A) 2026-01-01 Task % +home @phone due:2026-12-24 rec:1w", separator: "\n",
      end: "\n",
      faults: [
        Fault(part: "due:2026-12-24", faulty: "due:soon", kinds: ["date"]),
        Fault(part: "due:2026-12-24", faulty: "due:2026-13-24", kinds: ["date"]),
        Fault(part: "due:2026-12-24", faulty: "t:never", kinds: ["date"]),
        Fault(part: "rec:1w", faulty: "rec:3b", kinds: ["recurrence"]),
        Fault(part: "rec:1w", faulty: "rec:often", kinds: ["recurrence"]),
        Fault(part: "rec:1w", faulty: "tally:{}}", kinds: ["extension"]),
      ]),
    Form(
      format: .markdown, head: "# Home\n\n", task: "- [ ] Task % #home due:2026-12-24", separator: "\n", end: "\n",
      faults: [
        Fault(part: "[ ]", faulty: "[?]", kinds: ["state"]), Fault(part: "[ ]", faulty: "[-]", kinds: []),
        Fault(part: "# Home", faulty: "# Home\n\nSome words", kinds: ["text"], isOfDocument: true),
        Fault(part: "# Home", faulty: "# Home\n\n- a plain item", kinds: ["text"], isOfDocument: true),
      ]),
    Form(
      format: .org, head: "* Home\n",
      task: "** TODO [#A] Task % :home:\n   DEADLINE: <2026-12-24 Thu ++1w>", separator: "\n", end: "\n",
      faults: [
        Fault(part: "2026-12-24 Thu ++1w", faulty: "next week", kinds: ["date"]),
        Fault(part: "+1w", faulty: "+2h", kinds: ["recurrence"]),
        Fault(part: "+1w", faulty: "+1w -3d", kinds: ["recurrence"]),
        Fault(part: "TODO", faulty: "WAITING", kinds: ["state"]), Fault(part: "#A", faulty: "#Q", kinds: ["priority"]),
        Fault(part: "* Home", faulty: "* Home\nSome words", kinds: ["text"], isOfDocument: true),
      ]),
  ]

  /// How many tasks a document has.
  private static let taskCount = 7

  @Test(arguments: forms.indices)
  func oneFaultCostsOneValueAndIsNamed(index: Int) throws {
    let form = Self.forms[index]
    var fileCount = 0
    for fault in form.faults {
      for place in fault.isOfDocument ? [0] : [0, 3, Self.taskCount - 1, Self.taskCount / 2 + 1] {
        let text = form.document(of: Self.taskCount, fault, at: place)
        try withStore { (store: TaskStore) throws in
          let summary = try store.importText(text, as: form.format)
          #expect(summary.account.map(\.kind) == fault.kinds, "\(fault) \(summary.account)")
          #expect(summary.account.allSatisfy { $0.count == 1 }, "\(fault) \(summary.account)")
          #expect(try store.tasks.count == Self.taskCount, "\(fault)")
          try checkInvariants(of: store)
          // What came in goes out and comes back without another word, into the same tasks.
          let again = try store.importText(text, as: form.format)
          #expect(again.tasks.added == 0 && again.tasks.changed == 0, "\(fault)")
        }
        fileCount += 1
      }
    }
    #expect(fileCount >= 4)
  }

  @Test(arguments: forms.indices)
  func aSoundDocumentNeedsNoWord(index: Int) throws {
    let form = Self.forms[index]
    try withStore { (store: TaskStore) throws in
      let text = form.document(of: Self.taskCount, nil, at: 0)
      #expect(try store.importText(text, as: form.format, ImportOptions(isStrict: true)).account.isEmpty)
      #expect(try store.tasks.count == Self.taskCount)
      let guessed = try withTemporaryDirectory { directory in
        let file = directory.appending("tasks")
        try Data(text.utf8).write(to: URL(filePath: file.string))
        return try store.importDocument(from: file, as: nil, options: ImportOptions(isDryRun: true))
      }
      // The other name makes other tasks of lines without ids, but the format is the same.
      #expect(guessed.tasks.added + guessed.tasks.unchanged == Self.taskCount)
    }
  }

  @Test func theCorpusHasTwoHundredDocuments() {
    let counts = Self.forms.map { form in form.faults.reduce(0) { $0 + ($1.isOfDocument ? 1 : 4) } }
    #expect(counts.reduce(0, +) >= 200)
  }
}
