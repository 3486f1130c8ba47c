import Audio
import Media
import PipelineEngine
import PipelineModel
import Platform
import Receipts
import SoundEngine

/// `sync`: recordings of one event, made by several recorders, brought to one clock.
struct SyncStage: PlainStage, SoundSourceStage, PublishingStage {
  let reference: Int
  let extent: String
  let sampleRate: Hertz?
  let picture: Bool
  let name: String

  static let descriptor = StageDescriptor(
    kind: "sync", revision: 4,
    summary: "Bring recordings of one event by several recorders to one clock",
    discussion: """
      Takes recordings and sound from the steps above, in this order: from: [$camera, $recorders]. \
      Finds by their sound where each recording lies beside the reference, whatever the \
      microphones and levels, and how its clock drifts, a stretch of three seconds at a time; the \
      recordings are resampled to the clock of the reference, which itself is only moved. They \
      stand side by side in one sound, each with its own channels: export makes a polyphonic WAV \
      file of it, split: { by: channel } a file for each channel, and channels takes one recording \
      out for mixdown. At least ten seconds must be shared; a recording that shares no sound with \
      the reference is an error, and so is one whose sound repeats itself, so that it has more than one \
      place. Where a recording does not reach, there is silence. What one \
      microphone hears later than another because it is farther away counts as offset too: 3 ms a \
      metre. Where a recorder has lost some sound, was paused, or a cut was made, the recording jumps: jumps of \
      6 ms and more are found and told. Of longer ones, silence stands in the place of what is missing, and what \
      the reference does not have is left out; around those of some milliseconds the seconds are stretched. The measurement says of each recording where it begins on the common clock, by how \
      many parts per million its clock is fast, how sure that is, and the map of both clocks.
      """,
    flow: .streaming(.sound, .source),
    inputs: [
      Port(PortName("recordings"), .sound, "the recordings, in order", intake: .both, isList: true)
    ],
    outputs: [
      Port(.sound, .sound, "all recordings side by side"),
      Port(.measurement, .measurement, "how the clocks run, as JSON"),
    ],
    parameters: [
      ParameterDescriptor(
        "reference", .integer(1...64), .defaulted("1"),
        "the number of the recording whose clock counts", places: .source),
      ParameterDescriptor(
        "extent", .choice(Extent.allCases.map(\.rawValue)), .defaulted("all"),
        "from the first beginning to the last end (all), as long as the reference, or what all "
          + "recordings share"),
      ParameterDescriptor(
        "sample-rate", .number(.hertz, 4000...768_000), .optional,
        "the rate of the whole; without it that of the reference"),
      ParameterDescriptor(
        "picture", .flag, .defaulted("false"),
        "also draw how the clocks run against each other, as .svg beside the exports",
        isInKey: false),
      PictureSize.name,
    ])

  static var libraries: [String: String] { MediaLibraries.versions }

  /// Which stretch of the common time is given.
  enum Extent: String, CaseIterable { case all, reference, shared }

  init(_ parameters: Self) throws(SpoolError) {
    self = parameters
    try sampleRate?.checkWhole(for: "sync", "sample-rate")
  }

  func open(_ inputs: [SoundInput]) throws(SpoolError) -> any SoundSource {
    SyncSource(try layout(inputs))
  }

  func outline(of inputs: [SoundInput]) throws(SpoolError) -> SoundOutline {
    try layout(inputs).outline
  }

  private func layout(_ inputs: [SoundInput]) throws(SpoolError) -> SyncLayout {
    var parts: [PartInput] = []
    for input in inputs {
      parts.append(try PartInput(input, number: parts.count + 1, noun: "recording"))
    }
    return try SyncLayout(
      parts, reference: reference - 1, extent: Extent(rawValue: extent) ?? .all,
      sampleRate: sampleRate)
  }

  func fileNames(of step: StepID, recordings: [String]) -> [String] {
    picture ? [ExportName.fill(name, recording: recordings.first) + ".\(step.name).svg"] : []
  }

