import Audio
import PipelineModel
import Platform
import SoundEngine

/// A mixer with its tracks plugged in: where each begins, and who is heard. Nothing is decoded yet.
struct MixLayout {
  /// One track in its channel.
  struct Lane {
    let input: TrackInput
    let track: MixTrack
    /// Where it begins; negative where its own beginning is left out.
    let offset: Frames
    /// Whether it is part of the mix.
    let isHeard: Bool
    /// Whether it is part of what is given: of the mix, or the wanted stem.
    let isGiven: Bool
    /// The first channel that it has in what is given: 0, but where stems stand side by side.
    let output: Int

    /// The gain in front of the pan control.
    var fader: Double { track.volume * track.gain.amplitude }
  }

  /// One track that gives way to others, to whichever is heard; places in `lanes`.
  struct Duck {
    let track: Int
    let by: [Int]
    let settings: DuckParameters
  }

  let settings: Settings
  /// What comes out: the mix, or stems side by side.
  let format: AudioFormat
  /// The mix.
  let mixFormat: AudioFormat
  /// The tracks, in order.
  let lanes: [Lane]
  /// Those ducks whose tracks are heard.
  let ducks: [Duck]
  /// What the pipeline asks for and the tracks have no place for.
  private(set) var notes: [String] = []

  init(_ inputs: [TrackInput], _ settings: Settings) throws(SpoolError) {
    self.settings = settings
    guard settings.tracks.count <= inputs.count else {
      let came = inputs.count == 1 ? "1 track" : "\(inputs.count) tracks"
      throw SpoolError(
        "the tracks do not match their settings",
        reason: "\(came) came in, and there are settings for \(settings.tracks.count)",
        advice: "give the tracks in the order of their settings, one file for each")
    }
    let tracks =
      settings.tracks
      + Array(repeating: MixTrack(), count: inputs.count - settings.tracks.count)
    let rate = settings.sampleRate ?? inputs.first?.format?.sampleRate ?? Hertz(48_000)
    mixFormat = AudioFormat(sampleRate: rate, channelCount: settings.channelCount)
    let areHeard = tracks.areHeard
    guard areHeard.contains(true) else {
      throw SpoolError(
        "no track of the mix can be heard", reason: tracks.whyNoneIsHeard,
        advice: "unmute a track")
    }
    if let stem = settings.stem, !areHeard.indices.contains(stem - 1) || !areHeard[stem - 1] {
      throw SpoolError(
        "there is no stem \(stem)",
        reason: areHeard.indices.contains(stem - 1)
          ? "the track is muted, or another is soloed" : "only \(inputs.count) tracks came in",
        advice: "ask for the stem of a track that is heard")
    }
    let origin = inputs.compactMap(\.timestamp).min { $0.value < $1.value }
    var lanes: [Lane] = []
    var end = 0
    for (index, input) in inputs.enumerated() {
      if areHeard[index] { try input.check(rate: rate) }
      lanes.append(
        Lane(
          input: input, track: tracks[index],
          offset: try MixLayout.frames(tracks[index].offset, input, origin, rate),
          isHeard: areHeard[index],
          isGiven: areHeard[index] && settings.stem.map { $0 == index + 1 } ?? true,
          output: settings.givesStems ? end : 0))
      if areHeard[index] { end += settings.channelCount }
    }
    self.lanes = lanes
    guard !settings.givesStems || end <= AudioFormat.mostChannels else {
      throw SpoolError(
        "there are too many stems to stand side by side",
        reason: "they take \(end) channels, and \(AudioFormat.mostChannels) are the most",
        advice: "stems of channels: 1, or some of them one by one, stem: 1")
    }
    format = AudioFormat(
      sampleRate: rate, channelCount: settings.givesStems ? end : settings.channelCount)
    ducks = try MixLayout.ducks(settings.ducks, tracks).compactMap { duck in
      let by = duck.by.filter { areHeard[$0] }
      guard areHeard[duck.track], !by.isEmpty else { return nil }
      return Duck(track: duck.track, by: by, settings: duck.settings)
    }
    notes = Self.missingRoles(settings.ducks, tracks)
    if settings.match != nil, !tracks.contains(where: \.isVoice) {
      guard !settings.isFromSession else {
        notes.append(
          "no track is a voice, so none is matched: role: voice in the session marks one")
        return
      }
      throw Self.noVoice
    }
  }

