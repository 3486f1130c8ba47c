import Audio
import PipelineEngine
import PipelineModel
import Platform
import SoundEngine

/// Recordings on one clock as the source of a pass. They are heard twice before anything is given:
/// once to find where they lie, once to measure how their clocks run. Blocks without a frame are
/// given meanwhile, so that the pass can be stopped at any of them. Memory grows by 6 MB for each
/// hour of each recording, for the patterns of their levels.
final class SyncSource: SoundSource {
  private enum Phase {
    case hearing([PatternScan])
    case measuring([LagScan])
    case giving(SyncWeaver)
  }

  let outline: SoundOutline
  private let layout: SyncLayout
  private let pool = WorkerPool(threadCount: CoreCount.online, name: "sync")
  private var phase: Phase?
  private var patterns: [BandPattern] = []
  private var lengths: [Frames] = []
  private var weaver: SyncWeaver?

  /// Makes ready to read; nothing is decoded before the first `read`.
  init(_ layout: SyncLayout) {
    self.layout = layout
    outline = layout.outline
  }

  var warnings: [String] { weaver?.warnings ?? [] }

  func read(into buffer: inout AudioBuffer) throws(SpoolError) -> Bool {
    buffer.frameCount = .zero
    switch try current() {
    case .hearing(let scans):
      let waiting = scans.filter { !$0.isOver }
      if waiting.isEmpty {
        lengths = scans.map(\.length)
        phase = .measuring(try makeLagScans(scans.map { $0.pattern() }))
      } else {
        try pool.forEach(waiting) { (scan) throws(SpoolError) in try scan.advance() }
      }
    case .measuring(let scans):
      let waiting = scans.filter { !$0.isOver }
      if waiting.isEmpty {
        let weaver = try SyncWeaver(layout, try maps(scans), lengths, pool)
        self.weaver = weaver
        phase = .giving(weaver)
      } else {
        try pool.forEach(waiting) { (scan) throws(SpoolError) in try scan.advance() }
      }
    case .giving(let weaver): return try weaver.read(into: &buffer)
    }
    return true
  }

  private func current() throws(SpoolError) -> Phase {
    if let phase { return phase }
    var scans: [PatternScan] = []
    for part in layout.parts {
      scans.append(PatternScan(try part.open(as: BandPatternMeter.format)))
    }
    let begun = Phase.hearing(scans)
    phase = begun
    return begun
  }

  /// The scans of all recordings but the reference, along the lines that their patterns suggest.
  private func makeLagScans(_ patterns: [BandPattern]) throws(SpoolError) -> [LagScan] {
    let reference = patterns[layout.reference]
    let others = layout.parts.indices.filter { $0 != layout.reference }
    let results = OrderedResults<RoughClock?>(pool: pool, limit: others.count)
    for index in others {
      let pattern = patterns[index]
      results.submit { RoughClock(of: pattern, in: reference) }
    }
    var scans: [LagScan] = []
    for index in others {
      guard let found = results.next(), let rough = found else { throw noSharedSound(index, nil) }
      scans.append(
        LagScan(
          of: try layout.parts[index].open(as: BandPatternMeter.format),
          in: try layout.parts[layout.reference].open(as: BandPatternMeter.format),
          along: rough, index: index, duration: duration(of: index)))
    }
    return scans
  }

  /// In seconds, by its own clock.
  private func duration(of index: Int) -> Double {
    lengths[index].duration(at: BandPatternMeter.format.sampleRate).value
  }

  private func maps(_ scans: [LagScan]) throws(SpoolError) -> [Int: ClockMap] {
    var maps: [Int: ClockMap] = [:]
    for scan in scans {
      let rough = scan.rough
      guard
        let map = ClockMap(
          scan.points, slope: rough.slope, rivalShare: rough.rivalShare, pieces: rough.pieces)
      else { throw noSharedSound(scan.index, scan) }
      if rough.rivalShare >= Self.leastRefusedShare, let rival = rough.rivalLag {
        if map.unlikeUntil != nil || map.unlikeFrom != nil { throw partial(scan.index, map) }
        throw repeated(scan.index, at: map.reference(at: 0), or: rival - rough.lag)
      }
      maps[scan.index] = map
    }
    return maps
  }

