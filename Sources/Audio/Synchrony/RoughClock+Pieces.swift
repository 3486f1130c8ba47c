extension RoughClock {
  /// Finds the pieces of a recording that lie on lines of their own beside the reference, as behind a buffer
  /// that one of the two recorders has lost, or a pause.
  ///
  /// The recording is compared with the reference on every known line, six seconds at a time. Where a run of
  /// these is less alike than the rest, or more alike beside the line, the reference is searched for it, which
  /// may give a further line. The likeliest path over all lines (Viterbi 1967) has a price for each change.
  struct PieceFinder {
    /// In order, in seconds; one that begins at 0 where there is nothing else.
    private(set) var pieces: [Piece]

    /// Frames that are compared at once, and from one comparison to the next.
    private static let (window, step) = (600, 200)
    /// Frames beside a line in which likeness is looked for, and those between two looks.
    private static let (nearby, nearbyStep) = (60, 3)
    /// By how many times sound beside the line has to be more alike than on it.
    private static let clearness = 1.15
    /// Windows in a row that a search is worth.
    private static let leastRun = 2
    /// Searches at most, and frames of one.
    private static let (mostSearches, mostSearched) = (32, 2048)
    /// How many places a search compares, and the share of the best one's likeness from which on another is as
    /// likely.
    private static let (mostPlaces, asLikely): (Int, Float) = (64, 0.95)
    /// The likeness that a line needs to count, as a share of the usual one, and the least.
    private static let (leastShare, leastLikeness) = (0.6, 0.2)
    /// The price of a change of lines, in usual likenesses of one window.
    private static let price = 0.75
    /// Frames of a piece.
    private static let leastPiece = 500

    private let recording: BandPattern
    private let reference: BandPattern
    private let slope: Double

    /// - Parameters:
    ///   - lag: of the line on which most of the recording lies, in frames.
    ///   - slope: of all lines.
    ///
    /// Complexity: O(*n*) for *n* frames of the recording, and as many searches of the reference as it has
    /// pieces.
    init(_ recording: BandPattern, _ reference: BandPattern, _ lag: Double, _ slope: Double) {
      (self.recording, self.reference, self.slope) = (recording, reference, slope)
      pieces = [Self.piece(0, nil, lag)]
      let last = recording.frames.count - Self.window
      guard last >= Self.leastRun * Self.step, reference.frames.count > Self.window else { return }
      let starts = Array(stride(from: 0, to: last, by: Self.step)) + [last]
      var lines = [Line(lag, starts.map { likeness($0, lag) })]
      guard let usual = Self.usual(lines[0].likenesses.compactMap(\.self)) else { return }
      let beside = starts.map { likeness(beside: lag, $0) }
      var isSearched = starts.map { _ in false }
      for _ in 0..<Self.mostSearches {
        guard let run = Self.run(lines, beside, isSearched, usual) else { break }
        let frames = Self.middle(
          of: starts[run.lowerBound]..<starts[run.upperBound - 1] + Self.window)
        // The rest of the run may lie elsewhere again.
        for index in run where frames.contains(starts[index]) {
          isSearched[index] = starts[index] + Self.window <= frames.upperBound
        }
        guard let found = search(frames, besides: lines.map(\.lag)),
          !lines.contains(where: { abs($0.lag - found) <= Double(RoughClock.tolerance) })
        else { continue }
        lines.append(Line(found, starts.map { likeness($0, found) }))
      }
      while lines.count > 1 {
        let path = Self.path(lines, usual)
        if let pieces = pieces(path, starts, lines) {
          self.pieces = pieces
          return
        }
        // The one that explains least is none.
        let counts = lines.indices.map { line in path.count { $0 == line } }
        let weakest = lines.indices.dropFirst().min { counts[$0] < counts[$1] }
        if let weakest { lines.remove(at: weakest) }
      }
    }

    /// A line, and how alike each window is on it; nil outside of the reference.
    private struct Line {
      let lag: Double
      let likenesses: [Double?]

      init(_ lag: Double, _ likenesses: [Double?]) {
        (self.lag, self.likenesses) = (lag, likenesses)
      }
    }

    private static func piece(_ begin: Int, _ end: Int?, _ lag: Double) -> Piece {
      Piece(
        begin: Double(begin) / BandPattern.frameRate,
        end: end.map { Double($0) / BandPattern.frameRate } ?? .infinity,
        lag: lag / BandPattern.frameRate)
    }

    /// The upper quartile: what is usual where the two are alike; nil if nothing is alike.
    private static func usual(_ values: [Double]) -> Double? {
      let sorted = values.sorted()
      guard let value = sorted.isEmpty ? nil : sorted[sorted.count * 3 / 4] else { return nil }
      return value >= leastLikeness ? value : nil
    }

    /// What is added on a line to a frame of the recording.
    private func shift(_ lag: Double, at frame: Int) -> Int {
      Int((lag + slope * Double(frame)).rounded())
    }

    /// How alike a window is within the tolerance of a line; nil outside of the reference.
    private func likeness(_ start: Int, _ lag: Double) -> Double? {
      let middle = shift(lag, at: start + Self.window / 2)
      return RoughClock.greatest(near: middle) { likeness(start, shift: $0) }
    }

    private func likeness(_ start: Int, shift: Int) -> Double? {
      RoughClock.likeness(
        recording.frames, start, reference.frames, shift, count: Self.window, margin: 0)
    }

    /// The greatest likeness of a window near a line, and not on it.
    private func likeness(beside lag: Double, _ start: Int) -> Double {
      let middle = shift(lag, at: start + Self.window / 2)
      return stride(from: -Self.nearby, through: Self.nearby, by: Self.nearbyStep)
        .filter { abs($0) > RoughClock.tolerance }
        .compactMap { likeness(start, shift: middle + $0) }.max() ?? 0
    }

    /// The longest run of windows that no line explains, and that were not searched for.
    /// - Parameter beside: how alike each window is near the first line.
    private static func run(
      _ lines: [Line], _ beside: [Double], _ isSearched: [Bool], _ usual: Double
    ) -> Range<Int>? {
      let least = max(leastLikeness, leastShare * usual)
      func isOpen(_ index: Int) -> Bool {
        // Outside of the reference there is nothing to find.
        guard !isSearched[index], let own = lines.compactMap({ $0.likenesses[index] }).max() else {
          return false
        }
        return own < least || clearness * own < beside[index]
      }
      var (longest, begin) = (0..<0, 0)
      for index in 0...isSearched.count where index == isSearched.count || !isOpen(index) {
        if index - begin > longest.count { longest = begin..<index }
        begin = index + 1
      }
      return longest.count >= leastRun ? longest : nil
    }

    /// As many of some frames, in their middle, as are searched for at once.
    private static func middle(of frames: Range<Int>) -> Range<Int> {
      let length = min(frames.count, mostSearched)
      let start = frames.lowerBound + (frames.count - length) / 2
      return start..<start + length
    }

    /// The line on which some frames of the recording are most alike; nil if they are alike nowhere. Of
    /// several that are as likely, as with a sound that repeats itself, the nearest to one that is known.
    private func search(_ frames: Range<Int>, besides known: [Double]) -> Double? {
      let (start, length) = (frames.lowerBound, min(frames.count, reference.frames.count))
      let correlator = PatternCorrelator(reference, stretch: length, margin: 0)
      let places =
        correlator.places(
          of: [start], in: recording, atMost: Self.mostPlaces
        ).first ?? []
      guard let best = places.first?.score, Double(best) >= Self.leastLikeness else { return nil }
      let shift = Double(start) + slope * Double(start + length / 2)
      let lags = places.filter { $0.score >= Self.asLikely * best }.map {
        Double($0.position) - shift
      }
      func distance(_ lag: Double) -> Double { known.map { abs($0 - lag) }.min() ?? 0 }
      return lags.min { distance($0) < distance($1) }
    }

    /// The line of each window. Outside of the reference, nothing speaks against a line.
    private static func path(_ lines: [Line], _ usual: Double) -> [Int] {
      let price = price * usual
      func likeness(_ line: Int, _ index: Int) -> Double { lines[line].likenesses[index] ?? usual }
      var sums = lines.indices.map { likeness($0, 0) }
      var origins: [[Int]] = []
      for index in lines[0].likenesses.indices.dropFirst() {
        let best = sums.indices.max { sums[$0] < sums[$1] } ?? 0
        origins.append(sums.indices.map { sums[$0] >= sums[best] - price ? $0 : best })
        sums = sums.indices.map { line in
          max(sums[line], sums[best] - price) + likeness(line, index)
        }
      }
      var line = sums.indices.max { sums[$0] < sums[$1] } ?? 0
      var path = [line]
      for from in origins.reversed() {
        line = from[line]
        path.append(line)
      }
      return path.reversed()
    }

    /// The pieces of a path; nil where one of them is too short, or does not lie behind the one before it.
    private func pieces(_ path: [Int], _ starts: [Int], _ lines: [Line]) -> [Piece]? {
      var bounds: [(end: Int, begin: Int)] = []
      var changes = [0]
      for index in path.indices.dropFirst() where path[index] != path[index - 1] {
        changes.append(index)
      }
      changes.append(path.count)
      for (number, index) in changes.enumerated().dropFirst().dropLast() {
        // Each window reaches over the change.
        let earliest = starts[changes[number - 1]]
        let latest = starts[changes[number + 1] - 1] + Self.window
        let around =
          max(earliest, starts[index] - Self.window)..<min(latest, starts[index] + 2 * Self.window)
        bounds.append(
          bound(of: around, from: lines[path[index - 1]].lag, to: lines[path[index]].lag))
      }
      var (found, begin): ([Piece], Int) = ([], 0)
      for (number, index) in changes.dropLast().enumerated() {
        let end = number < bounds.count ? bounds[number].end : nil
        guard (end ?? recording.frames.count) - begin >= Self.leastPiece else { return nil }
        found.append(Self.piece(begin, end, lines[path[index]].lag))
        if number < bounds.count { begin = bounds[number].begin }
      }
      return found
    }

    /// Where one piece ends and the next begins: the moment that has the most likeness on both sides. Where
    /// the recording has lost sound it is one of the recording, and where it has more than the reference, one
    /// of the reference.
    private func bound(
      of frames: Range<Int>, from first: Double, to second: Double
    ) -> (end: Int, begin: Int) {
      let (a, b) = (shift(first, at: frames.lowerBound), shift(second, at: frames.lowerBound))
      func product(_ own: Int, _ other: Int) -> Float {
        guard recording.frames.indices.contains(own), reference.frames.indices.contains(other)
        else { return 0 }
        return (recording.frames[own] * reference.frames[other]).sum()
      }
      let isLost = b > a
      let range =
        isLost
        ? frames : frames.lowerBound + a..<max(frames.lowerBound + a + 1, frames.upperBound + b)
      var (sum, best, place): (Float, Float, Int) = (0, 0, range.lowerBound)
      for frame in range {
        sum +=
          isLost
          ? product(frame, frame + a) - product(frame, frame + b)
          : product(frame - a, frame) - product(frame - b, frame)
        if sum > best { (best, place) = (sum, frame + 1) }
      }
      return isLost ? (place, place) : (place - a, place - b)
    }
  }
}
