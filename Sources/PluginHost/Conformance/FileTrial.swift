import FoundationEssentials
import Glibc
import JSONText
import PipelineModel

/// One kind of a plugin that reads and writes files, run as a pipeline runs it: each time in a new
/// process.
struct FileTrial {
  let plugin: Plugin
  let kind: PluginManifest.Kind
  let launcher: String
  /// The parameters; what a pipeline gives that says nothing.
  var parameters: Value

  /// What a run left.
  struct Answer {
    /// The bytes of each output that was written.
    var outputs: [String: [UInt8]] = [:]
    /// What it said of its progress.
    var progress: [Double] = []
    /// What it noted.
    var notes: [String] = []
  }

  /// Runs it.
  /// - Parameters:
  ///   - form: what its inputs are like.
  ///   - withOptional: whether optional inputs are given.
  ///   - note: what an earlier run noted.
  ///   - isKilledAtNote: whether its process is killed when it notes something for the first time.
  func answer(
    to form: FileSample.Form = .ordinary, withOptional: Bool = true, note: String? = nil,
    isKilledAtNote: Bool = false
  ) throws(ConformanceFailure) -> Answer {
    let desk = try Desk()
    defer { desk.clear() }
    let inputs = try desk.lay(
      kind.inputs.filter { withOptional || !$0.optional }.map { FileSample(port: $0, form: form) })
    var answer = Answer()
    let session = try open(
      inputs, desk, note: note
    ) { (message) throws(StageError) in
      switch message.type {
      case "progress": answer.progress.append(message.number("done") ?? .nan)
      case "note":
        answer.notes.append(message.members["text"]?.text ?? "")
        if isKilledAtNote { throw StageError("killed by the test", cause: .cancelled) }
      default: break
      }
    }
    let ending: String?
    do throws(StageError) {
      _ = try session.receive("done")
      ending = try session.finish(within: .seconds(5))
    } catch {
      if error.cause == .cancelled { return answer }
      throw .stage(error)
    }
    if let how = ending {
      throw .wrong(
        how.contains("Killed")
          ? "it said done, and did not end when its standard input did" : "it said done, but \(how)"
      )
    }
    answer.outputs = try desk.collect(kind.outputs)
    return answer
  }

  /// Starts it and kills it soon after it is ready.
  func killSoon() throws(ConformanceFailure) {
    let desk = try Desk()
    defer { desk.clear() }
    let inputs = try desk.lay(kind.inputs.map { FileSample(port: $0, form: .ordinary) })
    let session = try open(inputs, desk, note: nil) { _ in }
    usleep(3000)
    withExtendedLifetime(session) {}
  }

  private func open(
    _ inputs: [String: String], _ desk: Desk, note: String?,
    _ hear: @escaping (PluginMessage) throws(StageError) -> Void
  ) throws(ConformanceFailure) -> PluginSession {
    var outputs: [String: JSONValue] = [:]
    for port in kind.outputs { outputs[port.name] = .text(desk.output(port.name)) }
    do throws(StageError) {
      return try PluginSession(
        plugin, kind: kind.kind, parameters: kind.message(parameters),
        work: [
          "inputs": .object(inputs.mapValues { .text($0) }), "outputs": .object(outputs),
          "note": note.map { .text($0) } ?? .null,
        ],
        setting: PluginSession.Setting(
          launcher: launcher, reads: Array(inputs.values), writes: [desk.outputFolder],
          hear: hear))
    } catch { throw .stage(error) }
  }

  /// A folder with the inputs, and one for the outputs.
  private struct Desk {
    private let folder: PrivateFolder
    let outputFolder: String

    init() throws(ConformanceFailure) {
      do throws(StageError) {
        folder = try PrivateFolder("trial", for: "a trial")
        outputFolder = try folder.makeFolder("out")
      } catch { throw .stage(error) }
    }

    func clear() { folder.remove() }

    func output(_ port: String) -> String { "\(outputFolder)/\(port)" }

    func lay(_ samples: [FileSample]) throws(ConformanceFailure) -> [String: String] {
      var paths: [String: String] = [:]
      for sample in samples {
        let path = folder.file("\(sample.port.name).\(sample.ending)")
        guard
          FileManager.default.createFile(atPath: path, contents: Data(sample.bytes))
        else { throw .wrong("\(path) could not be written") }
        paths[sample.port.name] = path
      }
      return paths
    }

    func collect(
      _ ports: [PluginManifest.FilePort]
    ) throws(ConformanceFailure) -> [String: [UInt8]] {
      var outputs: [String: [UInt8]] = [:]
      for port in ports {
        var status = stat()
        guard unsafe lstat(output(port.name), &status) == 0 else {
          guard port.optional else { throw .wrong("it is done and has not written \(port.name)") }
          continue
        }
        guard status.st_mode & S_IFMT == S_IFREG,
          let bytes = FileManager.default.contents(atPath: output(port.name))
        else { throw .wrong("its \(port.name) is no plain file") }
        outputs[port.name] = Array(bytes)
      }
      return outputs
    }
  }
}
