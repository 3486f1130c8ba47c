/// A mixing session: the files to mix, and the mixer's settings.
package struct SessionDefinition: Hashable, Sendable {
  package struct Channel: Hashable, Sendable {
    /// Its place in the session.
    package let location: SourceLocation?
    /// Its track's file, as written; nil if an earlier step or the user gives the track.
    package var file: Located<String>?
    package var name: String?
    /// Its fader, 0 … 1.5.
    package var volume = 1.0
    /// A gain before the fader, in dB.
    package var gain = 0.0
    /// From −1, left, to +1, right.
    package var pan = 0.0
    package var isMuted = false
    /// Whether only this one, and others like it, are audible.
    package var isSoloed = false
    /// Whether it holds a voice.
    package var isVoice = false
    /// What it is for in the mix; nil if the session does not say.
    package var role: TrackRole?
    /// Where its track begins.
    package var offset = TrackOffset.frames(0)

    package init(at location: SourceLocation? = nil) { self.location = location }
  }

  /// The fader of the sum, 0 … 1.5.
  package var masterVolume = 1.0
  /// In Hz; nil for that of the first track.
  package var sampleRate: Double?
  /// The channels, in order.
  package var channels: [Channel] = []

  package init() {}

  /// The channels' files with their places in the session; relative paths start from `folder`.
  package func files(from folder: String) -> [Located<String>] {
    channels.compactMap { channel in
      channel.file.map { file in
        Located(
          file.value.hasPrefix("/") ? file.value : folder + "/" + file.value, at: file.location)
      }
    }
  }
}

/// What a track is for in a mix, so that a pipeline can refer to tracks of any session.
package enum TrackRole: String, Hashable, Sendable, Codable, CaseIterable {
  case voice, music, effects, ambience

  /// All of them, as written.
  package static let words = allCases.map(\.rawValue)
}

/// Where a track begins in a mix, as written.
package enum TrackOffset: Hashable, Sendable {
  /// Frames after the mix's beginning; if negative, the track's own beginning is cut.
  case frames(Int)
  /// Seconds after it; negative likewise.
  case seconds(Double)
  /// By the recording's own time stamp.
  case timestamp

  /// For messages.
  package static let allowed =
    "a time (1.5 s, -23 ms), a number of samples (22050 samples), or timestamp; at most 24 h"

  /// In seconds.
  private static let limit = 86_400.0

  /// Reads `1.5 s`, a bare `1.5` (seconds), `-1024 samples` or `timestamp`; nil for anything else,
  /// and for more than a day.
  package init?(_ text: String) {
    if text == "timestamp" {
      self = .timestamp
      return
    }
    let words = text.split(separator: " ")
    if words.count == 2, words[1] == "samples" || words[1] == "sample" {
      guard let count = Int(words[0]), abs(Double(count)) <= Self.limit * 768_000 else {
        return nil
      }
      self = .frames(count)
      return
    }
    guard let seconds = try? Unit.seconds.parse(text), abs(seconds) <= Self.limit else {
      return nil
    }
    self = .seconds(seconds)
  }
}
