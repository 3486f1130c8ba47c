package import Platform

/// The record of one run, stored and shown by `spool runs show`.
package struct RunRecord: Hashable, Sendable, Codable {
  package enum State: String, Hashable, Sendable, Codable {
    case running
    /// Cut off: killed, by a power failure, or by a stop that did not reach a safe point in time.
    case cutOff = "cut-off"
    case done
    case failed
    /// Refused before any stage began its work: what is no recording, exports that would replace
    /// other files, or not enough room.
    case refused
    /// Stopped by a signal, at a safe point.
    case interrupted
    /// Stopped at a durable point because a disk was full; with room on it, it resumes.
    case paused
    /// Given up, and not resumed: by the user, or because its recording needs no more work.
    case dropped
  }

  /// The batch that it belongs to.
  package struct Batch: Hashable, Sendable, Codable {
    /// The batch's id, a prefix of its runs' ids.
    package let batch: RunID
    /// The batch's folder, an absolute path.
    package let folder: String
    /// The folder of all its exports, an absolute path; nil in old records.
    package let output: String?
    /// The command that resumes the batch; nil if unknown.
    package let command: String?
    /// The batch's values of `--set`, as typed: those of the run may come from its sidecar too. Nil in
    /// old records.
    package let overrides: [String: String]?

    package init(
      batch: RunID, folder: String, output: String? = nil, command: String?,
      overrides: [String: String]? = nil
    ) {
      self.overrides = overrides
      self.batch = batch
      self.folder = folder
      self.output = output
      self.command = command
    }
  }

  package let id: RunID
  package let pipeline: String
  package let pipelinePath: String
  /// The input files, by input name.
  package let inputs: [String: String]
  /// The names of its inputs in the pipeline's order; nil in old records.
  package var inputNames: [String]?
  /// Those of them that are sound, in the pipeline's order; nil in old records.
  package var soundInputs: [String]?
  /// The values of `--set`, as typed.
  package let overrides: [String: String]
  /// In seconds since 1970.
  package let startedAt: Double
  package var finishedAt: Double?
  package var state: State
  /// In the pipeline's order.
  package var steps: [StepRecord]
  /// The exported files.
  package var published: [PublishedFile]
  /// The recording's length in seconds; nil while unknown.
  package var mediaSeconds: Double?
  /// The length of the recording itself, of several that of the first sound, in seconds; nil if this run
  /// has not decoded it.
  package var recordingSeconds: Double?
  /// The error that ended it.
  package var failure: String?
  /// Who can change that outcome; nil if it did not fail, and in old records.
  package var failureCause: SpoolError.Cause?
  /// What the user can do about it; nil if nothing is known.
  package var failureAdvice: String?
  /// Its request; nil in old records.
  package var request: RunRequest?
  /// The SHA-256 of each input file, by input name; nil until they were read.
  package var recordings: [String: Digest]?
  /// The earlier run that this one resumes; nil if there is none.
  package var resumes: RunID?
  /// The batch that it belongs to; nil if none.
  package var batch: Batch?
  /// Seconds of work, without those in which its process was stopped; nil until it ended.
  package var activeSeconds: Double?
  /// The plugins behind its stages at its start; nil if there are none, and in old records.
  package var plugins: [PluginUse]?
  /// Its program and machine; nil in old records.
  package var workplace: Host?

  package init(
    id: RunID, pipeline: String, pipelinePath: String, inputs: [String: String],
    overrides: [String: String], startedAt: Double, request: RunRequest? = nil,
    resumes: RunID? = nil, batch: Batch? = nil, plugins: [PluginUse]? = nil
  ) {
    self.id = id
    self.pipeline = pipeline
    self.pipelinePath = pipelinePath
    self.inputs = inputs
    self.overrides = overrides
    self.startedAt = startedAt
    self.request = request
    self.resumes = resumes
    self.batch = batch
    self.plugins = plugins
    state = .running
    steps = []
    published = []
  }
}

