import Audio
import FoundationEssentials
import Media
import PipelineModel
import Platform
import SoundEngine

/// `mixdown`: many tracks become one.
struct MixdownStage: DeclaredStage, SoundSourceStage, ConnectedStage {
  struct Parameters: Codable, Sendable {
    let tracks: [TrackParameters]?
    let masterVolume: Double
    let panLaw: String
    let channels: Int
    let sampleRate: Hertz?
    let duck: [MixLayout.DuckParameters]?
    let match: LUFS?
    let headroom: String
    let ceiling: Decibels
    let stem: Int?
    let stems: Bool?
  }

  static let descriptor = StageDescriptor(
    kind: "mixdown", revision: 1,
    summary: "Mix any number of tracks: volume, pan, mute, solo, offset, ducking",
    discussion: """
      Takes recordings and sound from the steps above, in this order: from: [voice, $layers]. A \
      mono track is panned with the pan law, a stereo track balanced. While any track is soloed, \
      only soloed tracks are heard; a muted track never is, and is not even read. The mix is as \
      long as the last track that is heard. Recordings are brought to the rate of the mix, which \
      is that of the first track unless sample-rate says otherwise. With session, the settings of \
      the tracks come from a session file; where it names no files, the tracks stand beside it in \
      the order of its channels. duck turns tracks down while others are heard; with role and \
      by-role it means all tracks of a role, whatever they are called, and where none has the role, \
      nothing is ducked. The sum is kept above full scale too, with a warning: \
      headroom: reduce listens to the whole mix first and turns it down as far as it needs, while \
      normalize and limit below do so by ear. Stems add up to the mix: matching, ducking and \
      headroom are decided for the whole. With stems: true, those of all tracks that are heard \
      stand side by side in one sound, each with the channels of the mix; split: { by: channel, \
      width: 2 } makes files of them.
      """,
    flow: .streaming(.sound, .source),
    inputs: [
      Port(
        PortName("tracks"), .sound, "the tracks, in order", intake: .both, isList: true),
      Port(
        PortName("session"), .file, "a session file, YAML or JSON, with the tracks' settings",
        isOptional: true, intake: .recording),
    ],
    outputs: [
      Port(.sound, .sound, "the mix"),
      Port(.measurement, .measurement, "how each track came into it, as JSON"),
    ],
    parameters: [
      ParameterDescriptor(
        "tracks", .list(of: .group(TrackParameters.descriptors), count: 1...256), .optional,
        "how the tracks are mixed, in their order; those beyond the list at full volume",
        places: .perSource),
      ParameterDescriptor(
        "master-volume", .number(.number, 0...1.5), .defaulted("1"), "the fader of the sum"),
      ParameterDescriptor(
        "pan-law", .choice(PanLaw.allCases.map(\.rawValue)), .defaulted("-3 dB"),
        "the gain of a mono track in the middle"),
      ParameterDescriptor(
        "channels", .integer(1...2), .defaulted("2"), "a mono or a stereo mix"),
      ParameterDescriptor(
        "sample-rate", .number(.hertz, 4000...768_000), .optional,
        "the rate of the mix; without it that of the session, or of the first track"),
      ParameterDescriptor(
        "duck", .list(of: .group(MixLayout.DuckParameters.descriptors), count: 1...64), .optional,
        "turn tracks down while others are heard"),
      ParameterDescriptor(
        "match", .number(.lufs, -50...0), .optional,
        "bring every track that is marked as a voice to this loudness before its fader"),
      ParameterDescriptor(
        "headroom", .choice(["none", "reduce"]), .defaulted("none"),
        "whether a mix that would pass the ceiling is turned down as a whole"),
      ParameterDescriptor(
        "ceiling", .number(.decibelsTruePeak, -20...0), .defaulted("-1 dBTP"),
        "the highest true peak, with headroom: reduce"),
      ParameterDescriptor(
        "stem", .integer(1...256), .optional,
        "give this track alone, just as it is in the mix", places: .source),
      ParameterDescriptor(
        "stems", .flag, .optional, "give every track that is heard, side by side, not their sum"),
    ])

  static var libraries: [String: String] { MediaLibraries.versions }

  private let settings: MixLayout.Settings
  private let hasTrackSettings: Bool

  init(_ parameters: Parameters) throws(SpoolError) {
    for duck in parameters.duck ?? [] { try duck.check() }
    guard parameters.stem == nil || parameters.stems != true else {
      throw SpoolError("mixdown gives one stem or all of them", advice: "stem: 1, or stems: true")
    }
    var tracks: [MixTrack] = []
    for track in parameters.tracks ?? [] { tracks.append(try track.track) }
    hasTrackSettings = parameters.tracks != nil
    settings = MixLayout.Settings(
      tracks: tracks, masterVolume: parameters.masterVolume, sampleRate: parameters.sampleRate,
      channelCount: parameters.channels,
      panLaw: PanLaw(rawValue: parameters.panLaw) ?? .constantPower,
      ducks: parameters.duck ?? [], match: parameters.match,
      ceiling: parameters.headroom == "reduce" ? parameters.ceiling : nil, stem: parameters.stem,
      givesStems: parameters.stems == true)
  }

