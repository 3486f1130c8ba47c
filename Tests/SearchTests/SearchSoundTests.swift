import Foundation
import PipelineModel
import Platform
@testable import Search
import Store
import TestSupport
import Testing

@Suite("The place of words in the recording is known, whatever is freed") struct SearchSoundTests {
  private let bench: SearchBench

  init() throws { bench = try SearchBench() }

  private func identity(_ text: String) -> Digest { SHA256.digest(of: text) }

  private func step(
    _ kind: String, _ inputs: [PortName: Digest]?, gives output: StepOutput,
    _ findings: String? = nil
  ) -> StepRecord {
    var step = StepRecord(
      id: StepID(kind), kind: kind, outcome: .made,
      outputs: [output.kind == .sound ? .sound : PortName("transcript"): output])
    if findings != nil {
      step.outputs[.measurement] = StepOutput(
        kind: .measurement, identity: identity("map of \(kind)"))
    }
    step.inputs = inputs
    step.findings = findings
    return step
  }

  private func sound(_ name: String) -> StepOutput {
    StepOutput(kind: .sound, identity: identity(name))
  }

  /// One second is gone at the beginning.
  private let trimmed = #"{"before":9,"after":8,"pieces":[{"from":1,"to":9,"at":0,"until":8}]}"#

  /// A run of these steps, whose checkpoints are all freed.
  private func found(_ steps: [StepRecord], words: String) throws -> SearchSound {
    var run = try bench.run("alpha", of: "a.wav")
    run.steps = steps
    let step = try #require(steps.first { $0.id.name == words })
    var inputs: [StepID: [PortName: Digest]] = [:]
    for step in steps { inputs[step.id] = step.inputs }
    return SearchSound(
      run, words: step, digest: identity("a.wav"), inputs: inputs, kept: { _ in nil })
  }

  private func words() -> StepOutput {
    StepOutput(kind: .transcript, identity: identity("words"))
  }

  @Test("stages that keep every moment in its place leave the words where they are")
  func unmoved() throws {
    let skipped = StepRecord(id: StepID("recognize"), kind: "recognize", outcome: .skipped)
    let found = try found(
      [
        step("decode", [PortName("from"): identity("a.wav")], gives: sound("decoded")),
        step("eq", [.sound: identity("decoded")], gives: sound("equalized")),
        step("align", [.sound: identity("equalized")], gives: words()), skipped,
        step("trim", [.sound: identity("equalized")], gives: sound("trimmed"), trimmed),
      ], words: "align")
    #expect(found.isUnmoved && found.origin(of: 2...3) == 2...3)
  }

  @Test("what a stage cut off is added again, before the words were heard or behind that")
  func moved() throws {
    let decode = step("decode", [PortName("from"): identity("a.wav")], gives: sound("decoded"))
    let trim = step("trim", [.sound: identity("decoded")], gives: sound("trimmed"), trimmed)
    let before = try found(
      [decode, trim, step("align", [.sound: identity("trimmed")], gives: words())], words: "align")
    #expect(!before.isUnmoved && before.origin(of: 2...3) == 3...4)
    let moved = step(
      "retime",
      [
        PortName("transcript"): identity("words"),
        PortName("changes.1"): identity("map of trim"),
      ],
      gives: StepOutput(kind: .transcript, identity: identity("moved words")))
    let behind = try found(
      [decode, trim, step("align", [.sound: identity("decoded")], gives: words()), moved],
      words: "retime")
    #expect(!behind.isUnmoved && behind.origin(of: 2...3) == 3...4)
  }

  @Test("a stage of which it is not known how it moves time is named")
  func unknown() throws {
    let found = try found(
      [
        step("decode", [PortName("from"): identity("a.wav")], gives: sound("decoded")),
        step("warmth", [.sound: identity("decoded")], gives: sound("warm")),
        step("align", [.sound: identity("warm")], gives: words()),
      ], words: "align")
    #expect(found.obstacle == StepID("warmth") && found.origin(of: 2...3) == nil)
    #expect(found.maker == StepID("warmth"))
  }

  @Test("in an old record without checkpoints, the stages before the words may have moved them")
  func oldRecord() throws {
    let steps = [
      step("decode", nil, gives: sound("decoded")), step("trim", nil, gives: sound("trimmed")),
      step("align", nil, gives: words()), step("warmth", nil, gives: sound("warm")),
    ]
    #expect(try found(steps, words: "align").obstacle == StepID("trim"))
    #expect(try found([steps[0], steps[2], steps[3]], words: "align").isUnmoved)
  }

  @Test("words lead back to the recording after a collection has freed all that it may")
  func collected() throws {
    let run = try bench.run("alpha", of: "a.wav")
    try bench.store.runs.save(run)
    let hit = try #require(try bench.hits("alpha").first)
    #expect(try bench.search.sound(of: hit)?.isUnmoved == true)
    var policy = CollectionPolicy()
    policy.age = 0
    policy.grace = 0
    _ = try bench.store.collect(policy)
    #expect(try bench.search.sound(of: hit)?.isUnmoved == true)
  }

  @Test("words that are lost are told, until a run has found them again")
  func lost() throws {
    let run = try bench.run("alpha", of: "a.wav")
    try bench.store.runs.save(run)
    #expect(try bench.answer("alpha").lost == [])
    let artifact = try #require(run.steps.last?.outputs[PortName("transcript")]?.artifact)
    let file = try #require(bench.store.file(of: artifact.digest))
    try FileManager.default.removeItem(atPath: file)
    _ = try bench.search.repair()
    let loss = LostWords(recording: "/in/a.wav", run: run.id.name)
    #expect(try bench.answer("alpha").lost == [loss] && bench.search.lost() == [loss])
    try bench.tell("alpha", of: "a.wav")
    #expect(try bench.answer("alpha").lost == [] && bench.hits("alpha").count == 1)
  }

  @Test("words are found again whose files were put back")
  func putBack() throws {
    let run = try bench.run("alpha", of: "a.wav")
    try bench.store.runs.save(run)
    let artifact = try #require(run.steps.last?.outputs[PortName("transcript")]?.artifact)
    let file = try #require(bench.store.file(of: artifact.digest))
    try FileManager.default.moveItem(atPath: file, toPath: file + ".aside")
    _ = try bench.search.repair()
    #expect(try bench.answer("alpha").lost.count == 1)
    try FileManager.default.moveItem(atPath: file + ".aside", toPath: file)
    #expect(try bench.hits("alpha").count == 1)
    #expect(try bench.answer("alpha").lost == [] && bench.search.repair() == nil)
    #expect(try bench.answer("alpha").transcripts == 1)
  }
}
