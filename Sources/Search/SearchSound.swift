package import PipelineModel
package import Platform
internal import Transcripts

/// The sound that a hit was heard in, and how its time follows from the recording's.
package struct SearchSound: Sendable {
  /// The run that heard it.
  package let run: RunRecord
  /// The recording's digest; nil if it is unknown.
  package let digest: Digest?
  /// The very sound in which the words were heard; nil if it is not kept.
  private let kept: Artifact?
  /// The step that made that sound; nil if it is unknown.
  package let maker: StepID?
  /// The first step between the recording and the words of which it is not known how it moves time;
  /// nil if there is none.
  package let obstacle: StepID?
  /// Whether the times of the words are those of the recording.
  package var isUnmoved: Bool { obstacle == nil && changes.isEmpty }
  /// How stages have moved the recording's time, the last change first.
  private let changes: [TimelineMap]
  /// How many of them moved the words behind the sound in which they were heard.
  private let wordChangeCount: Int

  /// The stretch of the recording that the words of a stretch were in, in seconds; nil if that is not
  /// known.
  package func origin(of stretch: ClosedRange<Double>) -> ClosedRange<Double>? {
    obstacle == nil ? Self.undo(changes[...], stretch) : nil
  }

  /// The stretch of the kept sound that they were in; nil if that is not known, or none is kept.
  package func keptPlace(
    of stretch: ClosedRange<Double>
  ) -> (sound: Artifact, stretch: ClosedRange<Double>)? {
    guard let kept, let place = Self.undo(changes.prefix(wordChangeCount), stretch) else {
      return nil
    }
    return (kept, place)
  }

  private static func undo(
    _ changes: ArraySlice<TimelineMap>, _ stretch: ClosedRange<Double>
  ) -> ClosedRange<Double>? {
    var (start, end) = (stretch.lowerBound, stretch.upperBound)
    for change in changes {
      guard let from = change.origin(of: start), let to = change.origin(of: end) else {
        return nil
      }
      (start, end) = (min(from, to), max(from, to))
    }
    return start...end
  }

  /// Stages that leave every moment of the sound where it was.
  private static let timeKeepers: Set<String> = [
    "decode", "eq", "gate", "compress", "gain", "limit", "normalize", "normalize-survey", "measure",
    "dc", "declip", "dehum", "denoise", "deess", "fade", "mono", "stereo", "channels", "resample",
    "invert",
  ]

  /// Follows the words back to the recording, by what the run has recorded of its steps: that
  /// outlasts their checkpoints. O(steps²).
  /// - Parameters:
  ///   - step: the step that gave the words.
  ///   - digest: the recording's.
  ///   - inputs: what each step was made of, where that is known.
  ///   - kept: the kept sound of an identity.
  init(
    _ run: RunRecord, words step: StepRecord, digest: Digest?,
    inputs: [StepID: [PortName: Digest]], kept: (Digest) -> Artifact?
  ) {
    self.run = run
    self.digest = digest
    var trace = Trace(steps: run.steps, inputs: inputs)
    let heard = trace.soundOfWords(of: step)
    // Where words were moved in an unknown way, no place in it is known.
    self.kept = trace.obstacle == nil ? heard.flatMap(kept) : nil
    maker = heard.flatMap { run.steps.maker(of: $0)?.id }
    wordChangeCount = trace.changes.count
    if let heard {
      trace.follow(heard, to: digest)
    } else {
      trace.takeAllSound(before: step)
    }
    obstacle = trace.obstacle
    changes = trace.changes
  }

  /// The way back from the words to the recording. A pure value.
  private struct Trace {
    let steps: [StepRecord]
    let inputs: [StepID: [PortName: Digest]]
    private(set) var changes: [TimelineMap] = []
    private(set) var obstacle: StepID?

    init(steps: [StepRecord], inputs: [StepID: [PortName: Digest]]) {
      self.steps = steps
      self.inputs = inputs
    }

    /// The sound in which the words of a step were heard; nil if that is unknown. Words that were moved
    /// with their sound lead to the step that heard them.
    mutating func soundOfWords(of step: StepRecord) -> Digest? {
      var step = step
      for _ in steps {
        guard let own = inputs[step.id] else { return nil }
        if let sound = own[.sound] { return sound }
        if step.kind == "retime" { takeChanges(own, of: step) }
        guard let words = own[PortName("transcript")], let earlier = steps.maker(of: words)
        else {
          return nil
        }
        step = earlier
      }
      return nil
    }

    /// Goes from a sound to the recording, step by step.
    mutating func follow(_ sound: Digest, to recording: Digest?) {
      var next = sound
      for _ in steps where next != recording {
        guard let step = steps.maker(of: next) else {
          return obstacle = obstacle ?? steps.first?.id
        }
        take(step)
        guard let own = inputs[step.id] else { return takeAllSound(before: step) }
        // Of several sounds, it is not known which one moved where.
        guard let source = own[.sound] ?? (own.count == 1 ? own.first?.value : nil) else {
          return obstacle = obstacle ?? step.id
        }
        next = source
      }
    }

    /// In an old run whose checkpoints are gone: the words may have gone through any step with sound.
    mutating func takeAllSound(before step: StepRecord) {
      for earlier in steps.prefix(while: { $0.id != step.id }).reversed()
      where earlier.outputs.values.contains(where: { $0.kind == .sound }) {
        if SearchSound.timeKeepers.contains(earlier.kind) { continue }
        return obstacle = obstacle ?? earlier.id
      }
    }

    private mutating func take(_ step: StepRecord) {
      if SearchSound.timeKeepers.contains(step.kind) { return }
      guard let map = step.timelineMap else { return obstacle = obstacle ?? step.id }
      changes.append(map)
    }

    /// The changes by which words were moved, the last first.
    private mutating func takeChanges(_ own: [PortName: Digest], of step: StepRecord) {
      guard let maps = steps.changes(of: step, made: own) else {
        return obstacle = obstacle ?? step.id
      }
      changes += maps.reversed()
    }
  }
}

