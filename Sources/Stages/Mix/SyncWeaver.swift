import Audio
import PipelineEngine
import PipelineModel
import Platform
import SoundEngine

/// Gives recordings side by side, each read by the reference's clock.
final class SyncWeaver {
  let warnings: [String]
  private(set) var report: SyncReport
  private let layout: SyncLayout
  private let tracks: [Track]
  private let end: Int
  private let pool: WorkerPool
  private var given = 0

  /// One recording.
  // Unchecked: as `PatternScan`.
  private final class Track: @unchecked Sendable {
    private let source: any SoundSource
    private let warp: ClockWarp
    var block: AudioBuffer
    var warnings: [String] { source.warnings }

    init(_ source: any SoundSource, _ map: ClockMap?, start: Frames) {
      self.source = source
      warp = ClockWarp(
        map, format: source.outline.format, start: start, blockLength: SoundStream.blockLength)
      block = AudioBuffer(
        channelCount: source.outline.format.channelCount, capacity: SoundStream.blockLength)
    }

    func read(_ count: Frames) throws(SpoolError) {
      try warp.read(count, into: &block) { (block) throws(SpoolError) in
        try source.read(into: &block)
      }
    }
  }

  /// - Parameters:
  ///   - maps: of all recordings but the reference, by their places.
  ///   - lengths: of the recordings, at the rate that they were heard at.
  init(
    _ layout: SyncLayout, _ maps: [Int: ClockMap], _ lengths: [Frames], _ pool: WorkerPool
  ) throws(SpoolError) {
    self.layout = layout
    self.pool = pool
    let durations = lengths.map { $0.duration(at: BandPatternMeter.format.sampleRate).value }
    // When each begins and ends on the reference's clock.
    let spans = layout.parts.indices.map { index in
      (
        begin: maps[index]?.reference(at: 0) ?? 0,
        end: maps[index]?.reference(at: durations[index]) ?? durations[index]
      )
    }
    let rate = layout.format.sampleRate
    var (begin, end): (Double, Double)
    switch layout.extent {
    case .all:
      begin = spans.map(\.begin).min() ?? 0
      end = spans.map(\.end).max() ?? 0
    case .reference: (begin, end) = (0, durations[layout.reference])
    case .shared:
      begin = spans.map(\.begin).max() ?? 0
      end = spans.map(\.end).min() ?? 0
    }
    let start = Frames(Int((begin * rate.value).rounded(.down)))
    guard end > begin else {
      throw SpoolError(
        "there is no moment that all recordings share", advice: "extent: all, or extent: reference")
    }
    self.end = Int((end * rate.value).rounded(.up)) - start.count
    var tracks: [Track] = []
    for index in layout.parts.indices {
      tracks.append(
        Track(
          try layout.parts[index].open(as: layout.format(of: index)), maps[index], start: start))
    }
    self.tracks = tracks
    let origin = start.duration(at: rate).value
    var channel = 1
    report = SyncReport(
      sampleRate: rate, channels: layout.format.channelCount,
      duration: Frames(self.end).duration(at: rate), reference: layout.reference + 1,
      recordings: layout.parts.indices.map { index in
        let map = maps[index]
        defer { channel += layout.channelCounts[index] }
        let measured = map.map { $0.knots.dropFirst().dropLast() } ?? []
        return SyncReport.Recording(
          title: layout.parts[index].title,
          channels: Array(channel..<channel + layout.channelCounts[index]),
          offset: Seconds((spans[index].begin - origin).rounded(places: 6)),
          duration: Seconds(durations[index]),
          drift: (map?.drift ?? 0).rounded(places: 3),
          confidence: (map?.confidence ?? 1).rounded(places: 3),
          residual: Seconds((map?.residual ?? 0).rounded(places: 6)),
          measured: map?.measured ?? 0, agreeing: map?.agreeing ?? 0,
          clock: measured.map {
            [$0.recording.rounded(places: 6), ($0.reference - origin).rounded(places: 6)]
          },
          jumps: map?.jumps.map { [$0.time.rounded(places: 1), $0.distance.rounded(places: 6)] },
          compared: measured.first.flatMap { first in
            measured.last.map {
              [first.recording.rounded(places: 1), $0.recording.rounded(places: 1)]
            }
          })
      })
    warnings =
      report.recordings.filter { $0.confidence < 0.8 }.map {
        "\($0.title) was placed with a confidence of \($0.confidence) only: listen to it before you "
          + "rely on it"
      }
      + layout.parts.indices.flatMap {
        Self.warnings(of: layout.parts[$0].title, maps[$0], durations[$0])
      }
  }

  /// What does not run as clocks do.
  private static func warnings(
    of title: String, _ map: ClockMap?, _ duration: Double
  ) -> [String] {
    guard let map else { return [] }
    func words(_ jump: ClockMap.Jump) -> String {
      let distance = abs(jump.distance)
      let length =
        distance < 0.9995
        ? "\(Figure.text(distance * 1000, places: 0)) ms" : "\(Figure.text(distance, places: 3)) s"
      let isLost = jump.distance > 0
      return "\(title) jumps near \(Figure.text(jump.time, places: 1)) s of it, by \(length): "
        + (isLost ? "sound is missing in it there" : "sound was put in there")
        + (jump.isCut
          ? (isLost ? ", and silence stands in its place" : ", and is left out")
          : "; the seconds around it are stretched, so listen to them, or cut it there and sync both parts")
    }
    let jumps = map.jumps.prefix(reportedCount).map(words)
    let more = map.jumps.count - jumps.count
    let rest = more > 0 ? ["\(title) jumps at \(more) more places"] : []
    return jumps + rest + [unlike(title, map, duration)].compactMap(\.self)
  }

  /// A warning where much of a recording is not alike, as behind a jump that is too long to be found, or
  /// where another person speaks.
  private static func unlike(_ title: String, _ map: ClockMap, _ duration: Double) -> String? {
    let unlikeTime = (map.unlikeUntil ?? 0) + (map.unlikeFrom.map { duration - $0 } ?? 0)
    guard map.unlikeShare >= leastUnlikeShare || unlikeTime >= leastUnlikeTime else { return nil }
    func words(_ time: Double) -> String { Figure.text(time, places: 1) + " s of it" }
    let range = [
      map.unlikeUntil.map { "behind \(words($0))" }, map.unlikeFrom.map { "before \(words($0))" },
    ].compactMap(\.self).joined(separator: " and ")
    return
      "\(title) is alike only \(range): if sound is missing in it there, the rest is placed wrongly, "
      + "so listen to it"
  }

  /// A share of the measurements, or seconds.
  private static let (leastUnlikeShare, leastUnlikeTime) = (0.25, 20.0)

  /// How many jumps get a warning of their own.
  private static let reportedCount = 5

  func read(into buffer: inout AudioBuffer) throws(SpoolError) -> Bool {
    let count = Frames(min(end - given, SoundStream.blockLength.count, buffer.capacity.count))
    guard count.count > 0 else { return false }
    try pool.forEach(tracks) { (track) throws(SpoolError) in try track.read(count) }
    buffer.frameCount = count
    var channel = 0
    for track in tracks {
      for own in 0..<track.block.channelCount {
        unsafe buffer.baseAddress(ofChannel: channel).update(
          from: track.block.baseAddress(ofChannel: own), count: count.count)
        channel += 1
      }
    }
    given += count.count
    return true
  }
}

extension Double {
  /// To so many decimals.
  fileprivate func rounded(places: Int) -> Double {
    var scale = 1.0
    for _ in 0..<places { scale *= 10 }
    return (self * scale).rounded() / scale
  }
}
