import FoundationEssentials
import Hashing
import PipelineModel
import PluginHost
import Synchronization

/// What stands for programs in keys: what they print of their version, asked once while they stay as
/// they are, or else their own bytes.
final class CommandVersions: Sendable {
  private let launcher: String
  private let known = Mutex<[Question: Result<String, StageError>]>([:])
  /// What was asked of which programs.
  private struct Question: Hashable {
    let words: [String]
    let stamps: [FileStamp?]
  }

  /// Nobody waits longer for a version.
  private static let time = 20.0

  /// - Parameter launcher: the program that confines others: Spool's own.
  init(launcher: String) { self.launcher = launcher }

  /// The text for the key. A version that cannot be told has one, too, and `check` ends such a stage
  /// before it makes anything.
  func text(of order: CommandOrder) -> String {
    switch answer(for: order) {
    case .success(let text): text
    case .failure: "not known"
    }
  }

  /// Why there is no version.
  func check(_ order: CommandOrder) throws(StageError) { _ = try answer(for: order).get() }

  private func answer(for order: CommandOrder) -> Result<String, StageError> {
    let programs = [order.programPath] + (order.version?.prefix(1) ?? [])
    let question = Question(
      words: [order.programPath] + (order.version ?? []),
      stamps: programs.map { ConfinedCommand.path(of: $0).flatMap { FileStamp($0) } })
    if let answer = known.withLock({ $0[question] }) { return answer }
    let answer: Result<String, StageError>
    do throws(StageError) {
      if let version = order.version {
        answer = .success(try ask(version, order))
      } else {
        answer = .success(try bytes(of: order.programPath))
      }
    } catch { answer = .failure(error) }
    known.withLock { $0[question] = answer }
    return answer
  }

  /// The first line of what a command prints, and a digest of all where there is more.
  private func ask(_ words: [String], _ order: CommandOrder) throws(StageError) -> String {
    let command = ConfinedCommand(
      words,
      limits: PluginManifest.Limits(memory: order.limits.memory, time: Self.time, fileSize: 1),
      reads: Array(order.files.values) + order.ownPrograms)
    // Where there is no room for a folder, the version is not at fault.
    let folder = try PrivateFolder("command", for: "the version of \(order.program)")
    let outcome: ConfinedCommand.Outcome
    do throws(StageError) { outcome = try command.run(launcher: launcher, in: folder) {} } catch {
      throw StageError(
        "the version of \(order.program) cannot be told",
        reason: "\(error.message): \(error.reason ?? "")",
        advice: "let version be a command that prints it, or leave it out", cause: error.cause)
    }
    let printed = String(decoding: outcome.output, as: UTF8.self)
    let text = printed.isEmpty ? outcome.complaints.joined(separator: "\n") : printed
    let lines = text.split(whereSeparator: \.isNewline)
    guard let first = lines.first else {
      throw StageError(
        "the version of \(order.program) cannot be told",
        reason: "\(ShellWords.line(words)) prints nothing",
        advice: "let version be a command that prints it, or leave it out")
    }
    let short = first.count <= 100 && lines.count == 1
    return short
      ? String(first) : "\(first.prefix(100)) \(SHA256.digest(of: Array(text.utf8)).short)"
  }

  private func bytes(of program: String) throws(StageError) -> String {
    FileDigests.text(of: try ConfinedCommand.path(toStart: program))
  }
}
