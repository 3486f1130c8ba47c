import Audio
import FoundationEssentials
import PipelineEngine
import PipelineModel
import Platform
import SoundEngine
import Transcripts

/// `assert`: what must hold of sound, words and files.
struct AssertStage: DeclaredStage, SoundSinkStage, WholeStage, JudgingStage {
  static let descriptor = declaration(of: Fact.Subject.allCases, isOptional: true)

  private let parameters: Parameters

  init(_ parameters: Parameters) throws(SpoolError) {
    self.parameters = parameters
    guard !parameters.ranges.isEmpty || parameters.language != nil else {
      throw SpoolError(
        "assert states nothing that must hold",
        advice: "a fact and its range, such as loudness: -16 LUFS ± 0.5")
    }
  }

  /// Sound alone is measured in the pass in which it flows by.
  func makeSink(for stream: SoundOutline, in context: SinkContext) -> any SoundSink {
    let format = stream.format
    return MeterSink({ meter(format) }, in: context) { (finding) throws(SpoolError) in
      [.measurement: try keep(checks(of: finding, format), in: context.store)]
    }
  }

  func cost(of stream: SoundOutline) -> SinkCost {
    SinkCost(byteCount: 4096, coreSeconds: parameters.ranges[.snr] == nil ? 0.001 : 0.003)
  }

  /// Words and files, and sound beside them, are there as artifacts.
  func run(_ context: StageContext) throws(SpoolError) -> [PortName: StepOutput] {
    var checks: [FactCheck] = []
    if let sound = context.inputs[.sound]?.artifact { checks += try listen(to: sound, context) }
    if parameters.subjects.contains(.words) {
      checks += self.checks(of: try TranscriptFile.read(.transcript, of: context))
    }
    checks += sizes(in: context)
    return [.measurement: StepOutput(try keep(checks, in: context.store))]
  }

  var canFail: Bool { parameters.outOfBounds != .warn }

  func verdict(
    on outputs: [PortName: StepOutput], in store: any ArtifactStore
  ) throws(SpoolError) -> Verdict? {
    guard let artifact = outputs[.measurement]?.artifact else { return nil }
    let report = try Findings.decode(Report.self, from: try store.text(of: artifact))
    let broken = report.facts.filter { !$0.holds }
    guard !broken.isEmpty else { return nil }
    let names = broken.map(\.name).joined(separator: ", ")
    let verb = broken.count == 1 ? "is" : "are"
    let reason = broken.map { "\($0.name) is \($0.measured), \($0.allowed) is allowed" }
      .joined(separator: "; ")
    func error(_ message: String) -> SpoolError {
      SpoolError(
        message, reason: reason,
        advice: "change the recording or the range, or set out-of-bounds: warn; "
          + "\(command: .stages) assert says how each fact is measured")
    }
    switch parameters.outOfBounds {
    case .fail: return .failure(error("\(names) \(verb) out of bounds"))
    case .quarantine:
      return .quarantine(error("\(names) \(verb) out of bounds, which calls for quarantine"))
    case .warn: return .warning("out of bounds: \(reason)")
    }
  }

  /// What is kept of the facts.
  struct Report: Codable {
    /// Whether all of them hold.
    let holds: Bool
    let facts: [FactCheck]
  }

  private func keep(
    _ checks: [FactCheck], in store: any ArtifactStore
  ) throws(SpoolError) -> Artifact {
    let report = Report(holds: checks.allSatisfy(\.holds), facts: checks)
    return try store.keep(try Findings.json(report), as: .measurement)
  }
}

/// What the facts are measured by.
extension AssertStage {
  private func meter(_ format: AudioFormat) -> QualityMeter {
    var scope = QualityMeter.Scope()
    let levels: [Fact] = [.loudness, .truePeak, .clipped]
    scope.hasLevels = levels.contains { parameters.ranges[$0] != nil }
    scope.isDualMono = parameters.isDualMono == true
    scope.hasNoise = parameters.ranges[.snr] != nil
    if parameters.ranges[.silence] != nil {
      scope.silence = SilenceShortener.Settings(
        threshold: parameters.silenceThreshold, minimum: parameters.silenceMinimum, maximum: nil)
    }
    return QualityMeter(scope, format: format)
  }

