// A contact book with `import LMDB` alone: the table of the contacts, and an index of their names that is kept by hand.
//
//   swift run --package-path Examples/Records Contacts FOLDER

import Foundation
import LMDB
import SystemPackage

struct Contact: BinaryCodable {
  var name: String
  var phone: String

  /// A pair knows where its first text ends.
  private var pair: Pair<String, String> { Pair(name, phone) }
  var encodedByteCount: Int { pair.encodedByteCount }
  func encode(into output: inout OutputRawSpan) { pair.encode(into: &output) }
}

extension Contact {
  init(decoding bytes: RawSpan) throws(LMDBError) {
    let pair = try Pair<String, String>(decoding: bytes)
    self.init(name: pair.first, phone: pair.second)
  }
}

/// The contacts by number, and their numbers by name.
struct ContactBook {
  let environment: LMDBEnvironment
  private let contacts: Database<UInt64, Contact>
  private let byName: Database<Pair<String, UInt64>, NoValue>

  init(at folder: String) throws {
    var options = LMDBEnvironment.Options()
    options.createsDirectory = true
    let environment = try LMDBEnvironment(path: FilePath(folder), options: options)
    (contacts, byName) = try environment.write { transaction in
      (
        try Database(opening: "contacts", creating: true, in: &transaction),
        try Database(opening: "byName", creating: true, in: &transaction)
      )
    }
    self.environment = environment
  }

  private static func key(_ contact: Contact, _ number: UInt64) -> Pair<String, UInt64> {
    Pair(contact.name.lowercased(), number)
  }

  /// Stores a contact, in place of the one with the number: both tables change, or neither.
  func save(_ contact: Contact, as number: UInt64) throws {
    try environment.write { transaction in
      if let old = try contacts.value(forKey: number, in: transaction) {
        try byName.remove(forKey: Self.key(old, number), in: &transaction)
      }
      try contacts.put(contact, forKey: number, in: &transaction)
      try byName.put(NoValue(), forKey: Self.key(contact, number), in: &transaction)
    }
  }

  /// Deletes a contact, and says whether there was one.
  func delete(_ number: UInt64) throws -> Bool {
    try environment.write { transaction in
      guard let old = try contacts.value(forKey: number, in: transaction) else { return false }
      try byName.remove(forKey: Self.key(old, number), in: &transaction)
      return try contacts.remove(forKey: number, in: &transaction)
    }
  }

  /// The contacts whose names begin with a text, in the order of the names.
  func contacts(beginningWith text: String) throws -> [Contact] {
    try environment.read { transaction in
      var found: [Contact] = []
      try byName.forEach(withPrefix: text.lowercased(), in: transaction) { key, _ in
        let number = try Pair<String, UInt64>(decoding: key).second
        if let contact = try contacts.value(forKey: number, in: transaction) { found.append(contact) }
        return true
      }
      return found
    }
  }
}

@main
struct Contacts {
  static func main() throws {
    guard let folder = CommandLine.arguments.dropFirst().first else {
      FileHandle.standardError.write(Data("usage: Contacts FOLDER\n".utf8))
      exit(64)
    }
    var book = try ContactBook(at: folder)
    try book.save(Contact(name: "Ada", phone: "1815"), as: 1)
    try book.save(Contact(name: "Alan", phone: "1912"), as: 2)
    try book.save(Contact(name: "Grace", phone: "1906"), as: 3)
    try book.save(Contact(name: "Alonzo", phone: "1903"), as: 3)
    show("a", try book.contacts(beginningWith: "a"))
    print("Deleted: \(try book.delete(1)), again: \(try book.delete(1))")
    try book.environment.close()
    book = try ContactBook(at: folder)
    show("A", try book.contacts(beginningWith: "A"))
    show("g", try book.contacts(beginningWith: "g"))
    try book.environment.close()
  }

  static func show(_ text: String, _ contacts: [Contact]) {
    let lines = contacts.map { "\($0.name) \($0.phone)" }
    print("\(text): \(lines.isEmpty ? "none" : lines.joined(separator: ", "))")
  }
}
