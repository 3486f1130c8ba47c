import AudioModel
import DSP
import Media
import PipelineFile
import PipelineModel

/// `mixdown`: many tracks become one.
struct MixdownStage: DeclaredStage, SoundSourceStage {
  struct Parameters: Codable, Sendable {
    let tracks: [TrackParameters]?
    let masterVolume: Double
    let panLaw: String
    let channels: Int
    let sampleRate: Hertz?
    let duck: [DuckParameters]?
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
      the order of its channels. The sum is kept above full scale too, with a warning: \
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
        "how the tracks are mixed, in their order; those beyond the list at full volume"),
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
        "duck", .list(of: .group(DuckParameters.descriptors), count: 1...64), .optional,
        "turn a track down while another is heard"),
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
        "give this track alone, just as it is in the mix"),
      ParameterDescriptor(
        "stems", .flag, .optional, "give every track that is heard, side by side, not their sum"),
    ])

  static var libraries: [String: String] { MediaVersions.all }

  private let settings: MixSettings
  private let hasTrackSettings: Bool

  init(_ parameters: Parameters) throws(StageError) {
    guard parameters.stem == nil || parameters.stems != true else {
      throw StageError("mixdown gives one stem or all of them", advice: "stem: 1, or stems: true")
    }
    var tracks: [MixTrack] = []
    for track in parameters.tracks ?? [] { tracks.append(try track.track) }
    hasTrackSettings = parameters.tracks != nil
    settings = MixSettings(
      tracks: tracks, masterVolume: parameters.masterVolume, sampleRate: parameters.sampleRate,
      channelCount: parameters.channels,
      panLaw: PanLaw(rawValue: parameters.panLaw) ?? .constantPower,
      ducks: (parameters.duck ?? []).map(\.duck), match: parameters.match,
      ceiling: parameters.headroom == "reduce" ? parameters.ceiling : nil, stem: parameters.stem,
      givesStems: parameters.stems == true)
  }

  func open(_ inputs: [SoundInput]) throws(StageError) -> any SoundSource {
    MixSource(try layout(inputs))
  }

  func outline(of inputs: [SoundInput]) throws(StageError) -> SoundOutline {
    try layout(inputs).outline
  }

  /// Plugs the tracks in.
  func layout(_ inputs: [SoundInput]) throws(StageError) -> MixLayout {
    var settings = settings
    var tracks: [TrackInput] = []
    for input in inputs {
      if input.place == PortName("session") {
        guard !hasTrackSettings else {
          throw StageError(
            "mixdown has settings for its tracks twice", reason: "in tracks, and in the session",
            advice: "leave one of the two out")
        }
        settings.take(try SessionFile.read(try input.path()))
      } else {
        tracks.append(try TrackInput(input, number: tracks.count + 1))
      }
    }
    return try MixLayout(tracks, settings)
  }
}