  private func listen(
    to artifact: Artifact, _ context: StageContext
  ) throws(SpoolError) -> [FactCheck] {
    let sound = try PCMArtifact(artifact, in: context.store)
    let format = sound.outline.format
    let meter = meter(format)
    let source = try sound.open()
    let total = Double(max(1, sound.outline.frames?.count ?? 1))
    var buffer = AudioBuffer(channelCount: format.channelCount, capacity: Frames(16_384))
    var done = 0
    while try source.read(into: &buffer) {
      try context.check()
      meter.analyse(buffer)
      done += buffer.frameCount.count
      context.reportProgress(min(1, Double(done) / total))
    }
    return checks(of: meter.finding(), format)
  }

  /// The facts of a subject that are stated, in one order.
  private func checks(
    of subject: Fact.Subject, _ measure: (Fact) -> Double?
  ) -> [FactCheck] {
    Fact.allCases.filter { $0.subject == subject }.compactMap { fact in
      parameters.ranges[fact].map { FactCheck(fact.name, of: fact, measure(fact), in: $0) }
    }
  }

  private func checks(of finding: QualityMeter.Finding, _ format: AudioFormat) -> [FactCheck] {
    let levels = finding.levels
    return checks(of: .sound) { fact in
      switch fact {
      case .loudness: levels?.integratedLoudness?.value
      case .truePeak: levels?.truePeak?.value
      case .duration: finding.frames.duration(at: format.sampleRate).value
      case .silence: finding.silence
      case .clipped: levels.map { Double($0.clippedSamples) }
      case .channels: Double(format.channelCount)
      case .sampleRate: format.sampleRate.value
      case .snr: finding.signalToNoise?.value
      default: nil
      }
    }
  }

  private func checks(of transcript: Transcript) -> [FactCheck] {
    let report = QualityReport(on: transcript)
    let language = transcript.language ?? transcript.likelyLanguage
    return checks(of: .words) { fact in
      switch fact {
      case .words: Double(report.wordCount)
      case .untimedWords: Double(transcript.untimedWordCount)
      case .interpolated: report.interpolated
      case .uncertain: report.lowConfidence
      case .longestWord: report.longestWord.map { $0.end - $0.start } ?? 0
      default: nil
      }
    } + (parameters.language.map { [FactCheck(language: language, among: $0)] } ?? [])
  }

  private func sizes(in context: StageContext) -> [FactCheck] {
    guard let range = parameters.ranges[.size] else { return [] }
    var sizes: [Int] = []
    while let file = context.inputs[Self.files.place(sizes.count + 1)]?.artifact {
      sizes.append(file.byteCount)
    }
    return sizes.enumerated().map { index, size in
      let name = sizes.count == 1 ? "size" : "size of file \(index + 1)"
      return FactCheck(name, of: .size, Double(size), in: range)
    }
  }
}

/// The declaration, as it is for the facts of a step.
extension AssertStage {
  private static let files = Port(
    PortName("files"), .file, "files whose size is asserted", isList: true)

  /// The ports of these subjects. Words and files come as artifacts, so that the stage is no longer
  /// part of a pass.
  private static func declaration(
    of subjects: [Fact.Subject], isOptional: Bool = false
  ) -> StageDescriptor {
    StageDescriptor(
      kind: "assert", revision: 2,
      summary: "State what must hold of sound, words and files",
      discussion: """
        Each fact has a range: loudness: -16 LUFS ± 0.5, duration: 1 s .. 4 h, true-peak: .. -1 \
        dBTP, silence: < 30 %, clipped: 0. A range that begins with > needs quotes, or is written \
        20 dB .. instead. Where a fact is out of its range, out-of-bounds decides: fail ends the \
        run; quarantine does so too, and a person can accept a watched recording as it is with \
        spool inbox release; warn gives a warning alone. Nothing is exported before all \
        facts are judged that can end the run. The measurement has every fact with its value and its range. Loudness \
        is that of EBU R 128, the true peak that of ITU-R BS.1770-4, and clipped counts samples, \
        all as measure does. It is silent where no sample of any channel reaches \
        silence-threshold for silence-minimum, as silence has it. The signal-to-noise ratio is \
        10 lg((P - N) / N), where P is the mean power of all sound and N that of the noise, which \
        is found where denoise finds its noise print: in the quietest 0.4 s free of digital \
        silence; sound that is nowhere quieter than on average has none. language: en allows \
        en-GB too; a transcript that does not state its language has the one that its words look \
        like. Facts of words need a transcript, and facts of files need files: [export.m4a]; \
        without an input that was not given, the step is skipped.
        """,
      flow: subjects == [.sound] || isOptional ? .streaming(.sound, .sink) : .whole,
      inputs: subjects.map { subject in
        switch subject {
        case .sound: Port(.sound, .sound, "sound to measure", isOptional: isOptional)
        case .words:
          Port(
            .transcript, .transcript, "words to check", isOptional: isOptional, intake: .both)
        case .files:
          Port(files.name, .file, files.summary, isOptional: isOptional, isList: true)
        }
      },
      outputs: [Port(.measurement, .measurement, "the facts, their ranges and values, as JSON")],
      parameters: Fact.allCases.map(\.parameter) + [
        ParameterDescriptor(
          "language", .list(of: .text(maximumLength: 35), count: 1...20), .optional,
          "the language of the words, or several of which it is one"),
        ParameterDescriptor(
          "silence-threshold", .number(.decibels, -120...0), .defaulted("-45 dB"),
          "the peak level that is no longer silence"),
        ParameterDescriptor(
          "silence-minimum", .number(.seconds, 0.01...60), .defaulted("0.5 s"),
          "how long it has to be quiet"),
        .dualMono,
        ParameterDescriptor(
          "out-of-bounds", .choice(OutOfBounds.allCases.map(\.rawValue)), .defaulted("fail"),
          "what happens where a fact does not hold", isInKey: false),
      ])
  }

