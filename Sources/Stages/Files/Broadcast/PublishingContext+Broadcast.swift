import Audio
import Media
import PipelineModel
import Platform
import SoundEngine

extension PublishingContext {
  /// What a WAV file is to tell; nil while that is not known yet, as a stage that will know has not
  /// finished.
  /// - Parameters:
  ///   - tags: what is carried over from the recording.
  ///   - start: the frame at which the file begins, of a file that is a piece of the sound; nil for
  ///     the whole.
  func broadcastNotes(
    for artifact: Artifact, _ target: ExportTarget, tags: ExportTags,
    start: Frames? = nil
  ) throws(SpoolError) -> BroadcastMetadata? {
    var loudness = BroadcastLoudness()
    // Figures of the whole say nothing of a piece.
    if start == nil {
      guard case .known(let found) = try KnownLoudness(self) else { return nil }
      loudness = found
    }
    let path: String
    path = try store.path(of: artifact)
    let extent: (format: AudioFormat, frames: Frames)?
    do throws(MediaError) { extent = try BroadcastWave.extent(of: path) } catch {
      throw SpoolError(error)
    }
    var past = ProcessingHistory(upstream.chain(to: step), of: tags.source)
    if let start { past.begin(at: start) }
    let incoming = past.isOneRecording ? tags.notes : BroadcastMetadata()

    var bext = BroadcastExtension()
    let description = [incoming.bext?.description, tags.title].compactMap { $0 }
      .first { !$0.isEmpty }
    bext.description = description ?? ExportName.stem(of: names.first)
    // The originator is the recording's; what was done since is in the coding history.
    bext.originator =
      incoming.bext.map(\.originator).flatMap { $0.isEmpty ? nil : $0 }
      ?? "\(Release.name) \(Release.version)"
    (bext.originationDate, bext.originationTime) = tags.origination ?? ("", "")
    bext.timeReference = past.time.reference(incoming.bext?.timeReference ?? 0)
    let isUnmeasured = loudness == BroadcastLoudness()
    bext.loudness =
      start == nil && past.isAsRecorded && isUnmeasured
      ? incoming.bext?.loudness ?? loudness : loudness
    var lines = past.lines
    if past.isOneRecording, let source = tags.source {
      lines.insert(CodingHistory.Line(ofRecording: source, incoming.bext), at: 0)
    }
    lines.append(
      CodingHistory.Line(
        format: extent?.format, wordLength: target.depth?.rawValue,
        words: "\(Release.name) \(Release.version); written as \(target.format.rawValue)"))
    bext.codingHistory = CodingHistory.text(lines, after: incoming.bext?.codingHistory ?? "")

    var notes = BroadcastMetadata()
    notes.bext = bext
    carry(
      incoming, past.time, extent?.frames, isWhole: start == nil && past.time.isUnchanged,
      to: &notes)
    // A piece, or sound that stands elsewhere in time, is not the material that these name.
    let isSameMaterial = start == nil && past.time.isUnchanged
    let given = isSameMaterial ? incoming.bext : nil
    bext.materialIdentifier = given?.materialIdentifier ?? []
    notes.bext = bext
    bext.originatorReference =
      given.map(\.originatorReference).flatMap { $0.isEmpty ? nil : $0 }
      ?? reference(artifact, notes)
    notes.bext = bext
    return notes
  }

