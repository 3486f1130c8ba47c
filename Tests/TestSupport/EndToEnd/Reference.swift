package import Foundation
internal import Synchronization

/// Other programs that make recordings for tests and judge what Spool makes of them.
package enum Reference {
  /// A program that failed, or is not there.
  package struct Failure: Error, CustomStringConvertible {
    let words: String
    /// What it said.
    package var description: String { words }
  }

  /// Runs a program and gives its standard output; throws with its own words when it fails.
  @discardableResult
  package static func output(_ name: String, _ arguments: [String]) throws -> Data {
    guard let program = Program(named: name) else {
      throw Failure(words: "\(name) is not installed")
    }
    let result = try program.run(arguments)
    guard result.exitCode == 0 else { throw Failure(words: "\(name): \(result.errorOutput)") }
    return result.output
  }

  /// Runs ffmpeg without talk, writing over what is there. A short file that it makes of nothing but the
  /// arguments is made once: starting ffmpeg takes longer than the work of most tests.
  @discardableResult
  package static func ffmpeg(_ arguments: [String]) throws -> Data {
    let words = ["-nostdin", "-hide_banner", "-loglevel", "error", "-y"] + arguments
    guard let path = pathOfMade(by: arguments) else { return try output("ffmpeg", words) }
    let key = Array(arguments.dropLast()) + [(path as NSString).pathExtension]
    if let known = made.withLock({ $0[key] }) {
      try known.write(to: URL(fileURLWithPath: path))
      return Data()
    }
    let said = try output("ffmpeg", words)
    let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
    if bytes.count <= Self.mostBytes { made.withLock { $0[key] = bytes } }
    return said
  }

  /// Files that were made, by the arguments and the ending.
  private static let made = Mutex<[[String]: Data]>([:])
  private static let mostBytes = 4 << 20

  /// The path of a file that is made of generated sound alone; nil for any other work.
  private static func pathOfMade(by arguments: [String]) -> String? {
    let inputs = arguments.indices.filter { arguments[$0] == "-i" }
    guard let path = arguments.last, path.hasPrefix("/"), !path.contains("%"), inputs.count == 1,
      let input = inputs.first, input >= 2, arguments[..<input].suffix(2) == ["-f", "lavfi"],
      !arguments.dropLast().contains(where: { $0.contains("/") })
    else { return nil }
    return path
  }

  /// The samples of a file, decoded by ffmpeg to interleaved raw PCM: `s16le`, `s24le`, `f32le`.
  package static func samples(of path: String, as format: String) throws -> Data {
    try ffmpeg(["-i", path, "-map", "0:a:0", "-f", format, "-c:a", "pcm_\(format)", "-"])
  }

  /// The samples of a file as ffmpeg decodes them.
  package static func floats(of path: String) throws -> [Float] {
    let data = try samples(of: path, as: "f32le")
    return stride(from: 0, to: data.count - 3, by: 4).map { index in
      let bits = (0..<4).reversed().reduce(UInt32(0)) { $0 << 8 | UInt32(data[index + $1]) }
      return Float(bitPattern: bits)
    }
  }

  /// Integrated loudness in LUFS and true peak in dBTP, by ffmpeg's `ebur128`, to three decimals.
  /// - Parameter isDualMono: whether one channel counts as both speakers play it.
  package static func loudness(
    of path: String, isDualMono: Bool = false
  ) throws -> (integrated: Double, truePeak: Double) {
    let filter =
      "ebur128=peak=true:dualmono=\(isDualMono):metadata=1,ametadata=print:file=-"
    let text = String(
      decoding: try ffmpeg(["-i", path, "-map", "0:a:0", "-af", filter, "-f", "null", "-"]),
      as: UTF8.self)
    func last(_ name: String) -> Double? {
      text.split(separator: "\n").last { $0.hasPrefix("lavfi.r128.\(name)=") }
        .flatMap { Double($0.split(separator: "=")[1]) }
    }
    guard let integrated = last("I"), let peak = last("true_peak") else {
      throw Failure(words: "ffmpeg measured nothing in \(path)")
    }
    return (integrated, 20 * log10(peak))
  }

  /// Makes a recording: drifting tones and noise at −20 dB or so, different in every channel.
  /// - Parameter coding: ffmpeg's words for the codec; the container follows from the path.
  package static func record(
    _ path: String, seconds: Double, rate: Int = 44100, channels: Int = 2, coding: [String] = []
  ) throws {
    let voices = (1...channels).map {
      "0.2*sin(2*PI*\(180 * $0)*t+sin(3*t))*(0.6+0.4*sin(5*t))+0.05*(random(\($0))-0.5)"
    }
    let source = "aevalsrc='\(voices.joined(separator: "|"))':s=\(rate):d=\(seconds)"
    try ffmpeg(["-f", "lavfi", "-i", source, "-bitexact"] + coding + [path])
  }
}
