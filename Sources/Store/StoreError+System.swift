internal import PipelineModel

extension StoreError {
  /// Says what a failed system call kept the store from doing.
  init(_ action: String, path: String, _ error: SystemError, advice: String? = nil) {
    self.init(
      action, path: path, reason: error.words, advice: advice ?? error.advice,
      isFullDisk: error.isFullDisk)
  }
}

/// Runs system calls that belong to one action of the store, and says which if one fails.
func doing<Result: ~Copyable>(
  _ action: String, _ path: String, advice: String? = nil,
  _ calls: () throws(SystemError) -> Result
) throws(StoreError) -> Result {
  do {
    return try calls()
  } catch {
    throw StoreError(action, path: path, error, advice: advice)
  }
}
