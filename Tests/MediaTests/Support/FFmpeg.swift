import Foundation
import TestSupport

/// The ffmpeg program as the independent reference of these tests.
struct FFmpeg {
  static let isInstalled = Program(named: "ffmpeg") != nil

  /// Runs it; throws with its own words when it fails.
  @discardableResult
  static func run(_ arguments: [String]) throws -> Data {
    try Reference.ffmpeg(arguments)
  }

  /// Decodes a file to interleaved 32-bit floats.
  static func decode(_ path: String, _ arguments: [String] = []) throws -> [Float] {
    let data = try run(
      ["-i", path, "-map", "0:a:0"] + arguments + ["-f", "f32le", "-c:a", "pcm_f32le", "-"])
    return unsafe data.withUnsafeBytes { unsafe Array($0.bindMemory(to: Float.self)) }
  }

  /// A filter that makes something to listen to: tones that drift, with noise, in every channel.
  static func sound(channels: Int = 2, rate: Int = 48000, seconds: Double = 3) -> [String] {
    let channel = (1...channels).map {
      "0.4*sin(2*PI*\(220 * $0)*t+sin(3*t))+0.1*(random(\($0))-0.5)"
    }
    return [
      "-f", "lavfi", "-i",
      "aevalsrc='\(channel.joined(separator: "|"))':s=\(rate):d=\(seconds)",
    ]
  }
}
