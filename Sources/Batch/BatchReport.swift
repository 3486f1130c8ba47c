import Sidecars
import FoundationEssentials
import Glibc
import Hashing
import PipelineModel

/// `batch.json` in the output folder: every file with its state, exports, levels and error.
struct BatchReport {
  /// Its name.
  static let fileName = "batch.json"
  private static let format = "spool-batch-1"

  private struct Head: Encodable {
    let format: String
    let pipeline: String
    let pipelinePath: String
    let folder: String
    let output: String
    let startedAt: Double
    let finishedAt: Double
    let done: Int
    let reused: Int
    let failed: Int
    let interrupted: Int
    let leftOut: Int
    let renamed: Int
    /// What is no recording, counted by the reason for which it was left out.
    let skipped: [String: Int]
    /// The same by name, up to 1000 for each reason.
    let skippedFiles: [SkippedFiles.Entry]
    /// Why the batch paused before its end.
    let pause: BatchFileResult.Failure?
  }

  private let order: BatchOrder
  private let results: [BatchFileResult]
  private let skipped: SkippedFiles
  private let pause: StageError?
  private let startedAt: Double
  private let finishedAt: Double

  /// - Parameters:
  ///   - results: every file, in the order of the paths.
  ///   - skipped: what else lies in the folder.
  ///   - pause: why the batch paused before its end; nil where it did not.
  init(
    _ order: BatchOrder, _ results: [BatchFileResult], skipped: SkippedFiles,
    pause: StageError? = nil,
    startedAt: Double,
    finishedAt: Double
  ) {
    self.skipped = skipped
    self.pause = pause
    self.order = order
    self.results = results
    self.startedAt = startedAt
    self.finishedAt = finishedAt
  }

  /// The file's text: a head, and a line for each file.
  var text: String {
    func count(_ outcome: BatchFileResult.Outcome) -> Int {
      results.count { $0.outcome == outcome }
    }
    let head = BatchJSON.text(
      Head(
        format: Self.format, pipeline: order.definition.name, pipelinePath: order.pipelinePath,
        folder: order.folder, output: order.output, startedAt: startedAt, finishedAt: finishedAt,
        done: count(.done), reused: count(.reused), failed: count(.failed),
        interrupted: count(.interrupted), leftOut: count(.leftOut),
        renamed: results.count(where: \.isRenamed), skipped: skipped.namedCounts,
        skippedFiles: skipped.entries, pause: pause.map { BatchFileResult.Failure($0) }))
    let files = results.map(Self.line)
    return head.dropLast() + ",\"files\":[\n" + files.joined(separator: ",\n") + "\n]}\n"
  }

  /// What is said of a file is JSON already: how it ended is put before it.
  private static func line(_ result: BatchFileResult) -> String {
    "{\"outcome\":\"\(result.outcome.rawValue)\"," + result.report.dropFirst()
  }

  /// Writes the file aside and renames it.
  /// - Returns: its path.
  func write(with custody: any FileCustody) throws(StageError) -> String {
    let path = PathText.join(order.output, Self.fileName)
    let text = text
    let content = SHA256.digest(of: text)
    _ = try custody.publish(content, at: path, of: nil, isReplacing: isOurs(path)) {
      (temporary) throws(StageError) in
      do {
        try Data(text.utf8).write(to: URL(fileURLWithPath: temporary))
      } catch {
        throw StageError(
          "cannot write \(path)", reason: "\(error)", advice: "free some space",
          cause: .environment)
      }
    }
    return path
  }

  /// Whether another store's batch wrote what is there; this store knows its own.
  private func isOurs(_ path: String) -> Bool {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    var head = [UInt8](repeating: 0, count: 4096)
    let count = unsafe read(descriptor, &head, head.count)
    return String(decoding: head.prefix(max(0, count)), as: UTF8.self)
      .contains("\"format\":\"\(Self.format)\"")
  }
}
