/// The part of an encoding that outlives the process. Other threads may use it while the encoding
/// goes on.
protocol EncodingSurvival: Sendable {
  /// How far the encoding is by what the system has taken over.
  var extent: EncodingExtent { get }
  /// Makes durable what `extent` counted before the call. After a failure it only fails: the
  /// system has forgotten by then what it could not write.
  func flush() throws(MediaError)
  /// Deletes the files that only serve to go on.
  func discard()
}

/// An encoding that starts over in the next process.
struct NothingSurvives: EncodingSurvival {
  let extent = EncodingExtent()
  func flush() throws(MediaError) {}
  func discard() {}
}
