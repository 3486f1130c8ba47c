import Audio
import Media
import PipelineModel
import Platform
import SoundEngine

extension PublishingContext {
  /// The tags of the recording that still hold for the sound which the step takes.
  func tags(of recording: ExportTags) -> ExportTags {
    ProcessingHistory(upstream.chain(to: step), of: recording.source).isAsRecorded
      ? recording : recording.ofChangedSound
  }

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
    var loudness = BroadcastExtension.Loudness()
    // Figures of the whole say nothing of a piece.
    if start == nil {
      guard let found = try knownLoudness(clippingAt: target.depth == nil ? nil : Decibels(0))
      else { return nil }
      loudness = found
    }
    let extent = try BroadcastWave.extent(of: try store.path(of: artifact))
    var past = ProcessingHistory(upstream.chain(to: step), of: tags.source)
    if let start { past.begin(at: start) }
    let incoming = past.isOneRecording ? tags.notes : BroadcastMetadata()

    var bext = BroadcastExtension()
    bext.description =
      [incoming.bext?.description, tags.title].lazy.compactMap(\.self).first { !$0.isEmpty } ?? ""
    // The originator is the recording's; what was done since is in the coding history.
    bext.originator =
      incoming.bext.map(\.originator).flatMap { $0.isEmpty ? nil : $0 }
      ?? "\(Release.name) \(Release.version)"
    (bext.originationDate, bext.originationTime) = tags.origination ?? ("", "")
    bext.timeReference = past.time.reference(incoming.bext?.timeReference ?? 0)
    if start == nil, past.isAsRecorded, loudness == BroadcastExtension.Loudness() {
      loudness = incoming.bext?.loudness ?? loudness
      // Integers cannot go over full scale in samples, only between them.
      let isClipped = target.depth != nil && tags.source?.codec.hasPrefix("pcm_f") == true
      if isClipped, let peak = loudness.truePeak, peak > 0 {
        loudness = BroadcastExtension.Loudness()
      }
    }
    bext.loudness = loudness
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

  /// What steps of the run have found, perhaps nothing, about the loudness of the very sound that
  /// the step takes: the `measure` that takes the same sound, or else the `normalize` that gave it.
  /// Nil while such a step has not finished.
  /// - Parameter limit: the level at which the file clips samples; what is higher was measured of
  ///   other sound than the file's. Nil where it holds all.
  private func knownLoudness(
    clippingAt limit: Decibels?
  ) throws(SpoolError) -> BroadcastExtension.Loudness? {
    func isClipped(_ peak: Decibels?) -> Bool {
      if let limit, let peak { peak > limit } else { false }
    }
    if let meter = upstream.peers(of: step).first(where: { $0.stage is MeasureStage }) {
      guard let text = try measurement(of: meter) else { return nil }
      let levels = try Findings.decode(Levels.self, from: text)
      return isClipped(levels.samplePeak)
        ? BroadcastExtension.Loudness() : BroadcastExtension.Loudness(levels)
    }
    if let above = upstream.chain(to: step).last, above.stage is NormalizeStage {
      guard let text = try measurement(of: above) else { return nil }
      let report = try Findings.decode(NormalizeStage.Report.self, from: text)
      return isClipped(report.after.samplePeak)
        ? BroadcastExtension.Loudness() : BroadcastExtension.Loudness(report)
    }
    return BroadcastExtension.Loudness()
  }

