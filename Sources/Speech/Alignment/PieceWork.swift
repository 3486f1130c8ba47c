import Platform

/// Works on numbered pieces on several threads, each with a tool of its own, and hands over what
/// is done on the caller's thread, in the order in which it gets done, until every piece is done, a
/// piece fails, or `done` throws.
///
/// The closures return results: generic closures that throw typed errors crash the compiler of
/// Swift 6.3.
///
/// - Parameter pieces: those that are to be worked on, most urgent first.
func workOnPieces<Tool, Output: Sendable>(
  _ pieces: [Int], threadCount: Int,
  makeTool: @escaping @Sendable () -> Result<Tool, SpoolError>,
  work: @escaping @Sendable (Tool, Int) -> Result<Output, SpoolError>,
  done: (Int, Output) throws(SpoolError) -> Void
) throws(SpoolError) {
  guard !pieces.isEmpty else { return }
  let orders = BoundedQueue<Int>(capacity: pieces.count)
  for piece in pieces { _ = orders.send(piece) }
  orders.close()
  let results = BoundedQueue<Result<(Int, Output), SpoolError>>(capacity: pieces.count)
  let threads = (0..<min(threadCount, pieces.count)).map { _ in
    BackgroundThread(name: "speech") {
      switch makeTool() {
      case .failure(let error):
        _ = results.send(.failure(error))
      case .success(let tool):
        while let piece = orders.receive() {
          _ = results.send(work(tool, piece).map { (piece, $0) })
        }
      }
    }
  }
  defer {
    orders.cancel()
    for thread in threads { thread.join() }
  }
  for _ in pieces {
    guard let result = results.receive() else { return }
    let (piece, value) = try result.get()
    try done(piece, value)
  }
}

extension [Range<Int>] {
  /// Adds a range behind the others, or lengthens the last one by it.
  mutating func add(_ range: Range<Int>, joinedTo isJoined: (Range<Int>) -> Bool) {
    if let last, isJoined(last) {
      self[count - 1] = last.lowerBound..<Swift.max(last.upperBound, range.upperBound)
    } else {
      append(range)
    }
  }
}
