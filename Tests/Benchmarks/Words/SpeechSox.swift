import Foundation
import TestSupport

/// sox, which makes noises and rooms: one channel of 16 bits in, and the same out.
struct SpeechSox {
  private let program: Program
  private let folder: String

  /// Finds it; scratch files go to a folder.
  init(folder: String) throws(BenchmarkError) {
    guard let program = Program(named: "sox") else {
      throw BenchmarkError("sox is not installed", "on Debian: apt install sox")
    }
    self.program = program
    self.folder = folder
  }

  /// The speech with effects, at whatever rate they leave it.
  func treated(_ speech: TimedSpeech, _ effects: [String]) throws(BenchmarkError) -> [Int16] {
    let path = folder + "/sox-in.wav"
    try SpeechFile.write(speech, to: path)
    return try run([path] + Self.raw + [folder + "/sox-out.raw"] + effects)
  }

  /// Something out of nothing; the same each time (`-R`).
  func made(
    _ seconds: Double, _ rate: Int, _ effects: [String]
  ) throws(BenchmarkError) -> [Int16] {
    try run(
      ["-n", "-r", "\(rate)"] + Self.raw + [folder + "/sox-out.raw"] + effects
        + ["trim", "0", "\(seconds)"])
  }

  private static let raw = ["-t", "raw", "-c", "1", "-e", "signed", "-b", "16"]

  private func run(_ arguments: [String]) throws(BenchmarkError) -> [Int16] {
    do {
      let result = try program.run(["-R", "-V1"] + arguments)
      guard result.exitCode == 0 else { throw BenchmarkError("sox refuses", result.errorOutput) }
      return SpeechFile.samples(
        in: try Data(contentsOf: URL(fileURLWithPath: folder + "/sox-out.raw")))
    } catch let error as BenchmarkError { throw error } catch {
      throw BenchmarkError("cannot run sox", "\(error)")
    }
  }
}
