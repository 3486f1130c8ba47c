import Audio
import Media
import PipelineModel
import Platform
import SoundEngine

/// One track as it comes to the mixer, and what its header says.
struct TrackInput {
  /// For messages: `track 2`.
  let title: String
  /// Its own format; nil while nothing is known of it.
  let format: AudioFormat?
  /// How long it is, as far as its header says.
  let duration: Seconds?
  /// When it began, in seconds since midnight, if its file has a time stamp.
  let timestamp: Seconds?

  private let origin: SoundInput.Origin

  /// Looks at a recording's header, or at kept sound.
  /// - Parameter number: counted from 1.
  init(_ input: SoundInput, number: Int) throws(SpoolError) {
    origin = input.origin
    title = "track \(number)"
    switch input.origin {
    case .recording(let file):
      let found = try MediaProbe.describe(file)
      format = found.format
      duration = found.duration
      // Broadcast WAV counts samples since midnight.
      timestamp = found.tags["time_reference"].flatMap { Int($0) }.map {
        Frames($0).duration(at: found.format.sampleRate)
      }
    case .kept(let sound):
      (format, duration, timestamp) = (sound.outline.format, sound.outline.duration, nil)
    case .awaited(let outline):
      (format, duration, timestamp) = (outline?.format, outline?.duration, nil)
    }
  }

  /// How many channels come out of `open`: one or two.
  var channelCount: Int { min(format?.channelCount ?? 2, 2) }

  /// Opens it at the rate of the mix. Recordings are resampled, and mixed to two channels where
  /// they have more; sound that an earlier step made is taken as it is.
  func open(at rate: Hertz) throws(SpoolError) -> any SoundSource {
    switch origin {
    case .recording(let file):
      return try RecordedSound(file, DecoderOptions(sampleRate: rate, channelCount: channelCount))
    case .kept(let sound): return try sound.open()
    case .awaited: throw SpoolError("\(title) is not made yet")
    }
  }

  /// Throws where kept sound does not fit into a mix of this rate.
  func check(rate: Hertz) throws(SpoolError) {
    guard case .kept(let sound) = origin else { return }
    let own = sound.outline.format
    if own.sampleRate != rate {
      throw SpoolError(
        "\(title) is \(own), and the mix has \(AudioFormat.text(rate))",
        reason: "what an earlier step made is mixed as it is",
        advice: "put resample above mixdown, or decode all tracks with the same sample-rate")
    }
    if own.channelCount > 2 {
      throw SpoolError(
        "\(title) has \(own.channelCount) channels", reason: "a mixer's tracks are mono or stereo",
        advice: "decode it with channels: 2")
    }
  }
}

extension AudioFormat {
  /// A rate for people: `44.1 kHz`.
  fileprivate static func text(_ rate: Hertz) -> String { Unit.kilohertz.format(rate.value) }
}