  /// The declaration for a step with these written parameters.
  static func declaration(of parameters: DocumentNode) -> StageDescriptor {
    guard case .mapping(let entries) = parameters.content else { return declaration(of: [.sound]) }
    let named = entries.filter { !$0.value.isNull }.map(\.key)
    let names = Fact.allCases.map(\.name)
    let subjects = Fact.Subject.allCases.filter { subject in
      named.contains { key in
        if key == subject.port.name { return true }
        if key == "language" { return subject == .words }
        // A slip of the pen does not also lack its input.
        let name = names.contains(key) ? key : Problem.nearest(to: key, in: names)
        return Fact.allCases.contains { $0.name == name && $0.subject == subject }
      }
    }
    return declaration(of: subjects.isEmpty ? [.sound] : subjects)
  }

  /// What happens where a fact does not hold.
  enum OutOfBounds: String, Codable, Sendable, CaseIterable {
    case fail, quarantine, warn
  }

  struct Parameters: Codable, Sendable {
    let ranges: [Fact: NumberRange]
    let language: [String]?
    let silenceThreshold: Decibels
    let silenceMinimum: Seconds
    let isDualMono: Bool?
    let outOfBounds: OutOfBounds

    var subjects: Set<Fact.Subject> {
      Set(ranges.keys.map(\.subject) + (language == nil ? [] : [.words]))
    }

    private struct Key: CodingKey {
      let stringValue: String
      var intValue: Int? { nil }
      init(_ name: String) { stringValue = name }
      init?(stringValue: String) { self.stringValue = stringValue }
      init?(intValue: Int) { nil }
    }

    /// Every fact is a member of its own.
    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: Key.self)
      var ranges: [Fact: NumberRange] = [:]
      for fact in Fact.allCases {
        ranges[fact] = try container.decodeIfPresent(NumberRange.self, forKey: Key("\(fact)"))
      }
      self.ranges = ranges
      language = try container.decodeIfPresent([String].self, forKey: Key("language"))
      silenceThreshold = try container.decode(Decibels.self, forKey: Key("silenceThreshold"))
      silenceMinimum = try container.decode(Seconds.self, forKey: Key("silenceMinimum"))
      isDualMono = try container.decodeIfPresent(Bool.self, forKey: Key("dualMono"))
      outOfBounds = try container.decode(OutOfBounds.self, forKey: Key("outOfBounds"))
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: Key.self)
      for (fact, range) in ranges { try container.encode(range, forKey: Key("\(fact)")) }
      try container.encodeIfPresent(language, forKey: Key("language"))
      try container.encode(silenceThreshold, forKey: Key("silenceThreshold"))
      try container.encode(silenceMinimum, forKey: Key("silenceMinimum"))
      try container.encodeIfPresent(isDualMono, forKey: Key("dualMono"))
      try container.encode(outOfBounds, forKey: Key("outOfBounds"))
    }
  }
}

extension Fact.Subject {
  fileprivate var port: PortName {
    switch self {
    case .sound: .sound
    case .words: .transcript
    case .files: PortName("files")
    }
  }
}

extension StageRegistration {
  static let assert = StageRegistration(AssertStage.self) { AssertStage.declaration(of: $0) }
}