  func checkSources(
    _ sources: [PortName: StepSource], above: (StepID) -> BoundStep?
  ) throws(SpoolError) {
    // A session may mark others.
    guard sources[PortName("session")] == nil else { return }
    try MixLayout.checkDucks(settings)
    if settings.match != nil, !settings.tracks.contains(where: \.isVoice) {
      throw MixLayout.noVoice
    }
  }

  func open(_ inputs: [SoundInput]) throws(SpoolError) -> any SoundSource {
    MixdownStage.Source(try layout(inputs))
  }

  func outline(of inputs: [SoundInput]) throws(SpoolError) -> SoundOutline {
    try layout(inputs).outline
  }

  /// Plugs the tracks in.
  func layout(_ inputs: [SoundInput]) throws(SpoolError) -> MixLayout {
    var settings = settings
    var tracks: [TrackInput] = []
    var session: String?
    for input in inputs {
      if input.place == PortName("session") {
        guard !hasTrackSettings else {
          throw SpoolError(
            "mixdown has settings for its tracks twice", reason: "in tracks, and in the session",
            advice: "leave one of the two out")
        }
        let file = try input.file()
        session = file.name
        settings.take(try SessionFile.read(file.path))
      } else {
        tracks.append(try TrackInput(input, number: tracks.count + 1))
      }
    }
    do throws(SpoolError) { return try MixLayout(tracks, settings) } catch {
      // The session decides about the tracks, and not the first of them.
      var error = error
      if let session { error.scope.insert(session, at: 0) }
      throw error
    }
  }
}

extension StageRegistration { static let mixdown = StageRegistration(MixdownStage.self) }

/// Reads the session that a mixer stands as.
enum SessionFile {
  /// The session at `path`; its first problem is the error.
  static func read(_ path: String) throws(SpoolError) -> SessionDefinition {
    let data: Data
    do { data = try Data(contentsOf: URL(fileURLWithPath: path)) } catch {
      throw SpoolError(
        "cannot read the session \(path)", reason: "the file cannot be opened",
        cause: .environment)
    }
    let parsed = ParsedSession([UInt8](data))
    if let problem = parsed.problems.first {
      let place = problem.location.map { ":\($0.line):\($0.column)" } ?? ""
      throw SpoolError(
        "cannot follow the session \(path)\(place)", reason: problem.message,
        advice: problem.allowed.map { "allowed: \($0)" })
    }
    return parsed.definition
  }
}

/// The settings of one track, as a pipeline writes them.
struct TrackParameters: Codable, Sendable {
  let name: String?
  let volume: Double
  let gain: Decibels
  let pan: Double
  let mute: Bool
  let solo: Bool
  let voice: Bool
  let role: TrackRole?
  let offset: String

  /// What they are called, and what they take.
  static let descriptors = [
    ParameterDescriptor("name", .text(maximumLength: 100), .optional, "for duck and for people"),
    ParameterDescriptor("volume", .number(.number, 0...1.5), .defaulted("1"), "the fader"),
    ParameterDescriptor(
      "gain", .number(.decibels, -120...24), .defaulted("0 dB"), "a gain before the fader"),
    ParameterDescriptor(
      "pan", .number(.number, -1...1), .defaulted("0"), "-1 is left, 0 the middle, 1 right"),
    ParameterDescriptor("mute", .flag, .defaulted("false"), "do not let it be heard"),
    ParameterDescriptor(
      "solo", .flag, .defaulted("false"), "let only this one be heard, and others like it"),
    ParameterDescriptor(
      "voice", .flag, .defaulted("false"), "somebody talks or sings in it: match counts it in"),
    ParameterDescriptor(
      "role", .choice(TrackRole.words), .optional, "what it is for, which duck may refer to"),
    ParameterDescriptor(
      "offset", .text(maximumLength: 40), .defaulted("0 s"),
      "where it begins: 1.5 s, 22050 samples, or timestamp (Broadcast WAV); before the mix begins "
        + "with -23 ms"),
  ]

  /// The channel that they describe.
  var track: MixTrack {
    get throws(SpoolError) {
      guard let offset = TrackOffset(offset) else {
        throw SpoolError(
          "offset of mixdown is \"\(offset)\"", advice: TrackOffset.allowed)
      }
      return MixTrack(
        name: name, volume: volume, gain: gain, pan: pan, isMuted: mute, isSoloed: solo,
        isVoice: voice || role == .voice, role: role ?? (voice ? .voice : nil), offset: offset)
    }
  }
}
