import Platform

/// Works on numbered pieces on several threads, each with a tool of its own, and hands over the
/// results on the caller's thread, in the order in which they arrive, until every piece is done, a
/// piece fails, or `record` throws.
///
/// After a failure or a stop no thread begins another piece. A piece that is under way cannot be
/// interrupted, so its result is handed over before the error is thrown.
///
/// The closures of the threads return results: generic closures that throw typed errors crash the
/// compiler of Swift 6.3.
///
/// - Parameters:
///   - pieces: those that are to be worked on, most urgent first.
///   - take: takes the result of a piece.
///   - record: records the progress, after every piece and at least twice a second between them;
///     ends the work by throwing, and is then called until the pieces under way are done.
func workOnPieces<Tool, Output: Sendable>(
  _ pieces: [Int], threadCount: Int,
  makeTool: @escaping @Sendable () -> Result<Tool, SpoolError>,
  work: @escaping @Sendable (Tool, Int) -> Result<Output, SpoolError>,
  take: (Int, Output) -> Void,
  record: () throws(SpoolError) -> Void
) throws(SpoolError) {
  guard !pieces.isEmpty else { return }
  let orders = BoundedQueue<Int>(capacity: pieces.count)
  for piece in pieces { _ = orders.send(piece) }
  orders.close()
  // Nil is the end of a thread.
  let results = Mailbox<Result<(Int, Output), SpoolError>?>()
  let threads = (0..<min(threadCount, pieces.count)).map { _ in
    BackgroundThread(name: "speech") {
      switch makeTool() {
      case .failure(let error):
        results.send(.failure(error))
      case .success(let tool):
        while let piece = orders.receive() {
          results.send(work(tool, piece).map { (piece, $0) })
        }
      }
      results.send(nil)
    }
  }
  var workingCount = threads.count
  var failure: SpoolError?
  func recordOrStop(_ result: Result<(Int, Output), SpoolError>?) {
    do throws(SpoolError) {
      if let (piece, output) = try result?.get() { take(piece, output) }
      try record()
    } catch {
      failure = failure ?? error
      orders.cancel()
    }
  }
  while workingCount > 0 {
    let news = results.receive(atMost: .milliseconds(400))
    if news.isEmpty { recordOrStop(nil) }
    for result in news {
      guard let result else {
        workingCount -= 1
        continue
      }
      recordOrStop(result)
    }
  }
  for thread in threads { thread.join() }
  if let failure { throw failure }
}

extension [Range<Int>] {
  /// Adds a range behind the others, or lengthens the last one by it.
  package mutating func add(_ range: Range<Int>, joinedTo isJoined: (Range<Int>) -> Bool) {
    if let last, isJoined(last) {
      self[count - 1] = last.lowerBound..<Swift.max(last.upperBound, range.upperBound)
    } else {
      append(range)
    }
  }
}
