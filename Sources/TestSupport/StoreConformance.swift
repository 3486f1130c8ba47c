internal import Hashing
public import PipelineModel

/// What every `ArtifactStore` must do, whatever it keeps things in.
///
/// A test calls it in one line: `#expect(StoreConformance.violations { try makeStore() } == [])`.
public struct StoreConformance {
  let makeStore: () throws -> any ArtifactStore
  private var violations: [String] = []

  /// Every promise of the contract that the stores of `makeStore` break, in words.
  /// - Parameter makeStore: gives a new, empty store at each call.
  public static func violations(of makeStore: @escaping () throws -> any ArtifactStore) -> [String]
  {
    var suite = StoreConformance(makeStore: makeStore)
    suite.check("artifacts hold the bytes that were appended") { try $0.appendedBytes() }
    suite.check("artifacts hold the bytes that were written at the path") { try $0.pathBytes() }
    suite.check("both ways of writing may be mixed") { try $0.mixedBytes() }
    suite.check("an empty artifact is an artifact") { try $0.emptyArtifact() }
    suite.check("equal bytes are one artifact") { try $0.equalBytes() }
    suite.check("a dropped draft leaves nothing") { try $0.droppedDraft() }
    suite.check("an artifact of another length is refused") { try $0.wrongLength() }
    suite.check("checkpoints come back as they were recorded") { try $0.checkpoints() }
    suite.check("a checkpoint may not name what is not there") { try $0.unknownArtifact() }
    suite.check("recording again keeps every artifact") { try $0.merging() }
    suite.check("hints are found by kind and words") { try $0.hints() }
    suite.check("many threads may write at once") { try $0.manyThreads() }
    return suite.violations
  }

  private mutating func check(
    _ promise: String, _ body: (borrowing Self) throws -> Void
  ) {
    do {
      try body(self)
    } catch {
      violations.append("\(promise): \(error)")
    }
  }
}

/// A promise that was broken.
struct Broken: Error, CustomStringConvertible {
  let description: String
}

func require(_ isKept: Bool, _ what: String) throws {
  if !isKept { throw Broken(description: what) }
}
