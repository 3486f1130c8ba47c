import Audio
import PipelineModel
import Platform

/// How one channel of the mixer stands.
struct MixTrack: Hashable, Sendable {
  /// What people call it.
  var name: String?
  /// The fader, 0 … 1.5.
  var volume = 1.0
  /// A gain before the fader.
  var gain = Decibels(0)
  /// From −1, left, to +1, right.
  var pan = 0.0
  /// Whether it is not to be heard.
  var isMuted = false
  /// Whether only this one, and others like it, are to be heard.
  var isSoloed = false
  /// Whether it has voice, spoken or sung: loudness is matched among these.
  var isVoice = false
  /// What it is for; nil if unknown.
  var role: TrackRole?
  /// Where its track begins.
  var offset = TrackOffset.frames(0)
}

extension [MixTrack] {
  /// Which can be heard: while any is soloed, the soloed ones, else all, and of these none that is
  /// muted.
  var areHeard: [Bool] {
    let hasSolo = contains(where: \.isSoloed)
    return map { !$0.isMuted && ($0.isSoloed || !hasSolo) }
  }

  /// For messages: what keeps every one of them from being heard.
  var whyNoneIsHeard: String {
    if allSatisfy(\.isMuted) { return count == 1 ? "it is muted" : "all \(count) are muted" }
    return "every track that is soloed is muted too, and no other is heard beside them"
  }

  /// The track that a word means: its name, or its number, counted from 1.
  func index(of word: String) -> Int? {
    firstIndex { $0.name == word }
      ?? Int(word).flatMap { indices.contains($0 - 1) ? $0 - 1 : nil }
  }
}

extension MixTrack {
  /// A channel of a session file.
  init(_ channel: SessionDefinition.Channel) {
    name = channel.name ?? channel.file.map { MixTrack.stem(of: $0.value) }
    volume = channel.volume
    gain = Decibels(channel.gain)
    pan = channel.pan
    isMuted = channel.isMuted
    isSoloed = channel.isSoloed
    isVoice = channel.isVoice
    role = channel.role
    offset = channel.offset
  }

  /// The name of a file without its folder and its ending.
  private static func stem(of path: String) -> String {
    let name = path.pathNames.last ?? ""
    guard let dot = name.lastIndex(of: "."), dot > name.startIndex else { return String(name) }
    return String(name[..<dot])
  }
}