  /// Carries over what refers to times in the recording, as far as these are still where they were
  /// or can be followed, and tells of what is left out.
  private func carry(
    _ incoming: BroadcastMetadata, _ time: TimePath, _ frames: Frames?, isWhole: Bool,
    to notes: inout BroadcastMetadata
  ) {
    var lost: [String] = []
    // The end of the whole may be marked; that of a piece is the beginning of the next.
    let end = Frames((frames ?? Frames(.max)).count - (isWhole ? 0 : 1))
    if time.isKnown {
      let cues = incoming.cues?.moved { frame in
        time.place(of: frame).flatMap { $0 <= end ? $0 : nil }
      } length: {
        time.length($0)
      }
      notes.cues = cues.flatMap { $0.isEmpty ? nil : $0 }
    } else if incoming.cues != nil {
      lost.append("cue points")
    }
    // It counts tracks and times of the whole.
    if isWhole {
      notes.iXML = incoming.iXML
    } else if incoming.iXML != nil {
      lost.append("iXML")
    }
    guard !lost.isEmpty else { return }
    let recording = recordings.first?.split(separator: "/").last ?? "the recording"
    warn(
      "\(lost.joined(separator: " and ")) of \(recording) left out of WAV files: "
        + (time.isKnown
          ? "it tells of the recording as it was, and of all of it"
          : "the stages above moved the sound in time"))
  }

  /// The file's own name, which no other has, and which is the same for the same content: half of a
  /// SHA-256, in hexadecimal digits.
  private func reference(_ artifact: Artifact, _ notes: BroadcastMetadata) -> String {
    let digest = SHA256.digest(
      of: "spool-broadcast-reference-1\n\(artifact.digest.hex)\n\(notes.digest.hex)")
    return String(digest.hex.prefix(32))
  }
}

/// What happened to sound between its recording and a file: what each stage did, and where its time
/// went.
struct ProcessingHistory {
  /// A line for each stage that may have changed the sound.
  private(set) var lines: [CodingHistory.Line] = []
  /// What became of its time.
  private(set) var time = TimePath()
  /// Whether it is the sound of one recording, and not a mix or a chain of several.
  let isOneRecording: Bool
  /// Whether it is that recording as it came, in its own format: then what was known of it holds.
  private(set) var isAsRecorded: Bool

  /// - Parameters:
  ///   - chain: the stages, from the recording on.
  ///   - recording: what is known of the recording; nil where it was not looked at.
  init(_ chain: [BoundStep], of recording: MediaDescription?) {
    isOneRecording = chain.first?.stage is DecodeStage
    isAsRecorded = isOneRecording
    // Decoders cut off what codecs put in front, which no cue point counts.
    if !isOneRecording || !(recording?.codec.hasPrefix("pcm_") ?? false) { time.begin(at: nil) }
    var format = isOneRecording ? recording?.format : nil
    for step in chain {
      let before = format
      switch step.stage {
      case let stage as DecodeStage: format = before.map { stage.format(of: $0) }
      case let stage as any SoundFilterStage:
        format = before.flatMap {
          try? stage.outline(after: SoundOutline(format: $0, frames: nil)).format
        }
        if let stage = stage as? any TimeMovingStage {
          time.begin(at: before.flatMap { stage.beginning(at: $0.sampleRate) })
        }
      case is any AnalysedSoundStage: break
      default: format = nil
      }
      if let before, let format { time.resample(from: before.sampleRate, to: format.sampleRate) }
      // What only listens changed nothing.
      if !(step.stage is MeasureStage) {
        lines.append(CodingHistory.Line(step, format: format))
        if !(step.stage is DecodeStage) { isAsRecorded = false }
      }
    }
    if format != recording?.format { isAsRecorded = false }
  }

  /// A file that begins at this frame of the sound.
  mutating func begin(at frame: Frames) { time.begin(at: frame) }
}

/// What steps of a run have found about the loudness of the very sound that a step takes.
enum KnownLoudness {
  /// So much is known, perhaps nothing.
  case known(BroadcastLoudness)
  /// A step that will know has not finished.
  case awaited