  static let noVoice = SpoolError(
    "there is no voice to match", reason: "no track is marked as one",
    advice: "mark tracks with role: voice")

  /// Its format and, where the headers say how long the tracks are, its length.
  var outline: SoundOutline {
    var end: Frames? = .zero
    for lane in lanes where lane.isGiven {
      let duration = lane.input.duration?.frames(at: format.sampleRate)
      end = end.flatMap { end in duration.map { max(end, lane.offset + $0) } }
    }
    return SoundOutline(format: format, frames: end)
  }

  /// Tracks that are heard, and begin so long after all others have ended that their offset is
  /// probably a slip, with how long it is silent before; as far as headers say how long tracks are.
  var latecomers: [(lane: Lane, silence: Seconds)] {
    var end = Frames.zero
    var found: [(lane: Lane, silence: Seconds)] = []
    for lane in lanes.filter(\.isGiven).sorted(by: { $0.offset < $1.offset }) {
      let silence = (lane.offset - end).duration(at: format.sampleRate)
      if silence.value >= Self.longSilence.value { found.append((lane, silence)) }
      guard let duration = lane.input.duration?.frames(at: format.sampleRate) else { break }
      end = max(end, lane.offset + duration)
    }
    return found
  }

  /// What is longer within a mix was hardly meant.
  private static let longSilence = Seconds(60)

  /// Where a track begins. Time stamps are counted from the earliest among the tracks.
  private static func frames(
    _ offset: TrackOffset, _ input: TrackInput, _ origin: Seconds?, _ rate: Hertz
  ) throws(SpoolError) -> Frames {
    switch offset {
    case .frames(let count): return Frames(count)
    case .seconds(let seconds): return Seconds(seconds).frames(at: rate)
    case .timestamp:
      guard input.format != nil else { return .zero }
      guard let timestamp = input.timestamp, let origin else {
        throw SpoolError(
          "\(input.title) has no time stamp", reason: "only Broadcast WAV files carry one",
          advice: "write its offset as a time: offset: 1.5 s")
      }
      return Seconds(timestamp.value - origin.value).frames(at: rate)
    }
  }

  private static func ducks(
    _ ducks: [DuckParameters], _ tracks: [MixTrack]
  ) throws(SpoolError) -> [Duck] {
    var found: [Duck] = []
    for duck in ducks {
      let ducked = try places(duck.track, duck.role, in: tracks)
      let by = try places(duck.by, duck.byRole, in: tracks)
      if let name = duck.track, ducked == by {
        throw SpoolError(
          "track \"\(name)\" cannot be turned down",
          reason: "the track that it gives way to is itself",
          advice: "name another track with by")
      }
      for track in ducked {
        let others = by.filter { $0 != track }
        if !others.isEmpty { found.append(Duck(track: track, by: others, settings: duck)) }
      }
    }
    return found
  }

  /// Checks the names of ducks where no session can name tracks too. How many tracks come in is not known
  /// yet, so that numbers are checked later.
  static func checkDucks(_ settings: Settings) throws(SpoolError) {
    for word in settings.ducks.flatMap({ [$0.track, $0.by] }).compactMap(\.self)
    where Int(word) == nil {
      _ = try places(word, nil, in: settings.tracks)
    }
  }

  /// The tracks that a word or a role means.
  private static func places(
    _ word: String?, _ role: TrackRole?, in tracks: [MixTrack]
  ) throws(SpoolError) -> [Int] {
    guard let word else { return tracks.indices.filter { tracks[$0].role == role } }
    if let index = tracks.index(of: word) { return [index] }
    let names = tracks.compactMap(\.name)
    throw SpoolError(
      "there is no track \"\(word)\" to duck with",
      reason: names.isEmpty ? "no track has a name" : "they are " + names.joined(separator: ", "),
      advice: "name a track, or write its number, 1 … \(tracks.count); or give tracks a role, and "
        + "write role and by-role instead of track and by")
  }

  /// Roles that ducks refer to, and no track has.
  private static func missingRoles(_ ducks: [DuckParameters], _ tracks: [MixTrack]) -> [String] {
    let wanted = ducks.flatMap { [$0.role, $0.byRole] }.compactMap(\.self)
    let missing = TrackRole.allCases.filter { role in
      wanted.contains(role) && !tracks.contains { $0.role == role }
    }
    guard !missing.isEmpty else { return [] }
    let names = missing.map(\.rawValue).joined(separator: " or ")
    return ["no track has the role \(names), so nothing is ducked for want of it"]
  }