extension [StepRecord] {
  /// The step that gave what has an identity.
  func maker(of identity: Digest) -> StepRecord? {
    first { $0.outputs.values.contains { $0.identity == identity } }
  }

  /// The changes by which a step `retime` moved its words, in their order; nil if one is not known.
  /// In runs of an earlier version it says nothing of them, and the steps do that it followed.
  /// - Parameter own: what the step was made of.
  func changes(of retime: StepRecord, made own: [PortName: Digest]) -> [TimelineMap]? {
    if let whole = retime.timelineMap { return [whole] }
    var maps: [TimelineMap] = []
    while let change = own[PortName("changes.\(maps.count + 1)")] {
      guard let map = maker(of: change)?.timelineMap else { return nil }
      maps.append(map)
    }
    return maps
  }
}

extension StepRecord {
  /// How it moved time; nil if it does not say.
  fileprivate var timelineMap: TimelineMap? {
    foundValue.flatMap { try? TimelineMap(json: $0) }
  }
}

extension WordSearch {
  /// The sound of a hit; nil if its run is not in the store any more.
  package func sound(of hit: SearchHit) throws(SpoolError) -> SearchSound? {
    guard let run = try runs.run(named: hit.run), run.id.name == hit.run else { return nil }
    return try run.sound(
      ofWords: StepID(hit.step), recording: Digest(hex: hit.recording), in: store)
  }
}

extension RunRecord {
  /// The sound in which the words of a step were heard; nil if it has no such step.
  /// - Parameter recording: the digest of the recording; nil if unknown.
  package func sound(
    ofWords step: StepID, recording: Digest?, in store: any ArtifactStore
  ) throws(SpoolError) -> SearchSound? {
    guard let step = steps.first(where: { $0.id == step }) else { return nil }
    let inputs = try stepInputs(in: store)
    var sounds: [Digest: Artifact] = [:]
    for key in steps.compactMap(\.key) {
      for output in try store.checkpoint(for: key)?.outputs.values.map(\.self) ?? []
      where output.kind == .sound {
        if let artifact = output.artifact { sounds[output.identity] = artifact }
      }
    }
    return SearchSound(
      self, words: step, digest: recording, inputs: inputs, kept: { sounds[$0] })
  }
}
