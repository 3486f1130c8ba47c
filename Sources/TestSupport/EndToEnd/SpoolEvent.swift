/// One line of `spool run --json`: the members that tests look at.
public struct SpoolEvent: Decodable, Sendable {
  /// Its name: `started`, `pass`, `finished`, `reused`, `ended`, …
  public let event: String
  /// The step it is about.
  public let step: String?
  /// What a warning or a skipped step says.
  public let message: String?
  /// The steps of a pass.
  public let steps: [String]?
  /// The steps that a pass streams again.
  public let replayed: [String]?
  /// What became of a step.
  public let result: Step?
  /// A file that left the store.
  public let file: File?
  /// The run, where it begins and ends.
  public let run: Run?
  /// Why work began anew, or was dropped.
  public let cause: String?
  /// What was damaged.
  public let part: String?
  /// Seconds of work that are lost.
  public let lostSeconds: Double?

  /// What became of a step.
  public struct Step: Decodable, Sendable {
    /// Its name.
    public let id: String
    /// `made`, `reused`, `skipped`, `failed` or `pending`.
    public let outcome: String
    /// What it gave, by port.
    public let outputs: [String: Output]
    /// What it found, as JSON.
    public let findings: String?
  }

  /// What a step gave.
  public struct Output: Decodable, Sendable {
    /// What it is known by.
    public let identity: String
    /// Its file in the store; nil where there is none.
    public let artifact: Artifact?
  }

  /// A file in the store.
  public struct Artifact: Decodable, Sendable {
    /// The SHA-256 of its bytes.
    public let digest: String
  }

  /// A file that left the store.
  public struct File: Decodable, Sendable {
    /// Where it is.
    public let path: String
    /// Its length.
    public let byteCount: Int
    /// Whether it was there already.
    public let wasThere: Bool
  }

  /// A run.
  public struct Run: Decodable, Sendable {
    /// Its name.
    public let id: String
    /// `running`, `done`, `failed`, `refused`, `interrupted` or `cut-off`.
    public let state: String
    /// What became of every step.
    public let steps: [Step]
    /// The files that left the store.
    public let published: [File]
    /// Why it failed.
    public let failure: String?
    /// The earlier run that it goes on with.
    public let resumes: String?
    /// When it began, in seconds since 1970.
    public let startedAt: Double
    /// When it ended.
    public let finishedAt: Double?
    /// Seconds that it was at work.
    public let activeSeconds: Double?
  }
}
