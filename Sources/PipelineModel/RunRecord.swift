public import Hashing

/// What happened in one run, as it is kept in the store and shown by `spool show`.
public struct RunRecord: Hashable, Sendable, Codable {
  /// How a run stands.
  public enum State: String, Hashable, Sendable, Codable {
    /// Under way.
    case running
    /// Cut off without a word: killed, or the power went.
    case cutOff = "cut-off"
    /// Everything was done.
    case done
    /// A step failed.
    case failed
    /// Not begun: a recording could not be read, names of exports or the receipt would not do, or there
    /// was not enough room. Nothing was worked on.
    case refused
    /// Stopped by a signal, at a clean point.
    case interrupted
    /// Stopped at a durable point because a disk was full; with room on it, it goes on.
    case paused
    /// Given up by the user: it is not gone on with.
    case dropped
  }

  /// The run's name.
  public let id: RunID
  /// The pipeline's name.
  public let pipeline: String
  /// The pipeline's file.
  public let pipelinePath: String
  /// The files given, by input name.
  public let inputs: [String: String]
  /// What `--set` overrode, as typed.
  public let overrides: [String: String]
  /// When it began, in seconds since 1970.
  public let startedAt: Double
  /// When it ended.
  public var finishedAt: Double?
  /// How it stands.
  public var state: State
  /// What became of every step, in the pipeline's order.
  public var steps: [StepRecord]
  /// The files that left the store.
  public var published: [PublishedFile]
  /// How long the recording is, in seconds; nil while unknown.
  public var mediaSeconds: Double?
  /// The error that ended it.
  public var failure: String?
  /// What else it was told; nil in records from before this was kept.
  public var request: RunRequest?
  /// The SHA-256 of each file given, by input name; nil until they were read.
  public var recordings: [String: Digest]?
  /// The earlier run that this one goes on with; nil where it began on its own.
  public var resumes: RunID?
  /// The batch that it does one file of; nil where it was run by itself.
  public var batch: BatchMembership?
  /// Seconds that it was at work, without those in which its process was stopped; nil until it
  /// ended.
  public var activeSeconds: Double?
  /// The plugins behind its stages, as they were when it began; nil where there are none, and in
  /// records from before this was kept.
  public var plugins: [PluginUse]?
  /// The program and the machine that it was done by; nil in records from before this was kept.
  public var workplace: Workplace?

  /// Starts a record.
  public init(
    id: RunID, pipeline: String, pipelinePath: String, inputs: [String: String],
    overrides: [String: String], startedAt: Double, request: RunRequest? = nil,
    resumes: RunID? = nil, batch: BatchMembership? = nil, plugins: [PluginUse]? = nil
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

/// What became of one step in a run.
public struct StepRecord: Hashable, Sendable, Codable {
  /// How a step ended.
  public enum Outcome: String, Hashable, Sendable, Codable {
    /// It was done in this run.
    case made
    /// Its checkpoint was there already.
    case reused
    /// Its condition did not hold.
    case skipped
    /// It failed.
    case failed
    /// The run ended before it.
    case pending
  }

  /// The step.
  public let id: StepID
  /// Its stage kind.
  public let kind: String
  /// How it ended.
  public var outcome: Outcome
  /// Its checkpoint; nil where there is none.
  public var key: Checkpoint.Key?
  /// What it gave, by port.
  public var outputs: [PortName: StepOutput]
  /// Its findings, as JSON; nil where it has none.
  public var findings: String?
  /// Where it went on that an earlier run had left unfinished, in seconds of the recording; nil
  /// where it began at its beginning.
  public var resumedAtSeconds: Double?
  /// Why work that an earlier run had left of it was not, or not all, of use; nil where it was, or
  /// where there was none.
  public var setback: Setback?
  /// When this run began to work on it, in seconds since 1970; nil where it did not, and in records
  /// from before this was kept.
  public var begunAt: Double?
  /// When this run had done it, in seconds since 1970; nil where it did not, and in records from
  /// before this was kept.
  public var finishedAt: Double?

  /// Makes a record.
  public init(
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

/// A file that left the store for a user's folder.
public struct PublishedFile: Hashable, Sendable, Codable {
  /// Where it is, as an absolute path.
  public let path: String
  /// Its length in bytes.
  public let byteCount: Int
  /// The step that gave it.
  public let step: StepID
  /// Whether it was already there, whole and unchanged.
  public let wasThere: Bool
  /// The SHA-256 of its bytes, where it is the artifact's own; nil where it became another file on
  /// its way, as one that was tagged did.
  public let digest: Digest?
  /// The port of its step that it came out of; nil where it came out of none, or that is not known.
  public var port: PortName?
  /// Its hash as a leaf of the ledger of receipts; nil for what is no receipt.
  public var leaf: Digest?

  /// Describes a file.
  public init(
    path: String, byteCount: Int, step: StepID, wasThere: Bool, digest: Digest? = nil
  ) {
    self.digest = digest
    self.path = path
    self.byteCount = byteCount
    self.step = step
    self.wasThere = wasThere
  }
}

/// Where runs are remembered. Every method may be called from any thread and is durable on return.
public protocol RunLog: Sendable {
  /// Writes a run, new or changed, whole.
  func save(_ run: RunRecord) throws(StoreError)
  /// The newest runs, newest first.
  func runs(limit: Int) throws(StoreError) -> [RunRecord]
  /// The run whose name begins with `prefix`; throws when several do, nil when none does.
  func run(named prefix: String) throws(StoreError) -> RunRecord?
}
