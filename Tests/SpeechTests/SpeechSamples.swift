import Foundation
import TestSupport

/// Speech for tests: recordings where they are there, and what espeak-ng says.
enum SpeechSamples {
  /// Whether the recordings are there.
  static var hasShared: Bool { PackageFiles.sharedData("speech/jfk/jfk.wav") != nil }

  /// A recording as recognisers take it.
  static func shared(_ name: String) throws -> [Int16] {
    guard let path = PackageFiles.sharedData(name) else { throw CocoaError(.fileNoSuchFile) }
    return try samples(of: path)
  }

  /// What espeak-ng says, as recognisers take it.
  static func spoken(_ text: String) throws -> [Int16] {
    let folder = try ScratchFolder()
    let path = folder.file("speech.wav")
    let result = try Program.named("espeak-ng").run(["-v", "en-us+m3", "-w", path, text])
    guard result.exitCode == 0 else { throw CocoaError(.fileReadUnknown) }
    return try samples(of: path)
  }

  /// When the words of a speech begin, as somebody read it off its picture.
  static func times(_ name: String) throws -> [Double] {
    guard let path = PackageFiles.sharedData(name) else { throw CocoaError(.fileNoSuchFile) }
    struct Truth: Decodable {
      struct Word: Decodable { let start: Double }
      let words: [Word]
    }
    let data = try Data(contentsOf: URL(fileURLWithPath: path))
    return try JSONDecoder().decode(Truth.self, from: data).words.map(\.start)
  }

  /// The sound of a file as recognisers take it.
  static func samples(of path: String) throws -> [Int16] {
    let folder = try ScratchFolder()
    let raw = folder.file("speech.raw")
    let result = try Program.named("sox").run([
      path, "-t", "raw", "-r", "16000", "-c", "1", "-e", "signed", "-b", "16", raw,
    ])
    guard result.exitCode == 0 else { throw CocoaError(.fileReadUnknown) }
    let bytes = try Data(contentsOf: URL(fileURLWithPath: raw))
    return stride(from: 0, to: bytes.count - 1, by: 2).map {
      Int16(bitPattern: UInt16(bytes[$0]) | UInt16(bytes[$0 + 1]) << 8)
    }
  }
}

extension Program {
  /// A program that has to be installed.
  fileprivate static func named(_ name: String) throws -> Program {
    guard let program = Program(named: name) else { throw CocoaError(.fileNoSuchFile) }
    return program
  }
}
