import HubStorage
import HubWire
import Hummingbird
import TallySync

extension HubService {
  func addSnapshotRoutes(to router: RouterGroup<HubContext>) {
    router.get("spaces/:space/snapshots", use: snapshots)
    router.get("spaces/:space/replicas/:replica/snapshots/:number/:digest/:count/:part", use: part)
    router.put("spaces/:space/replicas/:replica/snapshots/:number/:digest/:count/:part", use: putPart)
  }

  @Sendable private func snapshots(_ request: Request, _ context: HubContext) async throws -> Response {
    let member = try await member(request, context)
    let names = try await store.snapshots(in: member.space)
    return try await held(HubMessage.Snapshots(snapshots: names.map { HubMessage.Snapshot($0) }), context)
  }

  @Sendable private func part(_ request: Request, _ context: HubContext) async throws -> Response {
    let member = try await member(request, context)
    let (name, number) = try context.part()
    return try await answer(request, context, from: (offset: 0, byteCount: Int?.none)) { [store] cursor in
      let slice = try await store.part(
        number, of: name, from: cursor.offset, count: Self.pageByteCount, in: member.space)
      if slice == nil, cursor.offset == 0 {
        throw HTTPError(.notFound, message: "The snapshot, or this part of it, does not exist.")
      }
      let byteCount = cursor.byteCount ?? slice?.byteCount ?? 0
      let (bytes, next) = try slice.next(after: cursor.offset, of: byteCount)
      return (bytes, next.map { ($0, byteCount) })
    }
  }

  @Sendable private func putPart(_ request: Request, _ context: HubContext) async throws -> Response {
    let member = try await member(request, context)
    let (name, number) = try context.part()
    let isComplete = try await store.putPart(try await body(request, context), number: number, of: name, by: member)
    if isComplete { noteChange(of: member.space) }
    return Response(status: .noContent)
  }
}

extension HubContext {
  /// The snapshot and the number of the part that the path names.
  fileprivate func part() throws -> (name: SnapshotName, number: Int) {
    let snapshot = HubMessage.Snapshot(
      replica: try parameters.require("replica"), number: try number("number"),
      digest: try parameters.require("digest"), parts: Int(clamping: try number("count")))
    let name = try snapshot.name.orBadRequest("The name of the snapshot is invalid.")
    return (name, Int(clamping: try number("part")))
  }
}
