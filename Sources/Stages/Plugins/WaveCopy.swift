import AudioModel
import DSP
import Glibc
import PipelineModel

/// Kept sound as a WAV file for a program that reads files: 32-bit floats at another rate or in one
/// channel where that is wanted, piece by piece.
struct WaveCopy {
  let sound: KeptSound
  /// The rate that is wanted; nil leaves it as it is.
  let rate: Hertz?
  /// Whether all channels become one.
  let isMono: Bool

  private static let length = Frames(16_384)

  /// Writes the file. O(length of the sound), in flat memory.
  func write(to path: String, check: () throws(StageError) -> Void) throws(StageError) {
    guard let file = unsafe fopen(path, "wxe") else { throw trouble(path) }
    let format = AudioFormat(
      sampleRate: rate ?? sound.outline.format.sampleRate,
      channelCount: isMono ? 1 : sound.outline.format.channelCount)
    let isWritten: Bool
    do throws(StageError) {
      let byteCount = try stream(in: format, check) { samples, count in
        unsafe samples.withUnsafeBytes { unsafe fwrite($0.baseAddress, 4, count, file) == count }
      } heading: { header in
        unsafe fwrite(header, 1, header.count, file) == header.count
      }
      // The sizes are known by now.
      let header = Self.header(format, byteCount: byteCount ?? 0)
      unsafe rewind(file)
      isWritten =
        unsafe byteCount != nil && fwrite(header, 1, header.count, file) == header.count
    } catch {
      unsafe fclose(file)
      throw error
    }
    guard unsafe fclose(file) == 0, isWritten else { throw trouble(path) }
  }

  /// Gives the header and then the samples.
  /// - Returns: the bytes of the samples; nil where somebody could not take them.
  private func stream(
    in format: AudioFormat, _ check: () throws(StageError) -> Void,
    _ take: ([Float], Int) -> Bool, heading: ([UInt8]) -> Bool
  ) throws(StageError) -> Int? {
    guard heading(Self.header(format, byteCount: 0)) else { return nil }
    let own = sound.outline.format
    let narrow = AudioFormat(sampleRate: own.sampleRate, channelCount: format.channelCount)
    let resampler =
      own.sampleRate == format.sampleRate
      ? nil : Resampler(to: format.sampleRate, format: narrow)
    var input = AudioBuffer(channelCount: own.channelCount, capacity: Self.length)
    var mixed = AudioBuffer(channelCount: format.channelCount, capacity: Self.length)
    var output = AudioBuffer(
      channelCount: format.channelCount,
      capacity: resampler.map { max($0.blockCapacity(for: Self.length), $0.capacity(for: .zero)) }
        ?? Self.length)
    var samples: [Float] = []
    var byteCount = 0
    let source = try sound.open()
    var isOver = false
    while !isOver {
      try check()
      if try source.read(into: &input) {
        mix(input, into: &mixed)
        if let resampler {
          resampler.process(mixed, into: &output)
        } else {
          output.copy(from: mixed, start: .zero, count: mixed.frameCount)
        }
      } else {
        isOver = true
        output.frameCount = .zero
        resampler?.finish(into: &output)
      }
      let count = Interleaving.join(output, into: &samples)
      guard take(samples, count) else { return nil }
      byteCount += 4 * count
    }
    return byteCount
  }

  /// The mean of all channels, or all as they are.
  private func mix(_ input: borrowing AudioBuffer, into mixed: inout AudioBuffer) {
    guard isMono else { return mixed.copy(from: input, start: .zero, count: input.frameCount) }
    mixed.frameCount = input.frameCount
    var target = mixed.mutableChannel(0)
    for channel in 0..<input.channelCount {
      let samples = input.channel(channel)
      for frame in 0..<input.frameCount.count {
        let value = samples[frame] / Float(input.channelCount)
        target[frame] = channel == 0 ? value : target[frame] + value
      }
    }
  }

  /// RIFF with IEEE floats (format 3). A file of over 4 GiB says the most that it can.
  private static func header(_ format: AudioFormat, byteCount: Int) -> [UInt8] {
    func bytes(_ value: Int, _ count: Int) -> [UInt8] {
      (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }
    let size = min(byteCount, Int(UInt32.max) - 58)
    let frame = 4 * format.channelCount
    let rate = Int(format.sampleRate.value.rounded())
    return Array("RIFF".utf8) + bytes(size + 50, 4) + Array("WAVEfmt ".utf8) + bytes(18, 4)
      + bytes(3, 2) + bytes(format.channelCount, 2) + bytes(rate, 4) + bytes(rate * frame, 4)
      + bytes(frame, 2) + bytes(32, 2) + bytes(0, 2) + Array("fact".utf8) + bytes(4, 4)
      + bytes(size / frame, 4) + Array("data".utf8) + bytes(size, 4)
  }

  private func trouble(_ path: String) -> StageError {
    StageError(
      "cannot write \(path) for a plugin", reason: unsafe String(cString: strerror(errno)),
      advice: "make room there, or set TMPDIR", cause: .environment)
  }
}
