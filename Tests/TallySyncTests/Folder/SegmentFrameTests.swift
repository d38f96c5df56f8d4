import Testing

@testable import TallySync
@testable import TallySyncConformance

@Suite struct SegmentFrameTests {
  @Test func aFileOfSeveralSegmentsIsSplit() {
    var stream = SampleStream(in: FolderFixture.space)
    let segments = [stream.next(bodyByteCount: 0), stream.next(bodyByteCount: 300), stream.next()]
    let envelopes = SegmentFrame.split(segments.flatMap(\.bytes))
    #expect(envelopes?.map(\.bytes) == segments.map(\.bytes))
    #expect(envelopes?.map(\.frame.number) == [1, 2, 3])
    #expect(envelopes?.allSatisfy { $0.frame.replica == stream.replica && $0.frame.kind == .segment } == true)
    #expect(SegmentFrame.split([])?.isEmpty == true)
  }

  @Test func noStartOfASegmentIsOne() {
    var stream = SampleStream(in: FolderFixture.space)
    let bytes = stream.next().bytes
    for count in 1..<bytes.count {
      #expect(SegmentFrame.split(Array(bytes.prefix(count))) == nil)
      #expect(SegmentHead(of: Array(bytes.prefix(count))) == nil)
    }
    #expect(SegmentFrame.split(bytes + [0]) == nil)
  }

  @Test func aLengthOfAllOnesDoesNotTrap() {
    var stream = SampleStream(in: FolderFixture.space)
    var bytes = stream.next().bytes
    for index in 116..<120 { bytes[index] = 0xFF }
    #expect(SegmentFrame(bytes[...])?.byteCount == 120 + Int(UInt32.max) + 64)
    #expect(SegmentFrame.split(bytes) == nil)
  }

  @Test func theHeadOfASegmentIsReadFromItsBytes() {
    var stream = SampleStream(in: FolderFixture.space)
    let segment = stream.next()
    #expect(SegmentHead(of: segment.bytes) == segment.head)
    #expect(SegmentHead(of: stream.card(1)) == nil)
  }
}
