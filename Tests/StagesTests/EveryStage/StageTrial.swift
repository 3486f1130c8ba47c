import Audio
import Foundation
@testable import PipelineEngine
import PipelineModel
import Platform
@testable import SoundEngine
@testable import Stages
import Store
import TestSupport
import Testing

/// A stage, used as a pass uses it, but on sound from memory and cut at will.
struct StageTrial {
  /// How the sound comes.
  struct Cut {
    /// The lengths of the blocks, in turn.
    var blocks = [4096]
    /// The frame at which another process takes over; nil for none.
    var handover: Int?
  }

  private let stage: any Stage
  private let scratch: ScratchFolder
  private let store: DiskStore
  private let pool = WorkerPool(threadCount: 2)

  /// Makes the stage from settings as a pipeline writes them.
  init(_ kind: String, _ settings: String) throws {
    let registration = try #require(StageCatalog.builtIn[kind])
    let node = try #require(YAMLDocument(settings).root)
    var resolver = ParameterResolver(owner: kind)
    let value = resolver.resolve(node, as: registration.descriptor.parameters)
    try #require(resolver.problems.map(\.message) == [], "\(kind) \(settings)")
    stage = try registration.make(value)
    scratch = try ScratchFolder()
    store = try DiskStore(at: scratch.file("store"))
  }

  /// What the stage makes of a sound.
  func outcome(of sound: TestSound, _ cut: Cut = Cut()) throws -> StageOutcome {
    do {
      switch stage {
      case let stage as any SoundFilterStage: return try filtered(sound, cut, stage)
      case let stage as any AnalysedSoundStage: return try analysed(sound, cut, stage)
      case let stage as any SoundSinkStage: return try taken(sound, cut, stage)
      case let stage as any SoundSourceStage: return try read(sound, cut, stage)
      default: throw Unknown()
      }
    } catch let error as SpoolError {
      return StageOutcome(refusal: error)
    }
  }

  /// A stage that sound neither flows through nor into has no place in this.
  struct Unknown: Error {}

  private func outline(_ sound: TestSound) -> SoundOutline {
    SoundOutline(format: sound.format, frames: sound.frameCount)
  }

  // MARK: Sound to sound

  private func filtered(
    _ sound: TestSound, _ cut: Cut, _ stage: any SoundFilterStage
  ) throws -> StageOutcome {
    let expected = try stage.outline(after: outline(sound))
    return try processed(sound, cut, expected) { () throws(SpoolError) in
      try stage.makeProcessor(for: sound.format)
    }
  }

  private func analysed(
    _ sound: TestSound, _ cut: Cut, _ stage: any AnalysedSoundStage
  ) throws -> StageOutcome {
    let (analysis, _) = try heard(sound, cut) { (work) throws(SpoolError) in
      try stage.makeAnalysis(of: sound.format, resuming: work.resuming)
    }
    let result = try analysis.conclude(kept(sound), store: store, pool: pool) { () in }
    let memo = try #require(result.memo)
    let expected = try stage.outline(after: outline(sound), memo: memo)
    var outcome = try processed(sound, cut, expected) { () throws(SpoolError) in
      try stage.makeProcessor(for: sound.format, memo: memo)
    }
    outcome.texts += [memo] + result.warnings
    try record(result, in: &outcome)
    return outcome
  }

  private func processed(
    _ sound: TestSound, _ cut: Cut, _ expected: SoundOutline,
    _ make: () throws(SpoolError) -> any Processor
  ) throws -> StageOutcome {
    var processor = try make()
    #expect(processor.outputFormat == expected.format, "the outline has another format")
    var result = TestSound(
      sampleRate: processor.outputFormat.sampleRate,
      channels: Array(repeating: [], count: processor.outputFormat.channelCount))
    let handover = min(cut.handover ?? 0, sound.frameCount.count)
    result.appendOutput(of: processor, given: sound[0..<handover], cuts: cut.blocks)
    if cut.handover != nil {
      let next = try make()
      try next.restore(processor.snapshot)
      processor = next
    }
    result.appendOutput(
      of: processor, given: sound[handover..<sound.frameCount.count], cuts: cut.blocks)
    result.appendRemains(of: processor)
    // The length is an estimate only where nobody can know it beforehand.
    if !expected.isGuessed, let frames = expected.frames {
      #expect(result.frameCount == frames, "the outline has another length")
    }
    var outcome = StageOutcome(sound: result)
    if let reporter = processor as? any ReportingProcessor {
      outcome.texts.append(try Findings.json(reporter.report()))
    }
    return outcome
  }

