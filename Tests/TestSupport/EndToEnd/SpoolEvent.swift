internal import Platform

/// One line of `spool run --json`: the members that tests look at.
package struct SpoolEvent: Decodable, Sendable {
  /// Its name: `started`, `pass`, `finished`, `reused`, `ended`, …
  package let event: String
  /// The step it is about.
  package let step: String?
  /// What a warning or a skipped step says.
  package let message: String?
  /// The steps of a pass.
  package let steps: [String]?
  /// The steps that a pass streams again.
  package let replayed: [String]?
  /// What became of a step.
  package let result: Step?
  /// A file that left the store.
  package let file: File?
  /// The run, where it begins and ends.
  package let run: Run?
  /// Why work began anew, or was dropped.
  package let cause: String?
  /// What was damaged.
  package let part: String?
  /// Seconds of work that are lost.
  package let lostSeconds: Double?

  /// What became of a step.
  package struct Step: Decodable, Sendable {
    /// Its name.
    package let id: String
    /// `made`, `reused`, `skipped`, `failed` or `pending`.
    package let outcome: String
    /// What it gave, by port.
    package let outputs: [String: Output]
  }

  /// What a step gave.
  package struct Output: Decodable, Sendable {
    /// What it is known by.
    package let identity: String
    /// Its file in the store; nil where there is none.
    package let artifact: Artifact?
  }

  /// A file in the store.
  package struct Artifact: Decodable, Sendable {
    /// The SHA-256 of its bytes.
    package let digest: String
  }

  /// A file that left the store.
  package struct File: Decodable, Sendable {
    /// Where it is.
    package let path: String
    /// Its length.
    package let byteCount: Int
    /// Whether it was there already.
    package let wasThere: Bool
  }

  /// A run.
  package struct Run: Decodable, Sendable {
    /// Its name.
    package let id: String
    /// `running`, `done`, `failed`, `refused`, `interrupted` or `cut-off`.
    package let state: String
    /// What became of every step.
    package let steps: [Step]
    /// The files that left the store.
    package let published: [File]
    /// Why it failed.
    package let failure: String?
    /// The earlier run that it goes on with.
    package let resumes: String?
    /// When it began.
    package let startedAt: StatedTime
    /// When it ended.
    package let finishedAt: StatedTime?
    /// Seconds that it was at work.
    package let activeSeconds: Double?
  }
}

/// A time of `--json`.
package struct StatedTime: Decodable, Sendable {
  /// Since 1970.
  package let seconds: Double

  package init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard let time = DateTime(iso8601: try container.decode(String.self)) else {
      throw DecodingError.dataCorruptedError(
        in: container, debugDescription: "a time in ISO 8601 is expected")
    }
    seconds = time.seconds
  }
}
