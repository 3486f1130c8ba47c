import Foundation
import TestSupport

/// `align` as users run it: one run of spool over a recording and its text.
struct SpoolAlignment {
  let workshop: Workshop
  /// Whether all runs on one core.
  var isOnOneCore = false

  /// Where the words of a recording are, and what finding them took.
  func words(
    of text: String, in sound: String
  ) throws(BenchmarkError) -> (words: [FoundWord], usage: ProcessUsage) {
    let folder = try workshop.emptyFolder("words-out")
    let textPath = workshop.file("words.txt")
    do { try text.write(toFile: textPath, atomically: true, encoding: .utf8) } catch {
      throw BenchmarkError("cannot write \(textPath)", "\(error)")
    }
    var command = [
      workshop.spool, "run", workshop.packageFile("Tests/Benchmarks/Pipelines/words.yaml"), sound,
      textPath, "--store", try workshop.emptyFolder("words-store"), "--out", folder, "--json",
    ]
    if isOnOneCore {
      guard let taskset = Program(named: "taskset") else {
        throw BenchmarkError("taskset is not installed", "on Debian: apt install util-linux")
      }
      command = [taskset.path, "-c", "0"] + command
    }
    let usage = try ChildProcess(
      command[0], Array(command.dropFirst()), outputPath: workshop.file("words.log")
    ).wait()
    return (try Self.read(folder), usage)
  }

  private static func read(_ folder: String) throws(BenchmarkError) -> [FoundWord] {
    struct Transcript: Decodable { let words: [FoundWord] }
    do {
      let names = try FileManager.default.contentsOfDirectory(atPath: folder)
      guard let name = names.first(where: { $0.hasSuffix(".json") }) else {
        throw BenchmarkError("spool wrote no words", folder)
      }
      let data = try Data(contentsOf: URL(fileURLWithPath: folder + "/" + name))
      return try JSONDecoder().decode(Transcript.self, from: data).words
    } catch let error as BenchmarkError { throw error } catch {
      throw BenchmarkError("the words cannot be read", "\(error)")
    }
  }
}
