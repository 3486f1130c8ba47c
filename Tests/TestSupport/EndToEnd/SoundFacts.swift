import Foundation

/// A sound file as the ffmpeg programs see it, which Spool has no part in.
package struct SoundFacts: Sendable {
  /// The codec: `pcm_s24le`, `aac`, `alac`, `flac`.
  package let codec: String
  /// Frames a second.
  package let sampleRate: Int
  /// How many channels.
  package let channels: Int
  /// The word length; nil for codecs that have none.
  package let bits: Int?
  /// The tags of the file, their names in lower case.
  package let tags: [String: String]
  /// Whether it carries a picture.
  package let hasPicture: Bool
  /// Frames that come out when it is decoded.
  package let frames: Int

  /// Whether the programs are there.
  package static var areAvailable: Bool {
    Program(named: "ffmpeg") != nil && Program(named: "ffprobe") != nil
  }

  /// Asks ffprobe about the file, and decodes it.
  package init(of path: String) throws {
    let text = try Reference.output(
      "ffprobe", ["-v", "error", "-of", "json", "-show_streams", "-show_format", path])
    let report = try JSONDecoder().decode(Report.self, from: text)
    guard let sound = report.streams.first(where: { $0.codec_type == "audio" }) else {
      throw Reference.Failure(words: "\(path) holds no sound")
    }
    codec = sound.codec_name
    sampleRate = Int(sound.sample_rate ?? "") ?? 0
    channels = sound.channels ?? 0
    bits = sound.bits_per_sample == 0 ? Int(sound.bits_per_raw_sample ?? "") : sound.bits_per_sample
    let named = (report.format.tags ?? [:]).merging(sound.tags ?? [:]) { first, _ in first }
    tags = Dictionary(named.map { ($0.lowercased(), $1) }, uniquingKeysWith: { first, _ in first })
    hasPicture = report.streams.contains { $0.codec_type == "video" }
    frames = try Reference.samples(of: path, as: "s32le").count / 4 / max(1, channels)
  }

  // The names are ffprobe's.
  private struct Report: Decodable {
    let streams: [Stream]
    let format: Format
  }
  private struct Stream: Decodable {
    let codec_type: String
    let codec_name: String
    let sample_rate: String?
    let channels: Int?
    let bits_per_sample: Int?
    let bits_per_raw_sample: String?
    let tags: [String: String]?
  }
  private struct Format: Decodable {
    let tags: [String: String]?
  }
}
