import Audio
import Media
import PipelineModel
import Platform
import SoundEngine

/// `export`: finished files in several formats at once.
private struct ExportStage: DeclaredStage, SoundSinkStage, PublishingStage, EquippedStage {
  struct Parameters: Codable, Sendable, ExportOptions {
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
    let chapters: Bool
    let bext: Bool
  }

  static let descriptor = StageDescriptor(
    kind: "export", revision: 8,
    summary: "Write WAV, M4A (AAC), ALAC, FLAC, MP3, Opus and Ogg files, several at once",
    discussion: """
      The formats are encoded side by side, and every file is decoded again before it counts: \
      without loss, every sample is what was encoded; with loss, its length and channels are, and \
      where limit or normalize above sets a true peak, it decodes below that, if need be limited \
      lower and encoded again, at most twice. What does not hold the sound is deleted and ends the \
      run. Reducing to 16 or 24 bits adds TPDF dither, except to \
      samples that already fit, so that an untouched recording stays bit-exact. WAV grows into \
      RF64 beyond 4 GB. Samples that are no numbers become silence, except in WAV of floats, and \
      lossy formats clip what lies 36 dB over full scale. After an interruption MP3, Opus and Ogg \
      Vorbis are begun anew, and give the same bytes. Opus has 48 kHz, whatever the sound has. Tags, \
      chapters and cover art of the recording are carried over when the files are put into the \
      output folder; a recording that was only retagged is not encoded again. metadata and cover \
      state others in their place. Where the sound is of several recordings, the files are named \
      after the one with the fewest stages between, of equals the first, and have the tags and the \
      cover that all recordings share; with recording: $input, the name, the tags and the cover are \
      those of this one. The chapters of a recording's \
      sidecar, chapters: [{"start": 12.5, "title": "Guests"}], take the place of its own, and all \
      move with their sound where stages above cut, stretched or joined it; WAV files have none. \
      WAV files are Broadcast Wave files (EBU Tech 3285): they tell what was done to the sound, \
      when it was recorded and, where measure or normalize found it, how loud it is; cue points \
      and iXML of the recording are carried over where the sound was not moved in time.
      """,
    flow: .streaming(.sound, .sink),
    inputs: [
      Port(.sound, .sound, "the sound to export"),
      Port(
        PortName("recording"), .sound,
        "the recording whose name, tags and cover art count, where the sound is of several",
        isOptional: true, intake: .recording, isInKey: false),
    ],
    outputs: ExportFormat.allCases.map {
      Port($0.port, .file, "the \($0.rawValue) file, where it is asked for")
    }
      + ExportFormat.allCases.filter(\.isLossless).map {
        Port(
          $0.samplesPort, .file,
          "the hashes of each second of its samples, by which a part of the \($0.rawValue) file is proven"
        )
      } + [Port(.measurement, .measurement, "what each file was found to hold, as JSON")],
    parameters: .exportOptions(formats: .required) + [
      ParameterDescriptor(
        "name", .fileName(fields: ["stem"]), .defaulted("{stem}"),
        "the files' name; {stem} is the recording's", isInKey: false),
      ParameterDescriptor(
        "chapters", .flag, .defaulted("true"), "carry chapters over", isInKey: false),
    ] + .carriedOptions,
    shorthand: "formats")

  static var libraries: [String: String] { MediaLibraries.encoderVersions }

  private let targets: [ExportTarget]
  private let name: String
  private let carriesTags: Bool
  private let stated: StatedTags
  private let carriesChapters: Bool
  private let writesNotes: Bool
  private let recordingTags = RecordingTags()

  init(_ parameters: Parameters) throws(SpoolError) {
    targets = try parameters.targets(of: "export")
    name = parameters.name
    carriesTags = parameters.tags
    stated = try StatedTags(parameters.metadata, cover: parameters.cover)
    carriesChapters = parameters.chapters
    writesNotes = parameters.bext
  }

  func checkEquipment() throws(SpoolError) { _ = try stated.picture() }

  var writesSound: Bool { true }