  /// How a mixer stands as a whole.
  struct Settings: Sendable {
    /// The channels, in the order of the tracks; tracks beyond them have their faders at 1.
    var tracks: [MixTrack]
    /// The fader of the sum.
    var masterVolume: Double
    /// The rate of the mix; nil means that of the first track.
    var sampleRate: Hertz?
    /// Channels of the mix, 1 or 2.
    let channelCount: Int
    /// How loud mono tracks are in the middle.
    let panLaw: PanLaw
    /// Which tracks give way to which.
    let ducks: [DuckParameters]
    /// The loudness that voices are brought to; nil leaves them as they are.
    let match: LUFS?
    /// The true peak that the mix is turned down to; nil leaves it as it is.
    let ceiling: Decibels?
    /// The only track that is given, counted from 1; nil gives the sum.
    let stem: Int?
    /// Whether all tracks are given side by side, each as it is in the mix, in place of their sum.
    let givesStems: Bool
    /// Whether a session file describes the tracks.
    private(set) var isFromSession = false

    /// Takes the channels from a session; its master fader and the stage's follow each other.
    mutating func take(_ session: SessionDefinition) {
      isFromSession = true
      tracks = session.channels.map { MixTrack($0) }
      masterVolume *= session.masterVolume
      sampleRate = sampleRate ?? session.sampleRate.map { Hertz($0) }
    }
  }

  /// How tracks give way to others, as a pipeline writes it.
  struct DuckParameters: Codable, Sendable {
    /// The name or the number of the track that is turned down.
    let track: String?
    /// The role of the tracks that are turned down.
    let role: TrackRole?
    /// The name or the number of the track that is listened to.
    let by: String?
    /// The role of the tracks that are listened to.
    let byRole: TrackRole?
    let threshold: Decibels
    let amount: Decibels
    let attack: Seconds
    let hold: Seconds
    let release: Seconds
    /// How long before its cause the gain moves.
    let lookAhead: Seconds

    /// What they are called, and what they take.
    static let descriptors = [
      ParameterDescriptor(
        "track", .text(maximumLength: 100), .optional, "what is turned down: a name or a number",
        places: .source),
      ParameterDescriptor(
        "role", .choice(TrackRole.words), .optional, "what is turned down: all tracks of a role"),
      ParameterDescriptor(
        "by", .text(maximumLength: 100), .optional,
        "what is listened to, behind its fader: a name or a number", places: .source),
      ParameterDescriptor(
        "by-role", .choice(TrackRole.words), .optional,
        "what is listened to: all tracks of a role"),
      ParameterDescriptor(
        "threshold", .number(.decibels, -100...0), .defaulted("-40 dB"),
        "the level at which it counts as heard"),
      ParameterDescriptor(
        "amount", .number(.decibels, -60...0), .defaulted("-12 dB"), "how far it is turned down"),
      ParameterDescriptor(
        "attack", .number(.milliseconds, 0...2000), .defaulted("60 ms"), "how fast it goes down"),
      ParameterDescriptor(
        "hold", .number(.milliseconds, 0...10_000), .defaulted("400 ms"),
        "how long it stays down after the last sound"),
      ParameterDescriptor(
        "release", .number(.milliseconds, 1...10_000), .defaulted("500 ms"),
        "how fast it comes back"),
      ParameterDescriptor(
        "look-ahead", .number(.milliseconds, 0...2000), .defaulted("150 ms"),
        "how long before the sound it begins to go down"),
    ]

    /// Checks that it says once what is turned down, and once for what.
    func check() throws(SpoolError) {
      guard (track == nil) != (role == nil) else {
        throw SpoolError(
          "duck needs track or role" + (track == nil ? "" : ", and has both"),
          advice: "track: a name or a number; role: \(TrackRole.words.joined(separator: ", "))")
      }
      guard (by == nil) != (byRole == nil) else {
        throw SpoolError(
          "duck needs by or by-role" + (by == nil ? "" : ", and has both"),
          advice: "by: a name or a number; by-role: \(TrackRole.words.joined(separator: ", "))")
      }
    }

    /// When, how far and how fast.
    var gain: DuckingGain.Settings {
      DuckingGain.Settings(
        threshold: threshold, amount: amount, attack: attack, hold: hold, release: release)
    }
  }
}