package struct StepRecord: Hashable, Sendable, Codable {
  package enum Outcome: String, Hashable, Sendable, Codable {
    case made
    /// Its checkpoint existed already.
    case reused
    /// Its condition did not hold.
    case skipped
    case failed
    /// The run ended before it.
    case pending
  }

  package let id: StepID
  package let kind: String
  package var outcome: Outcome
  /// Its checkpoint; nil if there is none.
  package var key: Checkpoint.Key?
  /// By port.
  package var outputs: [PortName: StepOutput]
  /// The identities of what it was made of, by port, which outlast its checkpoint; nil if it was not
  /// done, and in old records.
  package var inputs: [PortName: Digest]?
  /// Its findings, as JSON; nil if it has none.
  package var findings: String?
  /// What it warned of, or what the work warned of that it reuses, the first 50; nil if nothing, and
  /// in old records.
  package var warnings: [String]?
  /// Where it resumed the work of an earlier run, in seconds of the recording; nil if it began at
  /// the beginning.
  package var resumedAtSeconds: Double?
  /// Why earlier work of it was, at least partly, useless; nil if it was not, or if there was none.
  package var loss: ResumeLoss?
  /// Why it failed; nil if it did not, and in old records.
  package var failure: String?
  /// When this run began it, in seconds since 1970; nil if it did not, and in old records.
  package var begunAt: Double?
  /// When this run had done it, in seconds since 1970; nil if it did not, and in old records.
  package var finishedAt: Double?
  /// Seconds of work inside it in this run, on all threads, as opposed to the time of its pass; nil
  /// if it did none, and in old records. A reused step works where its sound was not kept.
  package var workSeconds: Double?

  private enum CodingKeys: String, CodingKey {
    case id, kind, outcome, key, outputs, inputs, findings, resumedAtSeconds, loss = "setback"
    case failure, begunAt, finishedAt, workSeconds, warnings
  }

  package init(
    id: StepID, kind: String, outcome: Outcome, key: Checkpoint.Key? = nil,
    outputs: [PortName: StepOutput] = [:], findings: String? = nil
  ) {
    self.id = id
    self.kind = kind
    self.outcome = outcome
    self.key = key
    self.outputs = outputs
    self.findings = findings
  }
}

/// A file exported to a user's folder.
package struct PublishedFile: Hashable, Sendable, Codable {
  /// An absolute path.
  package let path: String
  package let byteCount: Int
  package let step: StepID
  /// Whether it was already there, complete and unchanged.
  package let wasThere: Bool
  /// The SHA-256 of its bytes, if it is the artifact's own; nil if it was changed on export, as by
  /// tagging.
  package let digest: Digest?
  /// The port of its step; nil if there is none, or if unknown.
  package var port: PortName?
  /// Its leaf hash in the transparency log; nil if it is no receipt.
  package var leaf: Digest?

  package init(
    path: String, byteCount: Int, step: StepID, wasThere: Bool, digest: Digest? = nil
  ) {
    self.digest = digest
    self.path = path
    self.byteCount = byteCount
    self.step = step
    self.wasThere = wasThere
  }
}

/// Stores runs. Every method may be called from any thread and is durable on return.
package protocol RunLog: Sendable {
  /// Writes a new or changed run.
  func save(_ run: RunRecord) throws(SpoolError)
  /// The newest runs, newest first.
  func newest(limit: Int) throws(SpoolError) -> [RunRecord]
  /// The run whose id begins with `prefix`; throws if there are several, nil if there is none.
  func run(named prefix: String) throws(SpoolError) -> RunRecord?
}

extension RunRecord {
  /// The runs that can still be resumed, in their order, which alone decides what is later; a run
  /// that names the one it resumes settles that one anywhere: clocks are set back. O(n) if most are
  /// done, O(n²) at worst.
  /// - Parameter runs: the last recorded one first.
  package static func unsettled(in runs: [RunRecord]) -> [RunRecord] {
    let takenUp = Set(runs.compactMap(\.resumes))
    return runs.indices.filter {
      !takenUp.contains(runs[$0].id) && !runs[$0].isSettled(by: runs[..<$0])
    }.map { runs[$0] }
  }
}

extension RunRecord {
  /// Its inputs in the pipeline's order; in old records, by name, and those of a list by number.
  package var orderedInputs: [(name: String, path: String)] {
    let names = inputNames ?? inputs.keys.sorted { Self.listPlace($0) < Self.listPlace($1) }
    return names.compactMap { name in inputs[name].map { (name, $0) } }
  }

  /// The place of an input or port whose name may end in its number in a list: `parts.10` follows
  /// `parts.9`.
  package static func listPlace(_ name: String) -> (String, Int) {
    let parts = name.split(separator: ".", maxSplits: 1)
    return (String(parts.first ?? ""), parts.dropFirst().first.flatMap { Int($0) } ?? 0)
  }

  /// The paths of its inputs, in that order.
  package var inputPaths: [String] { orderedInputs.map(\.path) }
}

extension StepRecord {
  /// Its outcome in a word: `again` where it was done before, and its sound was made once more for what
  /// follows.
  package var outcomeWord: String {
    outcome == .reused && workSeconds != nil ? "again" : outcome.rawValue
  }

  /// Its findings as a value; nil if there are none, or no JSON. O(n).
  package var foundValue: JSONValue? {
    guard let findings else { return nil }
    return try? JSONReader.value(of: Array(findings.utf8), depthLimit: 64).value
  }
}

