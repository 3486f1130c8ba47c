package import PipelineModel
internal import Platform

/// What every `ArtifactStore` where work is claimed must do, whatever it keeps things in.
///
/// A test calls it in one line: `#expect(StoreConformance.violations { try makeStore() } == [])`.
package struct StoreConformance {
  let makeStore: () throws -> any ArtifactStore
  private var violations: [String] = []

  /// Every promise of the contract that the stores of `makeStore` break, in words.
  /// - Parameter makeStore: gives a new, empty store at each call.
  package static func violations(
    of makeStore: @escaping () throws -> any ArtifactStore
  ) -> [String] {
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
    suite.check("work has one owner at a time") { try $0.oneOwner() }
    suite.check("notes outlive a claim") { try $0.notes() }
    suite.check("a dropped draft of work is gone on with") { try $0.resumedDraft() }
    suite.check("a draft of work begins empty") { try $0.newDraft() }
    suite.check("a draft is gone on with only where it has the bytes") { try $0.shortDraft() }
    suite.check("a draft is gone on with only where it is what was noted") { try $0.damagedDraft() }
    suite.check("a sealed draft of work can be sealed again") { try $0.sealedAgain() }
    suite.check("a draft goes on from a prefix although it was sealed since") {
      try $0.draftSealedSince()
    }
    suite.check("an artifact outlives whatever becomes of its draft") { try $0.sealedDraft() }
    suite.check("work that ended leaves nothing") { try $0.endedWork() }
    suite.check("a claim that was let go of gives no rights") { try $0.formerOwner() }
    suite.check("a claim commits as its store does") { try $0.claimedCheckpoint() }
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
