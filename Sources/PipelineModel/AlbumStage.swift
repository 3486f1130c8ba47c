/// A stage that can treat the recordings of a batch as an album: what it does to each of them
/// follows from all.
///
/// Before a batch works on its first file, it has every recording surveyed as it arrives at the
/// stage, in as many rounds as the stage asks for. What the stage settles on is then added to the
/// parameters of every recording's own stage, and is part of its key.
public protocol AlbumStage: Stage {
  /// What surveys a recording in the stage's place: a sink that takes its first input and gives a
  /// measurement.
  static var albumSurvey: StageRegistration { get }
  /// Whether it treats the recordings of a batch as one.
  var isAlbum: Bool { get }
  /// What comes next; asked first without any round. It must settle at some time.
  func albumMove(after rounds: [AlbumRound]) throws(StageError) -> AlbumMove
}

/// One round of a survey.
public struct AlbumRound: Hashable, Sendable {
  /// The parameters that the recordings were surveyed with.
  public let asked: [String: Double]
  /// What was found of each recording, in the order of their paths, as JSON. A recording that
  /// could not be surveyed is not among them.
  public let findings: [String]

  /// Describes a round.
  public init(asked: [String: Double], findings: [String]) {
    self.asked = asked
    self.findings = findings
  }
}

/// What an album stage wants next.
public enum AlbumMove: Hashable, Sendable {
  /// Every recording surveyed with these parameters, in base units.
  case survey([String: Double])
  /// These parameters for every recording, in base units; none where each stands for itself.
  case settle([String: Double])
}

/// What was settled for the album steps of a plan: parameters in base units, by step.
public typealias AlbumFigures = [StepID: [String: Double]]
