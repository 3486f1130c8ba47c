package import Platform

/// A stage that can treat the recordings of a batch as an album: its work on each of them depends
/// on all.
///
/// Before a batch processes its first file, it surveys every recording at the stage's input, in as
/// many rounds as the stage asks for. The result becomes part of the parameters, and so of the key,
/// of every recording's own stage.
package protocol AlbumStage: Stage {
  /// The stage that surveys a recording: a sink that takes its first input and gives a measurement.
  static var albumSurvey: StageRegistration { get }
  /// Whether it treats the recordings of a batch as one album.
  var isAlbum: Bool { get }
  /// The next move; called first without any round. It must settle eventually.
  func albumMove(after rounds: [AlbumRound]) throws(SpoolError) -> AlbumMove
}

package struct AlbumRound: Hashable, Sendable {
  /// The parameters of the survey.
  package let asked: [String: Double]
  /// The findings of each recording, by path, as JSON. Unreadable recordings are missing.
  package let findings: [String]

  package init(asked: [String: Double], findings: [String]) {
    self.asked = asked
    self.findings = findings
  }
}

package enum AlbumMove: Hashable, Sendable {
  /// Survey every recording with these parameters, in base units.
  case survey([String: Double])
  /// Use these parameters for every recording, in base units; none if each is independent.
  case settle([String: Double])
}

/// The results for a plan's album steps: parameters in base units, by step.
package typealias AlbumFigures = [StepID: [String: Double]]
