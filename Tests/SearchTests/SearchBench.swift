import Foundation
import PipelineModel
import Platform
@testable import Search
import Store
import TestSupport

/// A store in which runs tell what was said, word by word: each begins a second after the other, and
/// takes half of it.
struct SearchBench {
  private let scratch: ScratchFolder?
  let store: DiskStore

  init() throws {
    let scratch = try ScratchFolder()
    self.scratch = scratch
    store = try DiskStore(at: scratch.file("store"))
    listen()
  }

  /// Opens a store that is there already.
  init(at path: String) throws {
    scratch = nil
    store = try DiskStore(at: path)
    listen()
  }

  private func listen() {
    store.listenToRuns { store, run in Self.search(store).update(after: run) }
  }

  private static func search(_ store: DiskStore) -> WordSearch {
    WordSearch(
      of: store, runs: store.runs, holds: { [store] in store.file(of: $0) != nil },
      in: store.path, isWritable: store.isWritable, note: store.note)
  }

  var search: WordSearch { Self.search(store) }
  var index: String { store.path + "/search.sqlite" }

  /// Saves a run that is done.
  func tell(
    _ text: String, of recording: String, at time: Double = 1000, pipeline: String = "words",
    untimed: Set<Int> = []
  ) throws {
    try store.runs.save(run(text, of: recording, at: time, pipeline: pipeline, untimed: untimed))
  }

  /// A run that is done, whose work is committed.
  /// - Parameters:
  ///   - original: another recording with the same sound; nil for a sound of its own.
  ///   - kind: the stage that found the words.
  func run(
    _ text: String, of recording: String, at time: Double = 1000, pipeline: String = "words",
    untimed: Set<Int> = [], soundingLike original: String? = nil, kind: String = "align"
  ) throws -> RunRecord {
    let words = text.split(whereSeparator: \.isWhitespace).enumerated().map { index, word in
      untimed.contains(index)
        ? Word(text: String(word), startTime: nil, endTime: nil)
        : Word(text: String(word), startTime: Double(index), endTime: Double(index) + 0.5)
    }
    // The same words are the same bytes: one transcript, whatever it tells of.
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    let json = String(
      decoding: try encoder.encode(File(text: text, words: words, isFinal: true)), as: UTF8.self)
    let transcript = try store.makeArtifact(json, kind: .transcript)
    let decode = KeyComponents(
      kind: "decode", revision: 1, parameters: "{}",
      inputs: [PortName("recording"): SHA256.digest(of: recording)], libraries: [:])
    let heard = original.map { SHA256.digest(of: "sound of \($0)") }
    let sound = heard ?? decode.derivedIdentity(of: .sound)
    let align = KeyComponents(
      kind: kind, revision: 1, parameters: "{}",
      inputs: [.sound: sound, PortName("transcript"): SHA256.digest(of: text)], libraries: [:])
    let outputs = [
      [PortName.sound: StepOutput(kind: .sound, identity: sound)],
      [PortName("transcript"): StepOutput(transcript)],
    ]
    var run = RunRecord(
      id: RunID(UUID().uuidString), pipeline: pipeline, pipelinePath: "/p/words.yaml",
      inputs: ["a-text": "/in/a.txt", "recording": "/in/\(recording)"], overrides: [:],
      startedAt: time)
    for (components, outputs) in zip([decode, align], outputs) {
      try store.commit(Checkpoint(components: components, outputs: outputs))
      var step = StepRecord(
        id: StepID(components.kind), kind: components.kind, outcome: .made, key: components.key,
        outputs: outputs)
      step.inputs = components.inputs
      run.steps.append(step)
    }
    run.recordings = [
      "a-text": SHA256.digest(of: text), "recording": SHA256.digest(of: recording),
    ]
    run.state = .done
    run.finishedAt = time + 1
    return run
  }

  /// What is found, in all.
  func answer(
    _ query: String, count: Int = .max, since: Double? = nil, pipeline: String? = nil
  ) throws -> SearchAnswer {
    var limits = SearchLimits()
    limits.count = count
    limits.since = since
    limits.pipeline = pipeline
    return try search.answer(try SearchQuery([query]), limits)
  }

  /// The places that are found.
  func hits(
    _ query: String, since: Double? = nil, pipeline: String? = nil
  ) throws -> [SearchHit] {
    try answer(query, since: since, pipeline: pipeline).hits
  }

  private struct File: Encodable {
    let text: String
    let words: [Word]
    let isFinal: Bool
  }

  private struct Word: Encodable {
    let text: String
    let startTime: Double?
    let endTime: Double?
  }
}