  /// From this share of its likeness on, another place is as likely: what is left of the difference is
  /// noise.
  private static let leastRefusedShare = 0.95

  private func partial(_ index: Int, _ map: ClockMap) -> SpoolError {
    func words(_ time: Double) -> String { Figure.text(time, places: 1) + " s of it" }
    let range = [
      map.unlikeUntil.map { "from \(words($0)) on" }, map.unlikeFrom.map { "up to \(words($0))" },
    ].compactMap(\.self).joined(separator: " and ")
    let place = map.reference(at: 0)
    return SpoolError(
      "\(layout.parts[index].title) fits \(layout.parts[layout.reference].title) only \(range)",
      reason: "by that part it begins \(Figure.text(abs(place), places: 3)) s "
        + (place < 0 ? "before it" : "into it")
        + "; the rest lies elsewhere, as where a recorder was paused or sound was cut out",
      advice: "cut it there with trim, and give both parts to sync as recordings of their own")
  }

  /// - Parameters:
  ///   - place: when it begins on the reference's clock, in seconds.
  ///   - distance: what is added to that at the other place.
  private func repeated(_ index: Int, at place: Double, or distance: Double) -> SpoolError {
    func words(_ seconds: Double) -> String {
      Figure.text(abs(seconds), places: 3) + (seconds < 0 ? " s before it" : " s into it")
    }
    return SpoolError(
      "\(layout.parts[index].title) has more than one place beside "
        + layout.parts[layout.reference].title,
      reason: "the sound repeats itself: it may begin \(words(place)), and as well "
        + "\(words(place + distance))",
      advice: "take recordings with a sound that comes once, such as a clap, or place it by hand: "
        + "mixdown: { tracks: [{}, { offset: \(Int((place * 1000).rounded())) ms }] }")
  }

  private func noSharedSound(_ index: Int, _ scan: LagScan?) -> SpoolError {
    let reason: String
    if let scan {
      let clear = scan.points.count { $0.quality >= ClockMap.leastQuality }
      reason =
        "of \(scan.points.count) stretches that were compared, "
        + (clear == 0 ? "none is alike" : "\(clear) may be alike, and their times do not agree")
    } else {
      reason = "one of the two is too short or silent"
    }
    return SpoolError(
      "\(layout.parts[index].title) shares no sound with "
        + layout.parts[layout.reference].title,
      reason: reason,
      advice: "take it out, or choose another reference; at least ten seconds must be shared")
  }

  func report() -> String? {
    weaver.flatMap { try? Findings.json($0.report) }
  }
}

/// Hears one recording for its pattern, a stretch at a time.
// Unchecked: it is worked on by one thread at a time; the thread that hands it out waits for the
// piece of work before the next.
private final class PatternScan: @unchecked Sendable {
  /// Blocks of a stretch: a fraction of a second of work.
  private static let stretch = 16

  private(set) var isOver = false
  private(set) var length = Frames.zero
  private let source: any SoundSource
  private let meter = BandPatternMeter()
  private var buffer = AudioBuffer(channelCount: 1, capacity: SoundStream.blockLength)

  init(_ source: any SoundSource) { self.source = source }

  func advance() throws(SpoolError) {
    for _ in 0..<Self.stretch where !isOver {
      if try source.read(into: &buffer) {
        meter.analyse(buffer)
        length += buffer.frameCount
      } else {
        isOver = true
      }
    }
  }

  func pattern() -> BandPattern { meter.pattern() }
}

/// Measures the lags of one recording along a rough line, both read from beginning to end.
// Unchecked: as `PatternScan`.
private final class LagScan: @unchecked Sendable {
  private static let rate = BandPatternMeter.format.sampleRate.value
  private static let pieces = 12
  /// Samples of a measurement: three seconds.
  private static let length =
    LagMeter.pieceLength + (pieces - 1) * LagMeter.pieceDistance
  private static let mostMeasurements = 400.0
  private static let leastDistance = 1.7
  /// Measurements of a piece, if they lie so many seconds apart.
  private static let (mostOfPiece, leastDistanceOfPiece) = (8, 0.5)
  /// Seconds at the bounds of pieces, which are not known exactly.
  private static let guardTime = 0.2
  /// Measurements of one step.
  private static let stretch = 8

