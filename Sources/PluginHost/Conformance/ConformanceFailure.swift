import PipelineModel

/// Why a check did not pass.
enum ConformanceFailure: Error {
  /// The plugin does not do what it should.
  case wrong(String)
  /// The plugin failed as a stage would.
  case stage(StageError)
  /// There is nothing to check.
  case notApplicable(String)

  /// For people.
  var words: String {
    switch self {
    case .wrong(let words), .notApplicable(let words): words
    case .stage(let error):
      [error.message, error.reason].compactMap { $0 }.joined(separator: ": ")
    }
  }

  /// Whether the plugin kept Spool waiting: trying on would take as long each time.
  var isHang: Bool {
    if case .stage(let error) = self { error.reason?.contains(" within ") == true } else { false }
  }

  /// Whether the plugin itself said that it cannot, in a message of type `error`.
  var isOwnWords: Bool {
    if case .stage(let error) = self { !error.message.hasPrefix("the plugin ") } else { false }
  }
}
