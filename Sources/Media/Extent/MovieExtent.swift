internal import Audio
internal import Platform

/// What the index of an MP4 or QuickTime file declares of the length of one of its tracks: the tables
/// of its packets, besides what is played of them by its edit list.
struct MovieTrack {
  /// The sound in all packets.
  let held: Seconds
  /// Whether an edit list says which part is played.
  let isEdited: Bool
  /// Why what is played cannot be what the packets hold; nil if the lengths fit each other.
  let contradiction: String?
  /// Why an edit list that plays little may not mean that; nil if all is as usual.
  let oddity: String?

  /// The sound in the packets where it is longer than what is declared otherwise, and no edit list says
  /// which part of it is played; else nil.
  func promised(besides declared: Seconds?) -> Seconds? {
    let isLonger = declared.map { held.value - $0.value > StreamLength.tolerance(of: held) } ?? true
    return isLonger && (!isEdited || contradiction != nil) ? held : nil
  }

  /// Whether two lengths are the same but for rounding.
  static func fits(_ length: Int, _ other: Int) -> Bool {
    abs(Double(length) - Double(other)) <= max(2, Double(other) / 100)
  }

  /// Whether a time scale has no prime factor above 7, as all sample rates, frame rates and decimal
  /// fractions; of other numbers below 2^32 fewer than one in a thousand is such.
  static func isUsual(_ scale: Int) -> Bool {
    var rest = scale
    for factor in [2, 3, 5, 7] {
      while rest > 1, rest.isMultiple(of: factor) { rest /= factor }
    }
    return rest == 1
  }
}

/// MP4 and QuickTime: a chain of boxes (ISO/IEC 14496-12), among them the index and the sound.
extension ContainerBytes {
  /// The first box types, including old QuickTime's.
  static let firstBoxes: Set<String> = [
    "ftyp", "styp", "moov", "mdat", "wide", "free", "skip", "pnot",
  ]

  private static let laterBoxes: Set<String> = [
    "moof", "mfra", "udta", "uuid", "meta", "sidx", "ssix", "pdin", "emsg", "prft",
  ]

  var boxExtent: ContainerExtent {
    var offset = 0
    var hasIndex = false
    var hasSound = false
    var isFragmented = false
    while byteCount - offset >= 8 {
      let type = word(at: offset + 4)
      // Trailing bytes do not belong to the container, but between fragments there are none.
      let isKnown = Self.firstBoxes.contains(type) || Self.laterBoxes.contains(type)
      guard isKnown || !hasIndex || !hasSound else {
        guard isFragmented else { break }
        switch rest(from: offset) {
        case .padding: return .whole
        case .zeros(let count): return .unended("\(count) zeros follow its last part")
        case .foreign: return .incomplete("no part begins at byte \(offset), where one should")
        }
      }
      var size = big(at: offset, count: 4)
      if size == 1 { size = big(at: offset + 8, count: 8) }
      if size == 0 { size = byteCount - offset }
      guard size >= 8 else { break }
      guard size <= byteCount - offset else {
        let what =
          "its part \"\(type)\" declares \(size - (byteCount - offset)) bytes that are missing"
        let isSound = ["mdat", "moof", "moov"].contains(type)
        return hasIndex && hasSound && !isSound ? .cutBehindSound(what) : .incomplete(what)
      }
      if type == "ftyp", hasIndex, hasSound, !isFragmented {
        return .unended("another recording begins at byte \(offset), and is not read")
      }
      if type == "moov" { hasIndex = true }
      if type == "mdat" { hasSound = true }
      if type == "moof" { isFragmented = true }
      offset += size
    }
    guard hasIndex else { return .incomplete("its index, which is written last, is missing") }
    return hasSound ? .whole : .incomplete("the part with its sound is missing")
  }

  /// The units of a second in which the edit list counts (ISO/IEC 14496-12, section 8.2.2); nil if
  /// there is no index. O(boxes) small reads.
  var movieTimeScale: Int? {
    box(["moov", "mvhd"], in: streamRange).flatMap { timeScale(of: $0) }
  }

  /// What the index declares of its track of that number; nil if it has none with sample tables, as
  /// in a file of fragments.
  /// - Parameter rate: how many units of the track's time are a second where the index does not say so.
  func movieTrack(_ number: Int, rate: Double?) -> MovieTrack? {
    guard let movie = box(["moov"], in: streamRange) else { return nil }
    let tracks = boxes(in: movie.content).filter { $0.name == "trak" }
    guard tracks.indices.contains(number) else { return nil }
    let track = tracks[number].content
    let media = box(["mdia", "mdhd"], in: track)
    let scale = media.flatMap { timeScale(of: $0) }
    guard let times = box(["mdia", "minf", "stbl", "stts"], in: track),
      let units = sum(ofTimes: times), units > 0, let unit = scale.map({ Double($0) }) ?? rate
    else { return nil }
    let edits = box(["edts", "elst"], in: track)
    let lengths = tracks.compactMap { box(["tkhd"], in: $0.content).map { length(of: $0, at: 20) } }
    let scales = tracks.compactMap {
      box(["mdia", "mdhd"], in: $0.content).flatMap { timeScale(of: $0) }
    }
    let header = box(["mvhd"], in: movie.content)
    let held = Seconds(units / unit)
    return MovieTrack(
      held: held, isEdited: edits != nil,
      contradiction: scale == nil
        ? "its index has no time scale of the sound"
        : edits.flatMap {
          contradiction(
            held, in: header, $0, box(["tkhd"], in: track).map { length(of: $0, at: 20) }, scales)
        },
      oddity: header.flatMap { oddity(of: $0, lengths: lengths, scales: scales) })
  }

