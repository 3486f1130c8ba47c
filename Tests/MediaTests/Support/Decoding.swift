import Audio
@testable import Media
import Platform

/// A whole recording in memory, interleaved.
struct Decoding {
  let format: AudioFormat
  let samples: [Float]
  let damages: [SoundDecoder.Damage]
  let doubt: String?
  let declaredLength: Seconds?
  let expectedFrames: Frames?
  let isLengthDeclared: Bool

  /// Decodes the recording at `path` in blocks of `blockSize` frames.
  init(
    of path: String, options: DecoderOptions = DecoderOptions(), blockSize: Int = 4000,
    in sandbox: MediaSandbox? = nil
  ) throws(SpoolError) {
    let decoder = try SoundDecoder(SourceFile(path), options: options, in: sandbox)
    format = decoder.format
    var samples: [Float] = []
    var block = AudioBuffer(channelCount: format.channelCount, capacity: Frames(blockSize))
    while try decoder.read(into: &block) {
      samples.reserveCapacity(samples.count + block.frameCount.count * format.channelCount)
      for frame in 0..<block.frameCount.count {
        for channel in 0..<format.channelCount { samples.append(block.channel(channel)[frame]) }
      }
    }
    self.samples = samples
    damages = decoder.damages
    doubt = decoder.doubt
    declaredLength = decoder.declaredLength
    expectedFrames = decoder.expectedFrames
    isLengthDeclared = decoder.isLengthDeclared
  }

  var frameCount: Int { samples.count / format.channelCount }
}

/// The largest difference of two runs of samples; nil when their lengths differ.
func largestDifference(_ a: [Float], _ b: [Float]) -> Float? {
  guard a.count == b.count else { return nil }
  var largest: Float = 0
  for index in a.indices { largest = max(largest, abs(a[index] - b[index])) }
  return largest
}
