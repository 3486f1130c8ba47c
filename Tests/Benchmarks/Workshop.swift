import Foundation
import TestSupport

/// Where the benchmarks find the programs that they time, and keep the files they work on.
struct Workshop {
  /// The root of the package.
  private static let root = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().path

  /// The path of the `spool` that is measured.
  let spool: String
  /// The path of the other side's `ffmpeg`.
  let ffmpeg: String
  /// Kept between runs, inside the build folder.
  let folder: String

  /// Builds spool for release unless `spool` names one, and makes the folder.
  init(spool: String?) throws(BenchmarkError) {
    guard let ffmpeg = Program(named: "ffmpeg") else {
      throw BenchmarkError("ffmpeg is not installed", "on Debian: sudo apt-get install ffmpeg")
    }
    self.ffmpeg = ffmpeg.path
    if let spool { self.spool = spool } else { self.spool = try Self.build() }
    folder = Self.root + "/.build/benchmarks"
    try Self.make(folder)
  }

  /// Says so where other programs kept a good part of a core busy in the last minute.
  static func warnIfBusy() {
    let text = (try? String(contentsOfFile: "/proc/loadavg", encoding: .utf8)) ?? ""
    guard let load = text.split(separator: " ").first.flatMap({ Double($0) }), load > 0.5 else {
      return
    }
    report(
      "The machine is busy (load \(Text.number(load, 1))): wall times and ratios will be too high")
  }

  /// The path of a file of this package.
  func packageFile(_ path: String) -> String { Self.root + "/" + path }

  /// The path of a file that is kept.
  func file(_ name: String) -> String { folder + "/" + name }

  /// A folder of this name without anything in it. What was written before is on the disk when
  /// this returns, so that nobody pays for another's writing.
  func emptyFolder(_ name: String) throws(BenchmarkError) -> String {
    let path = file(name)
    try? FileManager.default.removeItem(atPath: path)
    try Self.make(path)
    sync()
    return path
  }

  private static func make(_ path: String) throws(BenchmarkError) {
    do {
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    } catch {
      throw BenchmarkError("cannot make \(path)", "\(error)")
    }
  }

  /// So that what is measured is what the sources say.
  private static func build() throws(BenchmarkError) -> String {
    report("Building spool for release")
    guard let swift = Program(named: "swift"),
      let result = try? swift.run(
        ["build", "-c", "release", "--product", "spool", "--package-path", root])
    else { throw BenchmarkError("cannot run swift build", "name a spool with --spool PATH") }
    guard result.exitCode == 0 else {
      throw BenchmarkError("spool cannot be built", result.text + result.errorOutput)
    }
    return root + "/.build/release/spool"
  }
}
