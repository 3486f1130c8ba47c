import FoundationEssentials
import Sidecars
import PipelineModel

/// What `batch.json` says of one file, besides how it ended.
struct FileReport {
  private let path: String
  private let exactPath: String
  private let name: String?
  private let wantedName: String?
  private let run: RunRecord?
  private let failure: BatchFileResult.Failure?
  private let levels: [(step: String, findings: String)]
  private let output: String

  /// - Parameters:
  ///   - exactPath: the path in the form of ``EscapedText``; nil where `path` has all its bytes.
  ///   - name: what its exports are to be called; what stages make of that is told.
  ///   - wantedName: what they would be called if no other file's exports had that name; nil where
  ///     they are.
  ///   - run: its run as it ended.
  ///   - plan: what was run; the findings of all steps but those that open the recording are told.
  ///   - output: the output folder, below which exports are told.
  init(
    path: String, exactPath: String? = nil, name: String? = nil, wantedName: String? = nil,
    run: RunRecord? = nil,
    plan: Plan? = nil,
    output: String = "", failure: BatchFileResult.Failure? = nil
  ) {
    self.path = path
    self.exactPath = exactPath ?? EscapedText.of(path.utf8)
    self.name = name.map { BatchOrder.exportName($0) }
    self.wantedName = wantedName.map { BatchOrder.exportName($0) }
    self.run = run
    self.failure = failure
    self.output = output
    levels = (run?.steps ?? []).compactMap { step in
      if case .streaming(_, .source) = plan?.step(step.id)?.descriptor.flow { return nil }
      return step.findings.map { (step.id.name, $0) }
    }
  }

  /// The member that is there where a file's exports are not called as they would be alone.
  static let wantedNameKey = "wantedName"

  /// The member that has what steps found out.
  static let findingsKey = "levels"

  private struct Facts: Encodable {
    struct Export: Encodable {
      let path: String
      let byteCount: Int
    }
    let path: String
    let exactPath: String?
    let name: String?
    let exactName: String?
    let wantedName: String?
    let run: String?
    let mediaSeconds: Double?
    let exports: [Export]
    let error: BatchFileResult.Failure?
  }

  /// One JSON object with sorted keys.
  var json: String {
    let exports = (run?.published ?? []).map { file in
      Facts.Export(
        path: file.path.hasPrefix(output + "/")
          ? String(file.path.dropFirst(output.count + 1)) : file.path,
        byteCount: file.byteCount)
    }
    let exactName = name.map { EscapedText.of($0.utf8) }
    let facts = Facts(
      path: path, exactPath: exactPath == path ? nil : exactPath, name: name,
      exactName: exactName == name ? nil : exactName, wantedName: wantedName, run: run?.id.name,
      mediaSeconds: run?.mediaSeconds,
      exports: exports, error: failure)
    let text = BatchJSON.text(facts)
    guard !levels.isEmpty else { return text }
    // Findings are JSON already.
    let members = levels.map { "\(BatchJSON.text($0.step)):\($0.findings)" }
    return text.dropLast() + ",\"\(Self.findingsKey)\":{" + members.joined(separator: ",") + "}}"
  }
}

/// Values as one line of JSON.
enum BatchJSON {
  static func text(_ value: some Encodable) -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    guard let data = try? encoder.encode(value) else { return "{}" }
    return String(decoding: data, as: UTF8.self)
  }
}
