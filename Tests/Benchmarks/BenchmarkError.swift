/// Why a benchmark could not be measured.
struct BenchmarkError: Error {
  /// What failed.
  let message: String
  /// Why, or what to do about it.
  let reason: String

  init(_ message: String, _ reason: String) {
    self.message = message
    self.reason = reason
  }
}