  /// What a step above measured, as JSON; nil while it is not done.
  func measurement(of step: BoundStep) throws(SpoolError) -> String? {
    guard let artifact = upstream.outputs(of: step.id)?[.measurement]?.artifact else { return nil }
    return try store.text(of: artifact)
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
    isOneRecording =
      chain.first?.stage is DecodeStage
      && !chain.dropFirst().contains { $0.stage is any SoundSourceStage }
    isAsRecorded = isOneRecording
    // Decoders cut off what codecs put in front, which no cue point counts.
    let codec = recording?.codec ?? ""
    if !isOneRecording || !codec.hasPrefix("pcm_") && !["flac", "alac"].contains(codec) {
      time.begin(at: nil)
    }
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

extension BroadcastExtension.Loudness {
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
  fileprivate init(_ findings: NormalizeStage.Report) {
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

/// What was done to sound, a line for each process, after EBU R 98: how it is coded, and in words
/// what did it.
enum CodingHistory {
  /// One process.
  struct Line: Hashable {
    /// How the sound is coded behind it.
    var algorithm = "PCM"
    /// The rate and the channels; nil where they are not known.
    var format: AudioFormat?
    /// Thousands of bits a second, of coded sound.
    var bitRate: Int?
    /// Bits of a sample; nil for floats, which R 98 has no word for.
    var wordLength: Int?
    /// What did it.
    let words: String

    /// As it is written, with its line end.
    var text: String {
      var fields = ["A=\(algorithm)"]
      if let format { fields.append("F=\(Int(format.sampleRate.value.rounded()))") }
      if let bitRate { fields.append("B=\(bitRate)") }
      if let wordLength { fields.append("W=\(wordLength)") }
      switch format?.channelCount {
      case 1: fields.append("M=mono")
      case 2: fields.append("M=stereo")
      default: break
      }
      // Commas part the fields.
      fields.append("T=\(plain(words))")
      return fields.joined(separator: ",") + "\r\n"
    }

    private func plain(_ words: String) -> String {
      let scalars = words.unicodeScalars.prefix(mostScalars).map { scalar -> Unicode.Scalar in
        switch scalar {
        case ",": ";"
        case _ where scalar.value < 0x20 || scalar.value == 0x7F: " "
        default: scalar
        }
      }
      return String(String.UnicodeScalarView(scalars))
    }
  }

  /// A list of a hundred cuts need not be in every file.
  private static let mostScalars = 250

  /// The lines of a file, behind those that the recording came with.
  static func text(_ lines: [Line], after earlier: String) -> String {
    // A line end is one character of two bytes.
    let isEnded = earlier.isEmpty || earlier.utf8.last == 0x0A
    var text = isEnded ? earlier : earlier + "\r\n"
    for line in lines { text += line.text }
    return text
  }
}

extension CodingHistory.Line {
  /// How a recording is coded. R 98 has words for linear samples and for MPEG audio; what it has
  /// none for is linear once it is decoded, and the words tell of what.
  init(ofRecording description: MediaDescription, _ bext: BroadcastExtension?) {
    let rate = description.bitRate.map { " \($0 / 1000) kbit/s" } ?? ""
    let origin = [bext?.originator, bext?.originatorReference].compactMap { $0 }
      .filter { !$0.isEmpty }.map { "; \($0)" }.joined()
    let codec = description.codec
    let generation = description.format.sampleRate.value >= 32_000 ? "MPEG1L" : "MPEG2L"
    switch codec {
    case "mp1", "mp2", "mp3":
      self.init(
        algorithm: generation + codec.suffix(1), format: description.format,
        bitRate: description.bitRate.map { $0 / 1000 }, words: "recording" + origin)
    case _ where codec.hasPrefix("pcm_"):
      self.init(
        format: description.format, wordLength: Self.wordLength(description),
        words: "recording" + origin)
    default:
      self.init(
        format: description.format, wordLength: Self.wordLength(description),
        words: "recording decoded from \(codec)\(description.bitDepth == nil ? rate : "")"
          + origin)
    }
  }

  private static func wordLength(_ description: MediaDescription) -> Int? {
    description.codec.hasPrefix("pcm_f") ? nil : description.bitDepth
  }

  /// What a stage did, with its parameters.
  init(_ step: BoundStep, format: AudioFormat?) {
    var words = "\(Release.name) \(Release.version); \(step.descriptor.kind)"
    if case .group(let values) = step.parameters {
      for parameter in step.descriptor.parameters where parameter.isInKey {
        // What is free text may name people and places.
        if case .text = parameter.type { continue }
        guard let value = values[parameter.name], value != .null else { continue }
        words += "; \(parameter.name) \(parameter.type.text(of: value))"
      }
    }
    self.init(format: format, words: words)
  }
}
