import Transcripts

/// The times of a transcript that contradict what every reader promises.
func falseTimes(in transcript: Transcript) -> [String] {
  var times: [(Double?, Double?)] = transcript.segments.map { ($0.start, $0.end) }
  times += transcript.words.map { ($0.start, $0.end) }
  return times.compactMap { start, end in
    let known = [start, end].compactMap(\.self)
    let isSound = known.allSatisfy { $0.isFinite && $0 >= 0 } && (start ?? 0) <= (end ?? .infinity)
    return isSound ? nil : "\(String(describing: start)) to \(String(describing: end))"
  }
}
