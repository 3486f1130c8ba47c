import Foundation
internal import PipelineModel
internal import Platform
internal import Synchronization

extension StoreConformance {
  func checkpoints() throws {
    let store = try makeStore()
    let kept = try store.makeArtifact("sound", kind: .sound)
    let findings = try store.makeArtifact("{}", kind: .measurement)
    let components = KeyComponents.sample("full", "1")
    let checkpoint = Checkpoint(
      components: components,
      outputs: [
        .sound: StepOutput(
          kind: .sound, identity: components.derivedIdentity(of: .sound), artifact: kept),
        PortName("thrown away"): StepOutput(
          kind: .sound, identity: components.derivedIdentity(of: PortName("thrown away"))),
        .measurement: StepOutput(findings),
      ], memo: #"{"gain":-3.5,"words":"naïve\n"}"#, hint: "3.5 s stereo")
    try require(try store.checkpoint(for: checkpoint.key) == nil, "it is there before")
    try store.commit(checkpoint)
    let found = try store.checkpoint(for: checkpoint.key)
    try require(found == checkpoint, "it reads as \(String(describing: found))")

    let bare = Checkpoint(components: .sample("bare", "1"), outputs: [:])
    try store.commit(bare)
    try require(try store.checkpoint(for: bare.key) == bare, "one without outputs is lost")
  }

  func unknownArtifact() throws {
    let store = try makeStore()
    let absent = Artifact(kind: .file, digest: SHA256.digest(of: "absent"), byteCount: 6)
    let checkpoint = Checkpoint(
      components: .sample("absent", "1"), outputs: [.sound: StepOutput(absent)])
    try require((try? store.commit(checkpoint)) == nil, "it was recorded")
    try require(try store.checkpoint(for: checkpoint.key) == nil, "it was found")
  }

  func merging() throws {
    let store = try makeStore()
    let components = KeyComponents.sample("merge", "1")
    let (left, right) = (PortName("left"), PortName("right"))
    func output(_ port: PortName, _ artifact: Artifact?) -> StepOutput {
      StepOutput(
        kind: .sound, identity: components.derivedIdentity(of: port), artifact: artifact)
    }
    let a = try store.makeArtifact("a", kind: .sound)
    let b = try store.makeArtifact("b", kind: .sound)
    try store.commit(
      Checkpoint(
        components: components, outputs: [left: output(left, a), right: output(right, nil)],
        memo: "{}", hint: "h"))
    try store.commit(
      Checkpoint(
        components: components, outputs: [left: output(left, nil), right: output(right, b)]))
    let found = try store.checkpoint(for: components.key)
    try require(found?.outputs[left]?.artifact == a, "the older artifact is lost")
    try require(found?.outputs[right]?.artifact == b, "the newer artifact is lost")
    try require(found?.memo == "{}", "the memo is lost")
    try store.commit(Checkpoint(components: components, outputs: [left: output(left, nil)]))
    try require(
      try store.checkpoint(for: components.key)?.outputs[right]?.artifact == b,
      "a port that only the older record has is lost")
  }

  func hints() throws {
    let store = try makeStore()
    let checkpoint = Checkpoint(
      components: .sample("decode", "1"), outputs: [:], hint: "12 s 'mono'")
    try require(try !store.hasCheckpoint(kind: "decode", hint: "12 s 'mono'"), "found before")
    try store.commit(checkpoint)
    try require(try store.hasCheckpoint(kind: "decode", hint: "12 s 'mono'"), "not found")
    try require(try !store.hasCheckpoint(kind: "eq", hint: "12 s 'mono'"), "another kind's")
    try require(try !store.hasCheckpoint(kind: "decode", hint: "12 s"), "half of the words")
  }

  func manyThreads() throws {
    let store = try makeStore()
    let results = inParallel(8) { number in
      Result {
        for round in 0..<4 {
          let artifact = try store.makeArtifact("thread \(number % 4), round \(round)")
          let checkpoint = Checkpoint(
            components: .sample("parallel", "\(number % 4).\(round)"),
            outputs: [.sound: StepOutput(artifact)])
          try store.commit(checkpoint)
          try require(try store.checkpoint(for: checkpoint.key) == checkpoint, "it differs")
        }
      }
    }
    for result in results { try result.get() }
  }

  /// The results of `body` for 0 ..< `count`, each from a thread of its own where there are
  /// enough.
  private func inParallel<Result: Sendable>(
    _ count: Int, _ body: @Sendable (Int) -> Result
  ) -> [Result] {
    let results = Mutex<[Result]>([])
    DispatchQueue.concurrentPerform(iterations: count) { number in
      let result = body(number)
      results.withLock { $0.append(result) }
    }
    return results.withLock { $0 }
  }
}