  /// Why what is played of a track cannot be what its packets hold; nil if the lengths fit each other.
  private func contradiction(
    _ held: Seconds, in movie: MovieBox?, _ edits: MovieBox, _ length: Int?, _ scales: [Int]
  ) -> String? {
    guard let movie, !isLong(movie) || movie.content.count >= 112, let scale = timeScale(of: movie)
    else { return "its index has no valid header" }
    // An edit without a length goes to the end.
    guard let played = sum(ofEdits: edits), let length, length > 0 else { return nil }
    guard MovieTrack.fits(played, length) else {
      return "its edit list and its track have different lengths"
    }
    guard !MovieTrack.isUsual(scale), !scales.contains(scale) else { return nil }
    let meant = ([600, 1000, 90_000] + scales).first {
      abs(Double(played) / Double($0) - held.value) <= StreamLength.tolerance(of: held)
    }
    return meant.map { "the time scale of its edit list is \(scale), and \($0) fits" }
  }

  /// Why an edit list may have been meant in other units; nil if the header is as usual.
  private func oddity(of movie: MovieBox, lengths: [Int], scales: [Int]) -> String? {
    guard let scale = timeScale(of: movie) else { return nil }
    guard MovieTrack.isUsual(scale) || scales.contains(scale) else {
      return "in the time scale \(scale), which is unusual"
    }
    guard let longest = lengths.max(), longest > 0 else { return nil }
    return MovieTrack.fits(length(of: movie, at: 16), longest)
      ? nil : "and the whole has another length than its tracks"
  }

  /// Whether the times of a header have eight bytes.
  private func isLong(_ header: MovieBox) -> Bool {
    big(at: header.content.lowerBound, count: 1) == 1
  }

  /// The units of a second by a movie's or a medium's header.
  private func timeScale(of header: MovieBox) -> Int? {
    let scale = big(at: header.content.lowerBound + (isLong(header) ? 20 : 12), count: 4)
    return scale > 0 ? scale : nil
  }

  /// The length that a header declares, which lies at `offset` where times have four bytes.
  private func length(of header: MovieBox, at offset: Int) -> Int {
    let isLong = isLong(header)
    return big(
      at: header.content.lowerBound + offset + (isLong ? 8 : 0), count: isLong ? 8 : 4)
  }

  /// The sum of the durations of all packets. O(runs of equal durations).
  private func sum(ofTimes table: MovieBox) -> Double? {
    sum(of: table, entryByteCount: 8) { entry in
      Double(Int(bigEndianBytes: entry.prefix(4)))
        * Double(Int(bigEndianBytes: entry.dropFirst(4).prefix(4)))
    }
  }

  /// The length of all edits; nil if there are none, or if one has none.
  private func sum(ofEdits list: MovieBox) -> Int? {
    let byteCount = isLong(list) ? 8 : 4
    var isOpen = false
    let sum = sum(of: list, entryByteCount: 2 * byteCount + 4) { entry in
      let length = Double(UInt64(bigEndianBytes: entry.prefix(byteCount)))
      isOpen = isOpen || length == 0
      return length
    }
    return isOpen ? nil : sum.flatMap { Int(exactly: $0) }
  }

  /// The sum of a value of each entry of a table; nil for an empty one, and for more entries than a
  /// recording has.
  private func sum(
    of table: MovieBox, entryByteCount: Int, _ value: (ArraySlice<UInt8>) -> Double
  ) -> Double? {
    let first = table.content.lowerBound + 8
    let count = min(
      big(at: first - 4, count: 4), (table.content.upperBound - first) / entryByteCount)
    guard count > 0, count <= 1 << 22 else { return nil }
    var sum = 0.0
    let step = 4096
    for start in stride(from: 0, to: count, by: step) {
      let entries = min(step, count - start)
      let bytes = bytes(at: first + start * entryByteCount, count: entries * entryByteCount)
      for entry in 0..<entries { sum += value(bytes[(entry * entryByteCount)...]) }
    }
    return sum
  }

  /// The box at a path of names.
  private func box(_ path: [String], in range: Range<Int>) -> MovieBox? {
    MovieBox.box(path, in: range) { boxes(in: $0) }
  }

  /// The boxes at the beginning of a range. O(boxes) small reads.
  private func boxes(in range: Range<Int>) -> [MovieBox] {
    var boxes: [MovieBox] = []
    var start = range.lowerBound
    while start < range.upperBound, boxes.count < 4096,
      let box = MovieBox(bytes(at: start, count: 16), at: start, end: range.upperBound)
    {
      boxes.append(box)
      start = box.range.upperBound
    }
    return boxes
  }
}
