import Audio
import Media
import PipelineEngine
import PipelineModel
import Platform
import Receipts
import SoundEngine

/// `split`: a file for every piece of the sound, or for every channel.
struct SplitStage: DeclaredStage, SoundSinkStage, PublishingStage, EquippedStage {
  struct Parameters: Codable, Sendable, ExportOptions {
    let at: [Seconds]?
    let by: String?
    let threshold: Decibels
    let minimum: Seconds
    let padding: Seconds
    let width: Int?
    let formats: [String]
    let wav: LinearOptions
    let m4a: LossyOptions
    let alac: LinearOptions
    let flac: FLACOptions
    let mp3: MP3Options
    let opus: LossyOptions
    let ogg: VorbisOptions
    let dither: String
    let verify: Bool
    let name: String
    let tags: Bool
    let metadata: [String: String?]
    let cover: String?
    let bext: Bool
  }

  static let descriptor = StageDescriptor(
    kind: "split", revision: 6,
    summary: "Write a file for every piece: at times, by silence, by marker, or by channel",
    discussion: """
      Each piece begins where the one before ends, so that concat makes the whole of them again, \
      bit for bit. Times are rounded to the nearest frame; they ascend, and lie within the sound. \
      By silence, it is cut wherever sound begins again after a pause, the padding before it; \
      where there is no pause, the whole is one piece. By marker, it is cut at the chapters or cue \
      points of the recording that is named with recording: $input; it must stand above all that \
      moves sound in time, such as trim. By channel, every channel of a polyphonic recording is a \
      file of its own; with width: 2, every two that stand side by side. Files are encoded and verified as export does it, and put into the output folder when \
      all of them are whole: take-01.wav, take-02.wav, with more digits where there are more than \
      99. There are 999 pieces at most. The sound passes on to the stages below unchanged. The \
      measurement lists the pieces, in seconds, and what the files were found to hold.
      """,
    flow: .streaming(.sound, .sink),
    inputs: [
      Port(.sound, .sound, "the sound to split"),
      Port(
        PortName("recording"), .sound, "the recording whose markers count, with by: marker",
        isOptional: true, intake: .recording),
    ],
    outputs: ExportFormat.allCases.map {
      Port($0.port, .file, "the \($0.rawValue) files, where they are asked for", isList: true)
    }
      + ExportFormat.allCases.filter(\.isLossless).map {
        Port(
          $0.samplesPort, .file,
          "the hashes of each second of their samples, by which a part of a \($0.rawValue) file is proven",
          isList: true)
      } + [Port(.measurement, .measurement, "where each piece lies, as JSON")],
    parameters: [
      ParameterDescriptor(
        "at", .list(of: .number(.seconds, 0...360_000), count: 1...(SplitName.mostPieces - 1)),
        .optional, "the times at which pieces begin: [1:00, 2:30]"),
      ParameterDescriptor(
        "by", .choice(["silence", "marker", "channel"]), .optional, "what to go by, in place of at"),
      ParameterDescriptor(
        "threshold", .number(.decibels, -120...0), .defaulted("-45 dB"),
        "by silence: the peak level that is no longer silence"),
      ParameterDescriptor(
        "minimum", .number(.seconds, 0.01...600), .defaulted("1 s"),
        "by silence: how long a pause is at least"),
      ParameterDescriptor(
        "padding", .number(.milliseconds, 0...10_000), .defaulted("100 ms"),
        "by silence: how much of a pause goes to the piece behind it"),
      ParameterDescriptor(
        "width", .integer(1...8), .optional,
        "by channel: how many that stand side by side make a file; one without it"),
    ] + .exportOptions(formats: .defaulted("wav")) + [
      ParameterDescriptor(
        "name", .fileName(fields: ["stem", "piece"]), .defaulted("{stem}-{piece}"),
        "the files' name; {stem} is the recording's, {piece} the piece's number", isInKey: false)
    ] + .carriedOptions,
    shorthand: "by")

  static var libraries: [String: String] { MediaLibraries.encoderVersions }

  private let method: SplitMethod
  private let targets: [ExportTarget]
  private let name: SplitName
  private let carriesTags: Bool
  private let stated: StatedTags
  private let writesNotes: Bool
  private let recordingTags = RecordingTags()

  init(_ parameters: Parameters) throws(SpoolError) {
    switch (parameters.at, parameters.by) {
    case (let times?, nil): method = .times(try SplitTimes(times))
    case (nil, "silence"):
      method = .pauses(
        PauseFinder.Settings(
          threshold: parameters.threshold, minimum: parameters.minimum,
          padding: parameters.padding))
    case (nil, "marker"): method = .markers
    case (nil, "channel"): method = .channels(width: parameters.width ?? 1)
    default:
      throw SpoolError(
        "split needs either at or by", advice: "at: [1:00, 2:30], or by: silence")
    }
    targets = try parameters.targets(of: "split")
    name = try SplitName(parameters.name)
    carriesTags = parameters.tags
    stated = try StatedTags(parameters.metadata, cover: parameters.cover)
    writesNotes = parameters.bext
  }

