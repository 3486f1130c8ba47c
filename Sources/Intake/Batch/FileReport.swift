package import PipelineModel
package import Platform
internal import Store

/// The report of one file in `batch.json`, without its state.
enum FileReport {
  /// Present if a file's exports have another name than wanted.
  static let wantedNameKey = "wantedName"

  /// The findings of the steps.
  static let findingsKey = BatchLog.findingsKey

  /// The damage of the recording.
  static let damageKey = "damage"

  /// What the steps warned of.
  static let warningsKey = "warnings"

  /// Whether nothing in a file tells where its recording was to end; as in the findings of the step
  /// that decodes it.
  static let untoldEnd = "\"isEndUntold\":true"

  private struct Facts: Encodable {
    let path: String
    let exactPath: String?
    let name: String?
    let exactName: String?
    let wantedName: String?
    let run: String?
    let mediaSeconds: Double?
    let exports: [BatchFileResult.Export]
    let damage: [String: RecordingDamage]?
    let isEndUntold: Bool?
    let warnings: [String: [String]]?
    let error: BatchFileResult.Failure?
  }

  /// One JSON object with sorted keys.
  /// - Parameters:
  ///   - exactPath: the path in the form of ``PrintableText/escaped(_:)``; nil where `path` has all
  ///     its bytes.
  ///   - name: the wanted name of its exports; the report has the actual ones.
  ///   - wantedName: what they would be called if no other file's exports had that name; nil where
  ///     they are.
  ///   - run: its run as it ended.
  ///   - id: a run that was not done.
  ///   - plan: what was run; reported are the findings of all steps but sources.
  ///   - output: the output folder, the base of the exports' paths.
  ///   - steps: those whose findings are reported; nil for all of the run.
  static func json(
    path: String, exactPath: String? = nil, name: String? = nil, wantedName: String? = nil,
    run: RunRecord? = nil, id: RunID? = nil, plan: Plan? = nil, output: String = "",
    findings steps: [StepRecord]? = nil, failure: BatchFileResult.Failure? = nil
  ) -> String {
    func other(_ exact: String?, than text: String?) -> String? { exact == text ? nil : exact }
    let name = name.map { BatchOrder.exportName($0) }
    let warned = (run?.steps ?? []).compactMap { step in
      step.warnings.map { (step.id.name, $0) }
    }
    let warnings = Dictionary(warned, uniquingKeysWith: { first, _ in first })
    let facts = Facts(
      path: path, exactPath: other(exactPath ?? PrintableText.escaped(path.utf8), than: path),
      name: name, exactName: other(name.map { PrintableText.escaped($0.utf8) }, than: name),
      wantedName: wantedName.map { BatchOrder.exportName($0) }, run: (run?.id ?? id)?.name,
      mediaSeconds: run?.mediaSeconds,
      exports: (run?.published ?? []).map { file in
        BatchFileResult.Export(
          path: file.path.hasPrefix(output + "/")
            ? String(file.path.dropFirst(output.count + 1)) : file.path,
          byteCount: file.byteCount)
      },
      damage: run.flatMap { $0.damage.isEmpty ? nil : $0.damage },
      isEndUntold: (run?.steps ?? []).contains { $0.findings?.contains(untoldEnd) ?? false }
        ? true : nil,
      warnings: warnings.isEmpty ? nil : warnings, error: failure)
    // Findings are JSON already.
    let levels = (steps ?? run?.steps ?? []).compactMap { step -> String? in
      if case .streaming(_, .source) = plan?.step(step.id)?.descriptor.flow { return nil }
      return step.findings.map { "\(JSONText.of(step.id.name)):\($0)" }
    }
    let object = JSONText.of(facts)
    if levels.isEmpty { return object }
    return object.dropLast() + ",\"\(findingsKey)\":{" + levels.joined(separator: ",") + "}}"
  }
}

/// The outcome of one file.
package struct BatchFileResult: Hashable, Sendable {
  package enum Outcome: String, Hashable, Sendable, Codable {
    case done
    /// Done before, and unchanged since.
    case reused
    case failed
    /// The batch was stopped before its end.
    case interrupted
    /// It did not fail in the last batch, and only failed files were wanted.
    case leftOut = "left-out"
  }

  package struct Failure: Hashable, Sendable, Codable {
    /// The step that failed; nil if none.
    package let step: String?
    package let message: String
    package let reason: String?
    package let advice: String?

    init(_ error: SpoolError, step: StepID? = nil) {
      self.step = step?.name
      message = error.message
      reason = error.reason
      advice = error.advice
    }
  }

  /// Below the batch's folder.
  package let path: String
  package let outcome: Outcome
  package var failure: Failure?
  /// Why the whole batch pauses with this file: a disk is full, which affects all files.
  var pause: SpoolError?
  /// Its length in seconds; nil while unknown.
  package var mediaSeconds: Double?
  /// The rest of its entry in `batch.json`, one JSON object.
  package var report: String

  /// The findings of its run's steps, by step, as in `batch.json`; empty if there are none. O(n).
  package var findings: [String: JSONValue] {
    let value = try? JSONReader.value(of: Array(report.utf8), depthLimit: 64).value
    guard case .object(let levels)? = value?[FileReport.findingsKey] else { return [:] }
    return levels
  }

  /// The damage that its run's steps met, by step; empty if there is none. O(n).
  package var damage: [String: RecordingDamage] {
    guard report.contains("\"\(FileReport.damageKey)\":{") else { return [:] }
    return facts.damage ?? [:]
  }

  /// Whether nothing in the file tells where its recording was to end.
  package var isEndUntold: Bool { report.contains(FileReport.untoldEnd) }

  /// Whether its run's steps warned of something.
  var hasWarnings: Bool { report.contains("\"\(FileReport.warningsKey)\":{") }

  /// A file of its run in the output folder.
  package struct Export: Hashable, Sendable, Codable {
    /// Below the output folder.
    package let path: String
    package let byteCount: Int
  }

  /// What its entry in `batch.json` says of the file itself. O(n).
  package var facts: Facts { (try? Facts(jsonText: report)) ?? Facts() }

  /// Members of its entry in `batch.json`.
  package struct Facts: Decodable {
    /// The path with all its bytes; nil if ``BatchFileResult/path`` has them.
    package var exactPath: String?
    /// Its run; nil if none began.
    package var run: String?
    package var exports: [Export]?
    fileprivate var damage: [String: RecordingDamage]?
  }

  /// A path with all its bytes in a printable form; nil if it is that already. O(n).
  package static func exactPath(of path: String) -> String? {
    let exact = PrintableText.escaped(path.utf8)
    return exact == path ? nil : exact
  }

  /// Its exports' name, if that is another one than wanted.
  var renamed: RenamedFile? {
    guard report.contains("\"\(FileReport.wantedNameKey)\":\""),
      let value = try? JSONReader.value(of: Array(report.utf8), depthLimit: 64).value,
      let name = value["name"]?.text
    else { return nil }
    return RenamedFile(path: path, name: name)
  }
}
