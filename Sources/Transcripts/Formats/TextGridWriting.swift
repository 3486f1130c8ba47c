/// The long form of a TextGrid.
enum TextGridWriting {
  /// The file of some tiers, whose intervals are in order and do not overlap. O(n).
  static func text(of tiers: [(name: String, intervals: [TextGridTier.Interval])]) -> String {
    // Praat takes no grid without length, and none without a tier.
    let end = tiers.compactMap { $0.intervals.last?.end }.max() ?? 1
    let tiers = tiers.isEmpty ? [("segments", [])] : tiers
    var text = """
      File type = "ooTextFile"
      Object class = "TextGrid"

      xmin = 0
      xmax = \(number(end))
      tiers? <exists>
      size = \(tiers.count)
      item []:

      """
    for (index, tier) in tiers.enumerated() {
      let intervals = filled(tier.intervals, to: end)
      text += """
            item [\(index + 1)]:
                class = "IntervalTier"
                name = \(quoted(tier.name))
                xmin = 0
                xmax = \(number(end))
                intervals: size = \(intervals.count)

        """
      for (index, interval) in intervals.enumerated() {
        text += """
                  intervals [\(index + 1)]:
                      xmin = \(number(interval.start))
                      xmax = \(number(interval.end))
                      text = \(quoted(interval.text))

          """
      }
    }
    return text
  }

  /// Intervals with what is empty between them: a tier has no holes.
  private static func filled(
    _ intervals: [TextGridTier.Interval], to end: Double
  ) -> [TextGridTier.Interval] {
    var filled: [TextGridTier.Interval] = []
    var last = 0.0
    for interval in intervals {
      if interval.start > last { filled.append(.init(start: last, end: interval.start, text: "")) }
      filled.append(interval)
      last = interval.end
    }
    if last < end { filled.append(.init(start: last, end: end, text: "")) }
    return filled
  }

  private static func quoted(_ text: String) -> String {
    "\"" + text.replacing("\"", with: "\"\"") + "\""
  }

  /// A number without an exponent, which not every reader knows: what is shorter than a hundredth of
  /// a millisecond is nothing that is spoken.
  private static func number(_ time: Double) -> String {
    let text = time.description
    if text.utf8.contains(UInt8(ascii: "e")) { return ClockText.seconds(time, decimals: 6) }
    return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
  }
}