  func checkEquipment() throws(SpoolError) { _ = try stated.picture() }

  var writesSound: Bool { true }

  /// The format of the files.
  func pieceFormat(of format: AudioFormat) -> AudioFormat {
    guard case .channels(let width) = method, width != format.channelCount else { return format }
    return AudioFormat(sampleRate: format.sampleRate, channelCount: width)
  }

  func check(_ stream: SoundOutline) throws(SpoolError) {
    switch method {
    case .times(let times): _ = try times.breaks(in: stream)
    case .channels(let width) where stream.format.channelCount % width != 0:
      throw SpoolError(
        "split cannot make files of \(width) channels",
        reason: "the sound has \(stream.format.channelCount), which is no multiple of \(width)",
        advice: "a width that \(stream.format.channelCount) is a multiple of")
    case .channels(let width) where stream.format.channelCount / width > SplitName.mostPieces:
      throw SplitName.tooMany
    default: break
    }
    try targets.check(pieceFormat(of: stream.format), of: "split")
  }

  func makeSink(
    for stream: SoundOutline, in context: SinkContext
  ) throws(SpoolError) -> any SoundSink {
    if method != .markers, !context.inputs.isEmpty {
      throw SpoolError(
        "split reads the recording only for its markers",
        advice: "by: marker, or leave recording out")
    }
    let finder: BreakFinder
    switch method {
    case .channels(let width):
      return try ChannelSplitSink(targets, width: width, stream, context)
    case .times(let times): finder = BreakFinder(try times.breaks(in: stream), mustFit: true)
    case .pauses(let settings): finder = BreakFinder(settings, format: stream.format)
    case .markers:
      finder = BreakFinder(try MarkedBreaks(context.inputs.first, in: stream.format))
    }
    return try SplitStage.Sink(targets, stream, finder, context)
  }

  func cost(of stream: SoundOutline) -> SinkCost { targets.cost(of: stream) }

  func mayHaveWritten(_ name: String, beginning: [UInt8]) -> Bool {
    ExportFormat.mayHaveWritten(name, beginning: beginning)
  }

  func fileNames(of step: StepID, recordings: [String]) -> [String] {
    var count = SplitName.likelyPieces
    if case .times(let times) = method { count = times.count + 1 }
    return fileNames(count, recordings)
  }

  func conceivableFileNames(of step: StepID, recordings: [String]) -> [String] {
    let likely = fileNames(of: step, recordings: recordings)
    if case .times = method { return likely }
    return likely + fileNames(SplitName.mostPieces, recordings)
  }

  /// What so many pieces are called, in every format.
  private func fileNames(_ count: Int, _ recordings: [String]) -> [String] {
    targets.flatMap { target in
      (1...count).map {
        name.file(
          SplitName.number($0, of: count), of: recordings.first, target.format.fileExtension)
      }
    }
  }

  var attachments: [String] { [stated.cover].compactMap(\.self) }

  func preparePublishing(of recordings: [SourceFile]) {
    guard carriesTags else { return }
    for recording in recordings { _ = try? recordingTags.of(recording) }
  }

  func publish(_ context: PublishingContext) throws(SpoolError) -> [PublishedFile] {
    let carried =
      carriesTags
      ? try context.carriedTags(recordingTags).titled(context.title()).ofChangedSound
      : ExportTags()
    let tags = try carried.stating(stated)
    if carriesTags { context.warnOfDifferences(tags) }
    let checks = context.exportChecks
    for target in targets {
      let loss = tags.loss(
        in: target, of: tags.source,
        keepsAllBits: checks[target.format.rawValue]?.isRounded == false)
      if let loss { context.warn(loss) }
      if let loss = stated.loss(in: target) { context.warn(loss) }
      context.warnOfBitRate(target, checks[target.format.rawValue])
    }
    var files: [PublishedFile] = []
    let starts = writesNotes ? try SplitStage.Report.starts(of: context) : [:]
    for (port, output) in context.outputs.sorted(by: { $0.key < $1.key }) {
      guard let artifact = output.artifact, let (format, number) = SplitName.piece(port),
        let target = targets.first(where: { $0.format == format })
      else { continue }
      let name = name.file(number, of: context.names.first, format.fileExtension)
      var notes: BroadcastMetadata?
      if writesNotes, format == .wav {
        guard let start = starts[number] else { continue }
        notes = try context.broadcastNotes(for: artifact, target, tags: tags, start: start)
      }
      var file = try context.publish(
        artifact, as: name, tags: tags, spec: target.spec, notes: notes)
      file.port = port
      files.append(file)
    }
    return files
  }
}

extension StageRegistration { static let split = StageRegistration(SplitStage.self) }

/// What decides where sound is cut.
enum SplitMethod: Hashable, Sendable {
  case times(SplitTimes)
  case pauses(PauseFinder.Settings)
  case markers
  case channels(width: Int)
}

/// Writes every channel of a stream, or every few that stand side by side, into files of their own.
final class ChannelSplitSink: SoundSink {
  let firstFrame: Frames
  private let pieces: [PieceWriter]
  private let width: Int
  private let format: AudioFormat
  private let targets: [ExportTarget]
  private let store: any ArtifactStore
  private var position: Frames

