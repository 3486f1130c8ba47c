/// Lets subtitles stay until they can have been read, as far as the next one lets them.
struct SubtitleTiming {
  private let layout: SubtitleLayout

  /// Uses the limits of a layout.
  init(_ layout: SubtitleLayout) { self.layout = layout }

  /// Moves the ends of subtitles; their beginnings are those of their words. O(n).
  func adjust(_ subtitles: inout [Segment]) {
    var next: Double?
    for index in subtitles.indices.reversed() {
      guard let start = subtitles[index].start else { continue }
      let spoken = max(subtitles[index].end ?? start, start)
      subtitles[index].end = end(
        of: subtitles[index].text, start: start, spoken: spoken,
        next: next.flatMap { $0 > start ? $0 : nil })
      next = start
    }
  }

  private func end(of text: String, start: Double, spoken: Double, next: Double?) -> Double {
    let columns = WritingRules.width(of: text)
    let reading = Double(columns) / layout.charactersPerSecond
    let wanted = max(spoken, start + max(reading, layout.minimalDuration))
    let longest = min(wanted, start + layout.maximalDuration)
    guard let next else { return longest }
    // Where words follow each other too closely for a gap, half of the time is better than none.
    let latest = max(next - layout.minimalGap, start + (next - start) / 2)
    return min(longest, latest)
  }
}