  /// The sound as an earlier stage would have left it in the store.
  private func kept(_ sound: TestSound) throws -> PCMArtifact {
    let draft = try store.makeDraft(.sound)
    try draft.append(PCMArtifact.header(sound.format))
    try draft.append(
      sound.interleaved.flatMap { sample in
        (0..<4).map { UInt8(truncatingIfNeeded: sample.bitPattern >> (8 * $0)) }
      })
    return try PCMArtifact(try draft.seal(), in: store)
  }

  // MARK: Sound to files

  private func taken(
    _ sound: TestSound, _ cut: Cut, _ stage: any SoundSinkStage
  ) throws -> StageOutcome {
    let (sink, claim) = try heard(sound, cut) { (work) throws(SpoolError) in
      try stage.makeSink(
        for: outline(sound),
        in: SinkContext(store: store, work: work, pool: pool, buffers: BufferPool()) { _, _ in })
    }
    defer { claim.end() }
    let result = try sink.finish()
    var outcome = StageOutcome(texts: result.warnings + [result.memo].compactMap { $0 })
    try record(result, in: &outcome)
    return outcome
  }

  /// A listener that has heard the whole sound, and the claim that its files lie in. With a
  /// handover, another one hears the rest, from what the first had noted by then.
  private func heard<Listener>(
    _ sound: TestSound, _ cut: Cut, _ make: (ListenerWork) throws(SpoolError) -> Listener
  ) throws -> (Listener, any WorkClaim) {
    let claim = try store.granted(SHA256.digest(of: "trial"))
    var noted: ListenerProgress?
    if let handover = cut.handover {
      let first = try make(ListenerWork(claim: claim, name: "0-trial", resuming: nil))
      let listener = try #require(first as? any SoundSink)
      try hear(sound, 0..<min(handover, sound.frameCount.count), cut, listener)
      noted = listener.progress()
      try listener.flush()
      listener.cancel()
    }
    let last = try make(ListenerWork(claim: claim, name: "0-trial", resuming: noted))
    let listener = try #require(last as? any SoundSink)
    let start = min(listener.firstFrame.count, sound.frameCount.count)
    try hear(sound, start..<sound.frameCount.count, cut, listener)
    return (last, claim)
  }

  private func hear(
    _ sound: TestSound, _ range: Range<Int>, _ cut: Cut, _ listener: any SoundSink
  ) throws {
    var (start, turn) = (range.lowerBound, 0)
    while start < range.upperBound {
      let count = min(max(cut.blocks[turn % cut.blocks.count], 0), range.upperBound - start)
      // A pass never hands on a block of nothing.
      if count > 0 { try listener.take(SharedBuffer(sound.buffer(start..<start + count))) }
      start += count
      turn += 1
    }
  }

  private func record(_ result: PassOutcome.Result, in outcome: inout StageOutcome) throws {
    for (port, artifact) in result.artifacts {
      outcome.files[port] = artifact.digest
      guard artifact.kind == .measurement else { continue }
      let bytes = try Data(contentsOf: URL(fileURLWithPath: store.path(of: artifact)))
      #expect(throws: Never.self, "\(port) is no JSON") {
        try JSONSerialization.jsonObject(with: bytes, options: .fragmentsAllowed)
      }
    }
  }

  // MARK: Files to sound

  private func read(
    _ sound: TestSound, _ cut: Cut, _ stage: any SoundSourceStage
  ) throws -> StageOutcome {
    let path = scratch.file("recording.wav")
    try sound.writeWAV(to: path)
    var inputs: [SoundInput] = []
    let declared = try #require(type(of: stage) as? any DeclaredStage.Type)
    for port in declared.descriptor.inputs where !port.isOptional {
      for number in 1...(port.isList ? 3 : 1) {
        inputs.append(
          try SoundInput(
            PassOrder.SourceInput(
              place: PortName(port.isList ? "\(port.name).\(number)" : port.name.name),
              origin: .recording(input: "", SourceFile(path))),
            in: nil))
      }
    }
    let source = try stage.open(inputs)
    let format = source.outline.format
    #expect(try stage.outline(of: inputs).format == format)
    var result = TestSound(
      sampleRate: format.sampleRate, channels: Array(repeating: [], count: format.channelCount))
    var buffer = AudioBuffer(channelCount: format.channelCount, capacity: SoundStream.blockLength)
    while try source.read(into: &buffer) { result.append(buffer) }
    return StageOutcome(
      sound: result, texts: source.warnings + [source.report()].compactMap { $0 })
  }
}
