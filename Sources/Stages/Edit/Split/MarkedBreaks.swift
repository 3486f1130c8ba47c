import Audio
import Media
import PipelineModel
import Platform
import SoundEngine

/// The places that a recording's markers stand for.
struct MarkedBreaks {
  /// Where pieces begin, but for the first one.
  let breaks: [Frames]
  /// What the markers call the pieces, by number, counted from 1.
  let titles: [Int: String]
  /// The recording's name, for messages.
  let recording: String
  /// How long its header says that it is.
  let duration: Seconds?

  /// Reads the markers of a recording, for sound of a format that came of it.
  init(_ input: SoundInput?, in format: AudioFormat) throws(SpoolError) {
    guard let input else {
      throw SpoolError(
        "split does not know whose markers to go by",
        reason: "markers belong to a file, and sound that has come this far has none",
        advice: "split: { by: marker, recording: $input }, with the pipeline's input")
    }
    let file = try input.file()
    let markers = try MediaProbe.markers(of: file)
    duration = try MediaProbe.describe(file).duration
    guard !markers.isEmpty else {
      throw SpoolError(
        "\(file.name) has no markers", reason: "it has neither chapters nor cue points",
        advice: "split at times, at: [1:00, 2:30], or by: silence")
    }
    recording = file.name
    var breaks: [Frames] = []
    var titles: [Int: String] = [:]
    for marker in markers {
      let frame = marker.time.frames(at: format.sampleRate)
      if frame > breaks.last ?? .zero { breaks.append(frame) }
      // Of several markers at one place the first one names the piece.
      if titles[breaks.count + 1] == nil { titles[breaks.count + 1] = marker.title }
    }
    self.breaks = breaks
    self.titles = titles
  }
}