  let rough: RoughClock
  let index: Int
  private(set) var isOver = false
  private(set) var points: [ClockMap.Point] = []
  private let recording: WindowReader
  private let reference: WindowReader
  private let meter = LagMeter()
  /// When measurements begin, in seconds by the recording, and in which piece.
  private var starts: [(time: Double, piece: Int)] = []
  private var next = 0

  init(
    of recording: any SoundSource, in reference: any SoundSource, along rough: RoughClock,
    index: Int,
    duration: Double
  ) {
    self.recording = WindowReader(recording)
    self.reference = WindowReader(reference)
    self.rough = rough
    self.index = index
    let distance = max(Self.leastDistance, duration / Self.mostMeasurements)
    let span = Double(Self.length) / Self.rate
    for (number, piece) in rough.pieces.enumerated() {
      let first = piece.begin + (number == 0 ? 0 : Self.guardTime)
      let last = min(duration, piece.end - Self.guardTime) - span
      guard last >= first else { continue }
      var own = distance
      if rough.pieces.count > 1 {
        let least = max(Self.leastDistanceOfPiece, (last - first) / Double(Self.mostOfPiece - 1))
        own = min(distance, least)
      }
      starts += stride(from: first, through: last, by: own).map { ($0, number) }
    }
  }

  func advance() throws(SpoolError) {
    for _ in 0..<Self.stretch where !isOver { try measure() }
  }

  private func measure() throws(SpoolError) {
    guard next < starts.count else {
      isOver = true
      return
    }
    let (time, number) = starts[next]
    next += 1
    let start = Int(time * Self.rate)
    var shift = 0
    for piece in 0..<Self.pieces {
      let own = start + piece * LagMeter.pieceDistance
      let other = Int(
        (rough.reference(at: Double(own) / Self.rate, in: number) * Self.rate).rounded())
      // Where the reference has not begun, nothing is shared; where one has ended, nothing follows.
      guard other >= 0 else {
        _ = meter.finish()
        return
      }
      guard let a = try reference.samples(from: other, count: LagMeter.pieceLength),
        let b = try recording.samples(from: own, count: LagMeter.pieceLength)
      else {
        _ = meter.finish()
        isOver = true
        return
      }
      meter.add(a, b)
      shift += other - own
    }
    guard let found = meter.finish() else { return }
    points.append(
      ClockMap.Point(
        time: (Double(start) + Double(Self.length) / 2) / Self.rate,
        lag: (Double(shift) / Double(Self.pieces) + found.lag) / Self.rate,
        quality: found.quality, piece: number))
  }
}

/// Mono sound, read in windows that move on.
private final class WindowReader {
  /// Samples before a window that the next may begin with.
  private static let kept = 1 << 16

  private let source: any SoundSource
  private var samples: [Float] = []
  /// The number of the first sample.
  private var origin = 0
  private var isOver = false
  private var buffer = AudioBuffer(channelCount: 1, capacity: SoundStream.blockLength)

  init(_ source: any SoundSource) { self.source = source }

  /// The samples from `start`, which never moves back by more than `kept`; nil where the sound ends
  /// before them.
  func samples(from start: Int, count: Int) throws(SpoolError) -> ArraySlice<Float>? {
    while origin + samples.count < start + count {
      guard !isOver else { return nil }
      let passed = min(samples.count, start - Self.kept - origin)
      if passed > 0 {
        samples.removeFirst(passed)
        origin += passed
      }
      guard try source.read(into: &buffer) else {
        isOver = true
        return nil
      }
      let row = buffer.channel(0)
      for index in row.indices { samples.append(row[index]) }
    }
    guard start >= origin else { return nil }
    return samples[start - origin..<start - origin + count]
  }
}
