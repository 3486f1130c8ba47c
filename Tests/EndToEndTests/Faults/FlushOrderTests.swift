import Foundation
import TestSupport
import Testing

/// The order of the calls that a real run makes, as the kernel saw them: a power cut after a rename
/// without a flush leaves an empty file under a good name, and no kill ever shows that.
@Suite(
  "No file gets a name before its bytes are on the disk",
  .enabled(if: SoundFacts.areAvailable, "the ffmpeg and ffprobe programs are not installed"))
struct FlushOrderTests {
  private static let strace = Program(named: "strace")

  @Test(
    "nothing is renamed with unflushed bytes, be it an artifact, the change log, an export or a chunk",
    .enabled(if: strace != nil, "the strace program is not installed"),
    arguments: [2.0, 60.0])
  func renames(seconds: Double) throws {
    let place = try Workspace()
    let note = place.file("note.wav")
    try Reference.record(note, seconds: seconds, rate: 22050, channels: 1)
    let log = place.file("calls")
    let run = try place.run(
      try place.quickPipeline(), [note], under: try #require(Self.strace),
      [
        "-f", "-qq", "-y", "-o", log, "-e", "signal=none", "-e",
        "trace=write,pwrite64,ftruncate,copy_file_range,fsync,fdatasync,rename,renameat,renameat2",
      ])
    try #require(run.exitCode == 0, "\(run.errorOutput)")
    let trace = CallOrder(try String(contentsOfFile: log, encoding: .utf8))
    let early = trace.earlyRenames(under: [place.store, place.out])
    #expect(early == [])
    #expect(trace.renameCount(under: place.store) > 5, "nothing was traced")
    #expect(trace.names.contains { $0.hasSuffix(".packets") }, "\(trace.names)")
  }
}

/// Which bytes were flushed before which rename, in a trace by strace with paths beside descriptors.
private struct CallOrder {
  private enum Step {
    case change(String)
    case flush(String)
    case rename(from: String, to: String)
  }
  private var steps: [Step] = []

  init(_ text: String) {
    // The beginning of a call that another thread's cut in two, by thread.
    var begun: [Substring: String] = [:]
    for line in text.split(separator: "\n") {
      let parts = line.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: true)
      guard parts.count == 2 else { continue }
      var call = String(parts[1].drop { $0 == " " })
      if let cut = call.range(of: " <unfinished ...>") {
        begun[parts[0]] = String(call[..<cut.lowerBound])
        // Bytes count as changed from the beginning of a call on, as flushed only from its end.
        if let step = Self.step(call), case .change = step { steps.append(step) }
        continue
      }
      if call.hasPrefix("<... "), let head = begun.removeValue(forKey: parts[0]) {
        call = head + String(call.drop { $0 != ">" }.dropFirst())
      }
      guard let result = call.range(of: "= ", options: .backwards),
        !call[result.upperBound...].hasPrefix("-1"), let step = Self.step(call)
      else { continue }
      steps.append(step)
    }
  }

  private static func step(_ call: String) -> Step? {
    let name = call.prefix { $0 != "(" }
    let quoted = call.split(separator: "\"", omittingEmptySubsequences: false)
    let files = call.matches(of: /\d+<([^>]*)>/).map { String($0.output.1) }
    switch name {
    case "write", "pwrite64", "ftruncate": return files.first.map(Step.change)
    case "copy_file_range": return files.count > 1 ? .change(files[1]) : nil
    case "fsync", "fdatasync": return files.first.map(Step.flush)
    case "rename", "renameat", "renameat2":
      return quoted.count > 3 ? .rename(from: String(quoted[1]), to: String(quoted[3])) : nil
    default: return nil
    }
  }

  /// The new names of all renames.
  var names: [String] {
    steps.compactMap { step in
      if case .rename(_, let name) = step { return name }
      return nil
    }
  }

  func renameCount(under folder: String) -> Int {
    names.count { $0.hasPrefix(folder + "/") }
  }

  /// The names that were given to files with bytes that had not been flushed.
  func earlyRenames(under folders: [String]) -> [String] {
    var unflushed: Set<String> = []
    var early: [String] = []
    for step in steps {
      switch step {
      case .change(let path): unflushed.insert(path)
      case .flush(let path): unflushed.remove(path)
      case .rename(let old, let new):
        let isOurs = folders.contains { new.hasPrefix($0 + "/") }
        if unflushed.remove(old) != nil, isOurs { early.append(new) }
      }
    }
    return early
  }
}