extension RunRecord {
  /// The findings of its steps, by step. O(n).
  package var findings: [String: JSONValue] {
    Dictionary(
      steps.compactMap { step in step.foundValue.map { (step.id.name, $0) } },
      uniquingKeysWith: { first, _ in first })
  }
}

/// The identity of a source recording.
package struct RecordingIdentity: Hashable, Sendable, Codable {
  /// An absolute path.
  package let path: String
  /// The SHA-256 of its file.
  package let digest: Digest
  /// The identity of its decoded samples; nil while unknown.
  package let sound: Digest?

  package init(path: String, digest: Digest, sound: Digest? = nil) {
    self.path = path
    self.digest = digest
    self.sound = sound
  }

  /// Whether both are one recording, whatever their paths: moved or renamed, it keeps its bytes;
  /// retagged, or in another container, it keeps its samples.
  package func isSameRecording(as other: RecordingIdentity) -> Bool {
    digest == other.digest || (sound != nil && sound == other.sound)
  }
}

extension SpoolError {
  /// A file in the place of an export. Another attempt finds it there again.
  /// - Parameter action: what was to be done with the place.
  package init(_ action: String = "write", isForeign path: String) {
    self.init(
      action, path,
      reason: "another file is there, which Spool did not write or which was changed since",
      advice: "add \(option: .replace) to overwrite it, or choose another place with "
        + "\(option: .out)", cause: .input, kind: .occupied)
  }

  /// An export that would replace one of another recording.
  /// - Parameters:
  ///   - others: what the file was made of, as far as this run has it not.
  ///   - own: what it would be made of.
  ///   - namesake: the file that exports are named after; nil where the user gave them names.
  package init(
    _ path: String, holds others: [RecordingIdentity], not own: [RecordingIdentity],
    namesake: String?
  ) {
    func list(_ recordings: [RecordingIdentity], atMost limit: Int = 3) -> String {
      let paths = recordings.map(\.path)
      return paths.count > limit
        ? "\(paths[0]) and \(paths.count - 1) more" : paths.joined(separator: " and ")
    }
    let renaming: String
    if let namesake {
      let isNamedAfter = ExportName.stem(of: path).contains(ExportName.stem(of: namesake))
      renaming =
        isNamedAfter
        ? "rename \(namesake.pathNames.last ?? ""), after which it is named"
        : "change its name in the pipeline"
    } else {
      renaming = "choose other names with \(option: .name)"
    }
    let isSamePath = others.allSatisfy { other in own.contains { $0.path == other.path } }
    let (isAmong, isAll) = (Self.has(own, others), Self.has(others, own))
    self.init(
      "\(path) was made of another recording",
      reason: isAmong != isAll
        ? "it was made of \(list(others)), and now it would be of \(list(own))"
        : isAmong
          ? "it was made of the same recordings in another order, or each another number of times: of "
            + "\(list(others, atMost: 8)), and now of \(list(own, atMost: 8))"
          : isSamePath
            ? "it was made of what \(list(others)) held before; what is there now has another sound"
            : "it holds \(list(others)), and \(list(own)) would take its place",
      advice: "choose another folder with \(option: .out), \(renaming), or add "
        + "\(option: .replace)", kind: .occupied)
  }

  /// Whether recordings are all among others.
  private static func has(_ all: [RecordingIdentity], _ some: [RecordingIdentity]) -> Bool {
    some.allSatisfy { one in all.contains { $0.isSameRecording(as: one) } }
  }

  /// An export that would replace one of another recording of the same batch.
  /// - Parameter naming: what gives the export a name of its own in the pipeline; nil if nothing does.
  package init(_ path: String, isAlsoOf other: String, naming: String?) {
    self.init(
      "\(path) is an export of \(other) in this batch",
      reason: "the pipeline gives the exports of both this name",
      advice: "put {stem}, the recording's name, into the name in the pipeline"
        + (naming.map { ", such as \($0)" } ?? ""), kind: .occupied)
  }

  /// An export that would replace one of another pipeline.
  /// - Parameter naming: what gives the export a name of its own in the pipeline; nil if nothing does.
  package init(_ path: String, madeBy other: String, not own: String, naming: String?) {
    self.init(
      "\(path) was made by another pipeline",
      reason: "it is an export of \(other), and one of \(own) would take its place",
      advice: "choose another folder with \(option: .out), "
        + (naming.map { "give it a name of its own in the pipeline, such as \($0), " } ?? "")
        + "or add \(option: .replace)", kind: .occupied)
  }

  /// An export that would replace one that another run's receipt covers.
  package init(_ path: String, coveredBy receipt: String) {
    self.init(
      "\(path) is covered by a signed receipt",
      reason: "this run does not write \(receipt) again, which would then be broken",
      advice: "choose another folder with \(option: .out), or add \(option: .replace)",
      kind: .occupied)
  }
}
