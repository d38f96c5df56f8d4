import Foundation
import LMDB
import TallyEngine
import TallyTestSupport
import Testing

@testable import Tally

/// The bytes of a store, the schema that describes them and the code that writes them cannot drift apart.
@Suite struct StorageFormatTests {
  /// `TALLY_RECORD=1` rewrites the file: a change of the format, which needs a new number and a migration.
  @Test func theBytesOfAStoreAreThoseOfFormat2() throws {
    let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("golden-store-v2.txt")
    let (entries, _) = try GoldenStore().entries()
    let lines = entries.map { "\($0.table) \(hexadecimal($0.key)) \(hexadecimal($0.value))" }
    let text = lines.map { $0.hasSuffix(" ") ? String($0.dropLast()) : $0 }.joined(separator: "\n") + "\n"
    if ProcessInfo.processInfo.environment["TALLY_RECORD"] == "1" {
      try Data(text.utf8).write(to: file)
    }
    let golden = try String(contentsOf: file, encoding: .utf8)
    #expect(text.split(separator: "\n") == golden.split(separator: "\n"))
  }

  @Test func theTasksOfTheGoldenStoreAreAsWrittenDown() throws {
    let golden = GoldenStore()
    #expect(try golden.entries().tasks == (try golden.expectedTasks()))
  }

  @Test func aReaderThatKnowsOnlyTheSchemaFindsEveryField() throws {
    let golden = GoldenStore()
    let schema = try StorageSchema.load()
    let decoder = SchemaDecoder(schema: schema)
    let (entries, _) = try golden.entries()
    let expected = try ExpectedRows(golden: golden)
    for table in schema.tables {
      let rows = try entries.filter { $0.table == table.name }.map { entry in
        // Where a key and its record have a field of the same name, that of the key identifies the entry.
        try decoder.key(entry.key, of: table).merging(decoder.value(entry.value, of: table)) { key, value in
          key == value ? key : "\(key) \(value)"
        }
      }
      #expect(rows == expected.rows[table.name] ?? [], "\(table.name)")
    }
  }

  /// The fields that the golden store of format 2 does not have, each in the task of ``GoldenLife`` with this number.
  private static let laterFields: [(number: UInt8, field: String, value: String)] = [
    // 2026-03-27T08:00:08Z, at +01:00.
    (34, "cancelledAt", "1774598411000000"), (34, "cancellationOffset", "60"),
    (33, "startDay", "20605"), (32, "someday", "yes"),
    (31, "dependsOn", "0193f1c289ab7def800000000000001e"),
    // At 9:00 on the day, and one day before.
    (33, "reminders", "01:000000000000021c 01:000100000000ffff"),
    // 2026-03-27 at 02:30, and 15 minutes later, whatever the zone; and an hour before.
    (10, "floatingDue", "1774578600000000"), (10, "floatingReminder", "1774578600000000"),
    (10, "floatingReminders", "00:80064df87cb92300 01:00000000003cffff"),
  ]

  @Test(arguments: laterFields)
  func aReaderThatKnowsOnlyTheSchemaFindsLaterFields(number: UInt8, field: String, value: String) throws {
    let schema = try StorageSchema.load()
    let table = try #require(schema.tables.first { $0.name == "tasks" })
    let rows = try StoredRows(from: GoldenLife.Version.life.rows).tables["tasks"] ?? []
    let id = GoldenStore.id(number).uuidString.lowercased().replacing("-", with: "")
    let found = try rows.compactMap { row -> Row? in
      let key = try SchemaDecoder(schema: schema).key(row.key, of: table)
      return key["id"] == id ? try SchemaDecoder(schema: schema).value(row.value, of: table) : nil
    }
    #expect(found.map { $0[field] } == [value])
  }

  @Test func theSchemaNamesTheTablesThereAre() throws {
    let schema = try StorageSchema.load()
    #expect(schema.tables.map(\.name) == Tables.names)
    #expect(schema.optionalTables.map(\.name) == [SetAsideTable.name] + SyncTables.names)
    #expect(schema.majorFormat == Int(StoreHeader.currentMajorFormat))
    #expect(schema.minorFormat == Int(StoreHeader.currentMinorFormat))
  }

  @Test func theFieldsOfTheSchemaLeaveNoGap() throws {
    let schema = try StorageSchema.load()
    let layouts = schema.tables.compactMap { table in table.key.fields.map { ($0, table.key.size) } }
    for (fields, size) in layouts + schema.records.values.map({ ($0.fields, $0.headSize) }) {
      var offset = 0
      for field in fields {
        #expect(field.offset == offset, "\(field.name)")
        #expect(schema.types[field.type] != nil, "\(field.type)")
        offset += field.size
      }
      #expect(offset == size)
    }
  }

  @Test func theEnumerationsAreThoseOfTheCode() throws {
    let enumerations = try StorageSchema.load().enumerations
    #expect(
      enumerations["state"] == Dictionary(uniqueKeysWithValues: TaskState.allCases.map { ($0.name, Int($0.rawValue)) }))
    let ranks = TaskState.allCases.filter { $0 != .cancelled }.map { ($0.name, Int(StateRank($0).rawValue)) }
    #expect(enumerations["rank"] == Dictionary(uniqueKeysWithValues: ranks))
    #expect(StateRank(.cancelled) == .completed)
    #expect(
      enumerations["place"] == ["inbox": Int(PlaceKey.Kind.inbox.rawValue), "list": Int(PlaceKey.Kind.list.rawValue)])
    let priorities = Priority.allCases.filter { $0 != .none }.map { ($0.name, Int($0.rawValue)) }
    #expect(enumerations["priority"] == Dictionary(uniqueKeysWithValues: priorities))
    let kinds = [DueKey.Kind.open, .completed, .openDay, .completedDay, .cancelled, .openStart, .openFloating].map {
      ("\($0)", Int($0.rawValue))
    }
    #expect(enumerations["due"] == Dictionary(uniqueKeysWithValues: kinds))
    #expect(enumerations["requiredFeatures"]?.values.reduce(0, |) == Int(StoreFeatures.knownRequired.rawValue))
    #expect(enumerations["writerFeatures"]?.values.reduce(0, |) == Int(StoreFeatures.knownWriter.rawValue))
  }

  @Test func theTaggedFieldsAreThoseOfTheCodeAndCoverTheTask() throws {
    let tags = try StorageSchema.load().records["task"]?.tagged?.map(\.tag)
    #expect(tags == TaskField.tagged.map(\.tag))
    #expect(tags == tags?.sorted() && TaskField.tagged == TaskField.tagged.sorted { $0.rawValue < $1.rawValue })
    // A property without a field would be neither stored nor exported.
    let mirrors = [Mirror(reflecting: TaskItem(title: "x", createdAt: .earliest)), Mirror(reflecting: TaskExtras())]
    let properties = mirrors.flatMap { $0.children.compactMap(\.label) }.filter { $0 != "extrasBox" }
    let names = ["title": "text", "otherReminders": "reminders"]
    let several = [
      "start": ["startDay", "someday"], "floating": ["floatingDue", "floatingReminder", "floatingReminders"],
    ]
    let fields = properties.flatMap { several[$0] ?? [names[$0] ?? $0] }
    #expect(Set(fields) == Set(TaskField.all.map { "\($0.name)" }))
  }

  private func hexadecimal(_ bytes: [UInt8]) -> String {
    bytes.map { String(format: "%02x", $0) }.joined()
  }
}