  /// Asks the `measure` that takes the same sound, or else the `normalize` that gave it.
  init(_ context: PublishingContext) throws(SpoolError) {
    let upstream = context.upstream
    if let meter = upstream.peers(of: context.step).first(where: { $0.stage is MeasureStage }) {
      guard let text = try Self.measurement(of: meter, context) else {
        self = .awaited
        return
      }
      self = .known(BroadcastLoudness(try Findings.decode(Levels.self, from: text)))
    } else if let above = upstream.chain(to: context.step).last, above.stage is NormalizeStage {
      guard let text = try Self.measurement(of: above, context) else {
        self = .awaited
        return
      }
      self = .known(BroadcastLoudness(try Findings.decode(NormalizeFindings.self, from: text)))
    } else {
      self = .known(BroadcastLoudness())
    }
  }

  private static func measurement(
    of step: BoundStep, _ context: PublishingContext
  ) throws(SpoolError) -> String? {
    guard let artifact = context.upstream.outputs(of: step.id)?[.measurement]?.artifact else {
      return nil
    }
    return try context.store.text(of: artifact)
  }
}

extension BroadcastLoudness {
  /// What `measure` found.
  fileprivate init(_ levels: Levels) {
    self.init()
    integrated = levels.integratedLoudness?.value
    range = levels.loudnessRange?.value
    truePeak = levels.truePeak?.value
    momentary = levels.maximumMomentary?.value
    shortTerm = levels.maximumShortTerm?.value
  }

  /// What `normalize` knows. Of sound that was limited it knows the ceiling, which is no peak.
  fileprivate init(_ findings: NormalizeFindings) {
    self.init()
    integrated = findings.after.integratedLoudness?.value
    truePeak = findings.isLimited ? nil : findings.after.truePeak?.value
  }
}

/// What became of the time of a recording's sound on its way to a file, so that its cue points and
/// its place in the day can follow. A pure value.
struct TimePath: Hashable, Sendable {
  private enum Change: Hashable, Sendable {
    /// The sound begins at this frame of what it was.
    case begins(Frames)
    /// It has another rate.
    case rate(from: Hertz, to: Hertz)
  }

  /// In the order in which they came; nil where the sound was moved in any other way.
  private var changes: [Change]? = []

  /// Whether every frame is where it was.
  var isUnchanged: Bool { changes?.isEmpty ?? false }
  /// Whether the new place of a frame is known.
  var isKnown: Bool { changes != nil }

  /// The sound begins at a frame of what it was; nil where it was moved otherwise.
  mutating func begin(at frame: Frames?) {
    guard let frame else { return changes = nil }
    if frame != .zero { changes?.append(.begins(frame)) }
  }

  /// The sound has another rate.
  mutating func resample(from old: Hertz, to new: Hertz) {
    if old != new { changes?.append(.rate(from: old, to: new)) }
  }

  /// Where a frame of the recording is now, to the nearest frame; nil where that is not known, and
  /// for what was cut off at the beginning.
  func place(of frame: Frames) -> Frames? {
    guard let changes else { return nil }
    var place = frame
    for change in changes {
      switch change {
      case .begins(let start): place = place - start
      case .rate(let old, let new): place = Self.scaled(place, old, new)
      }
      if place.count < 0 { return nil }
    }
    return place
  }

  /// How many frames a stretch of the recording has now.
  func length(_ frames: Frames) -> Frames {
    (changes ?? []).reduce(frames) { frames, change in
      guard case .rate(let old, let new) = change else { return frames }
      return Self.scaled(frames, old, new)
    }
  }

  /// How many frames lie between midnight and the first frame of the sound, where so many lay before
  /// the recording's; 0 where that is not known.
  func reference(_ reference: UInt64) -> UInt64 {
    guard let changes, reference < 1 << 50 else { return 0 }
    let result = changes.reduce(Frames(Int(reference))) { reference, change in
      switch change {
      case .begins(let start): reference + start
      case .rate(let old, let new): Self.scaled(reference, old, new)
      }
    }
    return UInt64(result.count)
  }

  private static func scaled(_ frames: Frames, _ old: Hertz, _ new: Hertz) -> Frames {
    Frames(Int((Double(frames.count) * new.value / old.value).rounded()))
  }
}
