internal import Audio
internal import Foundation

extension Reference {
  /// Integrated loudness in LUFS of several files of 44.1 kHz stereo together, by libebur128.
  package static func albumLoudness(of paths: [String]) throws -> Double {
    let sounds = try paths.map {
      TestSound(
        rawFloats: try samples(of: $0, as: "f32le"), sampleRate: Hertz(44_100), channelCount: 2)
    }
    guard let loudness = LibraryLoudness.integrated(of: sounds) else {
      throw Failure(words: "libebur128 measured nothing in \(paths)")
    }
    return loudness.value
  }
}
