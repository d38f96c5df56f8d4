import HubStorage
import HubWire
import Hummingbird
import TallySync

extension HubService {
  func addSnapshotRoutes(to router: RouterGroup<BasicRequestContext>) {
    router.get("spaces/:space/snapshots", use: snapshots)
    router.get("spaces/:space/replicas/:replica/snapshots/:number/:digest/:count/:part", use: part)
    router.put("spaces/:space/replicas/:replica/snapshots/:number/:digest/:count/:part", use: putPart)
  }

  @Sendable private func snapshots(_ request: Request, _ context: BasicRequestContext) async throws -> Response {
    let member = try await member(request, context)
    let names = try await store.snapshots(in: member.space)
    return try .json(HubMessage.Snapshots(snapshots: names.map { HubMessage.Snapshot($0) }))
  }

  @Sendable private func part(_ request: Request, _ context: BasicRequestContext) async throws -> Response {
    let member = try await member(request, context)
    let (name, number) = try context.part()
    guard let bytes = try await store.part(number, of: name, in: member.space) else {
      throw HTTPError(.notFound, message: "The snapshot or the part of it is not there.")
    }
    return .sealed(bytes)
  }

  @Sendable private func putPart(_ request: Request, _ context: BasicRequestContext) async throws -> Response {
    let member = try await member(request, context)
    let (name, number) = try context.part()
    let isComplete = try await store.putPart(try await request.bytes(), number: number, of: name, by: member)
    if isComplete { noteChange(of: member.space) }
    return Response(status: .noContent)
  }
}

extension BasicRequestContext {
  /// The snapshot and the number of the part that the path names.
  fileprivate func part() throws -> (name: SnapshotName, number: Int) {
    let snapshot = HubMessage.Snapshot(
      replica: try parameters.require("replica"), number: try number("number"),
      digest: try parameters.require("digest"), parts: Int(clamping: try number("count")))
    let name = try snapshot.name.orBadRequest("The name of the snapshot is invalid.")
    return (name, Int(clamping: try number("part")))
  }
}