  func publish(_ context: PublishingContext) throws(SpoolError) -> [PublishedFile] {
    guard picture, let figures = context.outputs[.measurement]?.artifact else { return [] }
    let report = try Findings.decode(
      SyncReport.self, from: try context.store.text(of: figures))
    let drawing = try context.store.keepSVG(SyncPicture(report).drawing)
    return try fileNames(of: context.step, recordings: context.names)
      .map { (name) throws(SpoolError) in try context.publish(drawing, as: name) }
  }
}

extension StageRegistration { static let sync = StageRegistration(SyncStage.self) }

/// Recordings in their order, and what they become together. Nothing is decoded yet.
struct SyncLayout {
  let parts: [PartInput]
  /// The place of the recording whose clock counts.
  let reference: Int
  let extent: SyncStage.Extent
  /// What comes out.
  let format: AudioFormat
  /// The channels of each recording.
  let channelCounts: [Int]

  /// - Parameter sampleRate: nil for that of the reference.
  init(
    _ parts: [PartInput], reference: Int, extent: SyncStage.Extent, sampleRate: Hertz?
  ) throws(SpoolError) {
    guard parts.count > 1 else {
      throw SpoolError(
        "sync has \(parts.isEmpty ? "no recordings" : "one recording")",
        advice: "name at least two recordings of one event")
    }
    guard parts.indices.contains(reference) else {
      throw SpoolError(
        "there is no recording \(reference + 1) for sync",
        reason: "only \(parts.count) came in",
        advice: "reference: a number from 1 to \(parts.count)")
    }
    channelCounts = parts.map { $0.outline?.format.channelCount ?? 2 }
    let total = channelCounts.reduce(0, +)
    guard total <= AudioFormat.mostChannels else {
      throw SpoolError(
        "the recordings have too many channels to stand side by side",
        reason: "they have \(total), and \(AudioFormat.mostChannels) are the most",
        advice: "make some of them mono above sync")
    }
    self.parts = parts
    self.reference = reference
    self.extent = extent
    format = AudioFormat(
      sampleRate: sampleRate ?? parts[reference].outline?.format.sampleRate ?? Hertz(48_000),
      channelCount: total)
  }

  /// The format of one recording at the common rate.
  func format(of index: Int) -> AudioFormat {
    AudioFormat(sampleRate: format.sampleRate, channelCount: channelCounts[index])
  }

  /// Its format, and a guess of its length: where the recordings lie is not known yet.
  var outline: SoundOutline {
    let lengths = parts.indices.compactMap { index in
      parts[index].outline.flatMap(\.duration)?.frames(at: format.sampleRate)
    }
    if extent == .reference, let own = parts[reference].outline {
      let frames = own.frames.map {
        Resampler.length(of: $0, from: own.format.sampleRate, to: format.sampleRate)
      }
      return SoundOutline(format: format, frames: frames, isGuessed: own.isGuessed)
    }
    return SoundOutline(format: format, frames: lengths.max(), isGuessed: true)
  }
}

/// What is written down about recordings on one clock.
struct SyncReport: Codable {
  /// One recording.
  struct Recording: Codable {
    /// For people: `recording 2 (lapel.wav)`.
    let title: String
    /// Its channels in the whole, counted from 1.
    let channels: [Int]
    /// When it begins in the whole; negative where its beginning is left out.
    let offset: Seconds
    /// How long it is, by its own clock.
    let duration: Seconds
    /// By how many parts per million its clock is faster than the reference's.
    let drift: Double
    /// The share of clear measurements that agree, 0…1.
    let confidence: Double
    /// The root mean square of what they miss the map by.
    let residual: Seconds
    /// Stretches that were measured, and those that agree.
    let measured: Int
    let agreeing: Int
    /// Moments in its own time and in that of the whole, in seconds, in order.
    let clock: [[Double]]
    /// Moments in its own time, and by how many seconds it lies later from each on; nil in reports of
    /// earlier versions, and of the reference.
    let jumps: [[Double]]?
    /// The first and the last moment in its own time at which it was alike, in seconds; nil as above.
    let compared: [Double]?
  }

  let sampleRate: Hertz
  let channels: Int
  /// How long the whole is.
  let duration: Seconds
  /// The number of the recording whose clock counts.
  let reference: Int
  let recordings: [Recording]
}