  /// - Parameter width: channels of a file; of the stream's there must be a multiple.
  init(
    _ targets: [ExportTarget], width: Int, _ stream: SoundOutline, _ context: SinkContext
  ) throws(SpoolError) {
    format = stream.format
    self.width = width
    self.targets = targets
    store = context.store
    let noted = context.work.resuming.flatMap {
      try? Findings.decode([PieceWriter.State].self, from: $0.state)
    }
    var pieces: [PieceWriter] = []
    for number in 1...stream.format.channelCount / width {
      pieces.append(
        try PieceWriter(
          number, at: .zero, channels: (number - 1) * width..<number * width, targets, stream,
          context, resuming: noted?.first { $0.number == number }))
    }
    self.pieces = pieces
    firstFrame = pieces.map(\.firstFrame).min() ?? .zero
    position = firstFrame
  }

  func take(_ block: SharedBuffer) throws(SpoolError) {
    let range = position..<position + block.buffer.frameCount
    for piece in pieces { try piece.take(block, at: position, range) }
    position = range.upperBound
  }

  func progress() -> ListenerProgress? {
    var standings: [PieceWriter.State] = []
    var needs = Frames(.max)
    for piece in pieces {
      guard let (needsFrom, status) = piece.status else { return nil }
      needs = min(needs, needsFrom)
      standings.append(status)
    }
    return (try? Findings.json(standings)).map { ListenerProgress(needsFrom: needs, state: $0) }
  }

  func flush() throws(SpoolError) {
    for piece in pieces { try piece.flush() }
  }

  func cancel() { pieces.forEach { $0.cancel() } }

  func finish() throws(SpoolError) -> PassOutcome.Result {
    pieces.forEach { $0.close() }
    var files: [SplitStage.Report.Files] = []
    for piece in pieces {
      files.append(
        (.zero..<position, nil, (piece.number - 1) * width + 1, try piece.finish()))
    }
    if needsStreamAgain { return PassOutcome.Result() }
    var result = try SplitStage.Report.result(
      of: files, pieces.flatMap(\.checks), format, in: store)
    let progress = pieces.compactMap { $0.status?.status.state }
    result.warnings += [ExportSink.warning(of: targets, in: progress)].compactMap { $0 }
    return result
  }

  var needsStreamAgain: Bool { pieces.contains(where: \.needsStreamAgain) }
}

extension SplitStage {
  /// What is written down about the pieces of a split.
  struct Report: Codable {
    /// A piece, in seconds of the stream.
    struct Piece: Codable {
      /// Its number, as in the names of its files.
      let piece: String
      let from: Seconds
      let to: Seconds
      /// What its marker calls it.
      let title: String?
      /// The only channel that it has, or the first of several, counted from 1; nil where it has all.
      let channel: Int?
    }

    let sampleRate: Hertz
    let pieces: [Piece]
    /// What the files were found to hold, format by format; nil where they were not verified.
    let files: [ExportCheck]?
  }
}

extension SplitStage.Report {
  /// The files of a piece, by format.
  typealias Files = (
    range: Range<Frames>, title: String?, channel: Int?, files: [PortName: Artifact]
  )

  /// The outcome of a split once all pieces are whole: every file at a port of its own, and the
  /// report.
  /// - Parameter checks: what was found in the files.
  static func result(
    of pieces: [Files], _ checks: [ExportCheck], _ format: AudioFormat,
    in store: any ArtifactStore
  ) throws(SpoolError) -> PassOutcome.Result {
    var result = PassOutcome.Result()
    var report: [Piece] = []
    let rate = format.sampleRate
    for (index, piece) in pieces.enumerated() {
      let number = SplitName.number(index + 1, of: pieces.count)
      for (port, file) in piece.files { result.artifacts[SplitName.port(port, number)] = file }
      report.append(
        Piece(
          piece: number, from: piece.range.lowerBound.duration(at: rate),
          to: piece.range.upperBound.duration(at: rate), title: piece.title,
          channel: piece.channel))
    }
    let files = ExportCheck.summary(of: checks)
    result.warnings = files.flatMap(\.warnings)
    result.artifacts[.measurement] = try store.keep(
      try Findings.json(
        SplitStage.Report(
          sampleRate: rate, pieces: report, files: files.isEmpty ? nil : files)),
      as: .measurement)
    return result
  }

  /// The frames at which the pieces begin, by their numbers, of the step that is published; nothing
  /// while that is not known.
  static func starts(of context: PublishingContext) throws(SpoolError) -> [String: Frames] {
    let outputs = context.upstream.outputs(of: context.step) ?? context.outputs
    guard let artifact = outputs[.measurement]?.artifact else { return [:] }
    let report = try Findings.decode(
      SplitStage.Report.self, from: try context.store.text(of: artifact))
    return Dictionary(
      report.pieces.map { ($0.piece, $0.from.frames(at: report.sampleRate)) },
      uniquingKeysWith: { first, _ in first })
  }
}
