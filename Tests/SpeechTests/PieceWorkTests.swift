import Platform
@testable import Speech
import Synchronization
import Testing

@Suite("Work on pieces of a recording") struct PieceWorkTests {
  @Test(
    "that is stopped while all threads work begins no other piece, and hands over those under way")
  func stopped() throws {
    let begun = Mutex<Set<Int>>([])
    let mayEnd = Pause()
    var (taken, recorded): (Set<Int>, Set<Int>) = ([], [])
    var isStopped = false
    #expect(throws: SpoolError.cancelled) {
      try workOnPieces(
        Array(0..<6), threadCount: 2, makeTool: { .success(()) },
        work: { (_: Void, piece) -> Result<Int, SpoolError> in
          begun.withLock { _ = $0.insert(piece) }
          _ = mayEnd.wait(.seconds(60))
          return .success(-piece)
        }
      ) { piece, value in
        #expect(value == -piece)
        taken.insert(piece)
      } record: { () throws(SpoolError) in
        recorded = taken
        // Called again only after the stop was noticed.
        if isStopped { mayEnd.end() }
        isStopped = begun.withLock { $0.count } == 2
        if isStopped { throw .cancelled }
      }
    }
    #expect(begun.withLock { $0 } == [0, 1])
    #expect(taken == [0, 1])
    #expect(recorded == [0, 1])
  }

  @Test("that fails hands over what else is done, and throws the failure")
  func failed() throws {
    let isFirstBegun = Pause()
    var taken: [Int] = []
    #expect(throws: SpoolError("broken")) {
      try workOnPieces(
        [0, 1, 2], threadCount: 2, makeTool: { .success(()) },
        work: { (_: Void, piece) -> Result<Int, SpoolError> in
          guard piece == 0 else {
            _ = isFirstBegun.wait(.seconds(60))
            return .failure(SpoolError("broken"))
          }
          isFirstBegun.end()
          return .success(piece)
        }
      ) { piece, _ in
        taken.append(piece)
      } record: { () throws(SpoolError) in
      }
    }
    #expect(taken == [0])
  }
}
