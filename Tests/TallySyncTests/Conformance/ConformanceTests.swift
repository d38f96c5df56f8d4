import TallySync
import TallySyncConformance
import TallyTestSupport
import Testing

@Suite struct ConformanceTests {
  @Test func aFolderKeepsItsPromises() async throws {
    try await withTemporaryDirectory { directory in
      let conformance = TransportConformance { space, _ in try FolderTransport.create(at: directory, space: space) }
      #expect(await conformance.run() == [])
    }
  }

  @Test func aPlaceInMemoryKeepsItsPromises() async {
    let places = MemoryPlaces()
    let conformance = TransportConformance { space, _ in MemoryTransport(await places.place(of: space)) }
    #expect(await conformance.run() == [])
  }

  /// A suite that finds nothing proves nothing.
  @Test(arguments: WrongTransport.Fault.allCases)
  func aWrongTransportIsFound(fault: WrongTransport.Fault) async {
    let places = MemoryPlaces()
    let conformance = TransportConformance(waitLimit: .seconds(1)) { space, _ in
      WrongTransport(MemoryTransport(await places.place(of: space)), fault)
    }
    let failures = await conformance.run()
    #expect(failures.contains { $0.check == fault.check }, "\(failures)")
  }

  @Test func everyCheckHasANameOfItsOwn() {
    let names = TransportConformance.checkNames
    #expect(Set(names).count == names.count)
    #expect(Set(WrongTransport.Fault.allCases.map(\.check)).isSubset(of: names))
  }

  @Test func aFailureNamesTheCheckAndWhatWasExpected() async {
    let place = MemoryPlace()
    await place.setReachable(false)
    let failures = await TransportConformance { _, _ in MemoryTransport(place) }.run()
    #expect(failures.map(\.check) == TransportConformance.checkNames)
    #expect(failures.allSatisfy { $0.description.hasPrefix("\($0.check): expected ") })
  }
}

/// One place in memory per space.
actor MemoryPlaces {
  private var places: [[UInt8]: MemoryPlace] = [:]

  func place(of space: [UInt8]) -> MemoryPlace {
    let place = places[space] ?? MemoryPlace()
    places[space] = place
    return place
  }
}
