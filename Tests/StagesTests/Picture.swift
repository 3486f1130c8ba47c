import Foundation
import PipelineEngine
import PipelineModel
import TestSupport
import Testing

/// A picture as ffmpeg sees it.
struct Picture {
  let width: Int
  let height: Int
  private let bytes: [UInt8]

  init(_ path: String) throws {
    let ffmpeg = try #require(Program(named: "ffmpeg"))
    let head = Array(try Data(contentsOf: URL(fileURLWithPath: path)).prefix(24))
    try #require(head.count == 24)
    // Width and height as the head has them, ISO/IEC 15948, 11.2.2.
    width = head[16..<20].reduce(0) { $0 << 8 | Int($1) }
    height = head[20..<24].reduce(0) { $0 << 8 | Int($1) }
    let result = try ffmpeg.run([
      "-v", "error", "-i", path, "-f", "rawvideo", "-pix_fmt", "rgb24", "-",
    ])
    try #require(result.errorOutput == "" && result.output.count == 3 * width * height)
    bytes = Array(result.output)
  }

  /// The colour of a pixel: `0x2f6690`.
  subscript(x: Int, y: Int) -> Int {
    bytes[3 * (y * width + x)..<3 * (y * width + x) + 3].reduce(0) { $0 << 8 | Int($1) }
  }

  /// How bright a pixel is, from 0 to 765.
  func brightness(_ x: Int, _ y: Int) -> Int {
    bytes[3 * (y * width + x)..<3 * (y * width + x) + 3].reduce(0) { $0 + Int($1) }
  }
}

extension RunRecord {
  /// Where the published file with this ending lies.
  func path(_ ending: String) throws -> String {
    try #require(published.first { $0.path.hasSuffix(ending) }?.path)
  }

  /// The bytes of the published file with this ending.
  func bytes(_ ending: String) throws -> [UInt8] {
    Array(try Data(contentsOf: URL(fileURLWithPath: path(ending))))
  }
}
