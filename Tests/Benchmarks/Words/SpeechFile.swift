import Foundation

/// Speech as WAV of one channel and 16 bits.
enum SpeechFile {
  /// Writes it as a file.
  static func write(_ speech: TimedSpeech, to path: String) throws(BenchmarkError) {
    do {
      let data = header(of: speech.samples.count, speech.sampleRate) + bytes(of: speech.samples)
      try data.write(to: URL(fileURLWithPath: path))
    } catch { throw BenchmarkError("cannot write \(path)", "\(error)") }
  }

  /// The beginning of a file with so many samples.
  static func header(of sampleCount: Int, _ sampleRate: Int) -> Data {
    var data = Data("RIFF".utf8)
    func number(_ value: Int, _ byteCount: Int) {
      for index in 0..<byteCount { data.append(UInt8(value >> (8 * index) & 0xff)) }
    }
    number(36 + 2 * sampleCount, 4)
    data.append(contentsOf: "WAVEfmt ".utf8)
    for (value, byteCount) in [
      (16, 4), (1, 2), (1, 2), (sampleRate, 4), (2 * sampleRate, 4), (2, 2), (16, 2),
    ] { number(value, byteCount) }
    data.append(contentsOf: "data".utf8)
    number(2 * sampleCount, 4)
    return data
  }

  /// Samples as they lie in a file.
  static func bytes(of samples: [Int16]) -> Data {
    var data = Data(capacity: 2 * samples.count)
    for sample in samples {
      data.append(UInt8(truncatingIfNeeded: sample))
      data.append(UInt8(truncatingIfNeeded: sample >> 8))
    }
    return data
  }

  /// Samples that lie in a file without a header.
  static func samples(in data: Data) -> [Int16] {
    let bytes = [UInt8](data)
    return stride(from: 0, to: bytes.count - 1, by: 2).map {
      Int16(bitPattern: UInt16(bytes[$0]) | UInt16(bytes[$0 + 1]) << 8)
    }
  }
}
