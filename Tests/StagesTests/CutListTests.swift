import Audio
import PipelineModel
import Platform
@testable import Stages
import Testing

@Suite struct CutListTests {
  private let rate = Hertz(1000)

  private func kept(
    _ cuts: [(Double, Double?)], crossfade: Double = 0, frames: Int? = nil
  ) throws -> [Range<Int>] {
    try CutList(cuts.map { (Seconds($0.0), $0.1.map(Seconds.init)) })
      .kept(crossfade: Seconds(crossfade), at: rate, frames: frames.map(Frames.init))
  }

  @Test func `what is left lies between the cuts, in whatever order they come`() throws {
    #expect(try kept([(5, 6), (1, 2)], frames: 9000) == [0..<1000, 2000..<5000, 6000..<9000])
    #expect(try kept([(0, 2)], frames: 9000) == [2000..<9000])
    #expect(try kept([(7, nil)], frames: 9000) == [0..<7000])
    #expect(try kept([(7, 20)], frames: 9000) == [0..<7000])
    #expect(try kept([(7, 8)]) == [0..<7000, 8000..<Int.max])
  }

  @Test func `cuts that overlap or touch become one`() throws {
    #expect(try kept([(1, 3), (2, 4), (4, 5)], frames: 9000) == [0..<1000, 5000..<9000])
    #expect(try kept([(1, 8), (2, 4)], frames: 9000) == [0..<1000, 8000..<9000])
    #expect(try kept([(1, nil), (2, 4)], frames: 9000) == [0..<1000])
  }

  @Test func `what makes no sense is refused`() {
    #expect(throws: SpoolError.self) { try kept([(3, 2)]) }
    #expect(throws: SpoolError.self) { try kept([(3, 3)]) }
    #expect(throws: SpoolError.self) { try kept([(0, nil)]) }
    #expect(throws: SpoolError.self) { try kept([(0, 9)], frames: 9000) }
    #expect(throws: SpoolError.self) { try kept([(9, 10)], frames: 9000) }
    #expect(throws: Never.self) { try kept([(8.999, 10)], frames: 9000) }
  }

  @Test func `a piece must have room for its crossfades`() {
    let cuts = [(1.0, Optional(2.0)), (2.2, 3)]
    #expect(throws: Never.self) { try kept(cuts, crossfade: 0.1, frames: 9000) }
    #expect(throws: SpoolError.self) { try kept(cuts, crossfade: 0.101, frames: 9000) }
    #expect(throws: SpoolError.self) { try kept([(0.05, 2)], crossfade: 0.1) }
    #expect(throws: SpoolError.self) { try kept([(1, 8.95)], crossfade: 0.1, frames: 9000) }
    #expect(throws: Never.self) { try kept([(0, 8.95)], crossfade: 0.1, frames: 9000) }
  }
}