  func check(_ stream: SoundOutline) throws(SpoolError) {
    try targets.check(stream.format, of: "export")
  }

  func makeSink(
    for stream: SoundOutline, in context: SinkContext
  ) throws(SpoolError) -> any SoundSink {
    try ExportSink(targets, stream, context)
  }

  func cost(of stream: SoundOutline) -> SinkCost { targets.cost(of: stream) }

  func mayHaveWritten(_ name: String, beginning: [UInt8]) -> Bool {
    ExportFormat.mayHaveWritten(name, beginning: beginning)
  }

  func fileNames(of step: StepID, recordings: [String]) -> [String] {
    let stem = ExportName.fill(name, recording: recordings.first)
    return targets.map { stem + $0.format.fileExtension }
  }

  var attachments: [String] { [stated.cover].compactMap(\.self) }

  func preparePublishing(of recordings: [SourceFile]) {
    guard carriesTags || carriesChapters else { return }
    for recording in recordings { _ = try? recordingTags.of(recording) }
  }

  func publish(_ context: PublishingContext) throws(SpoolError) -> [PublishedFile] {
    let names = fileNames(of: context.step, recordings: context.names)
    let known =
      carriesTags || carriesChapters ? try context.carriedTags(recordingTags) : ExportTags()
    let carried = carriesTags ? context.tags(of: known).titled(context.title()) : ExportTags()
    let tags = try carried.stating(stated)
    if carriesTags { context.warnOfDifferences(tags) }
    let chapters = carriesChapters ? try context.chapters(recordingTags) : []
    if carriesTags { context.warnOfFieldsMissing(in: targets, known) }
    let checks = context.exportChecks
    var files: [PublishedFile] = []
    for (target, name) in zip(targets, names) {
      guard let artifact = context.outputs[target.format.port]?.artifact else { continue }
      var notes: BroadcastMetadata?
      var own = tags
      if target.format != .wav {
        // It is asked for again when all is done.
        guard let chapters else { continue }
        own.chapters = chapters
        if chapters.count > target.spec.chapterLimit {
          context.warn(
            "\(target.format) files have the first \(target.spec.chapterLimit) of "
              + "\(chapters.count) chapters: the format holds no more")
        }
      } else if writesNotes {
        notes = try context.broadcastNotes(for: artifact, target, tags: tags)
        // It is asked for again when all is done.
        if notes == nil { continue }
      }
      // A WAV file's own chapters are cue points, which are carried over.
      let isCarried =
        known.notes.cues != nil && context.chapters.isEmpty && context.isOneRecording
      let lost = target.format == .wav && !isCarried ? chapters?.count ?? 0 : 0
      let loss = tags.loss(
        in: target, of: known.source, chapterCount: lost,
        keepsAllBits: checks[target.format.rawValue]?.isRounded == false)
      if let loss {
        context.warn(loss)
      }
      if let loss = stated.loss(in: target) { context.warn(loss) }
      context.warnOfBitRate(target, checks[target.format.rawValue])
      var file = try context.publish(
        artifact, as: name, tags: own, spec: target.spec, notes: notes)
      file.port = target.format.port
      files.append(file)
    }
    return files
  }
}

extension ExportStage {
  /// The kind as a step with these parameters has it: a file of another format is none of its outputs.
  static func declaration(of parameters: DocumentNode) -> StageDescriptor {
    var formats = parameters
    if case .mapping(let entries) = parameters.content {
      guard let named = entries.first(where: { $0.key == "formats" }) else { return descriptor }
      formats = named.value
    }
    let names = formats.texts
    let chosen = names.compactMap(ExportFormat.init(rawValue:))
    guard !chosen.isEmpty, chosen.count == names.count else { return descriptor }
    let ports = Set(chosen.flatMap { [$0.port, $0.samplesPort] })
    return descriptor.having(
      outputs: descriptor.outputs.filter { $0.kind == .measurement || ports.contains($0.name) })
  }
}

extension StageRegistration {
  static let export = StageRegistration(ExportStage.self) { ExportStage.declaration(of: $0) }
}
