import Audio
import FoundationEssentials
import Glibc
import Media
import PipelineEngine
import PipelineModel
import Platform
import Receipts
import SoundEngine
import Synchronization

extension WaveformStage {
  /// Gathers peaks into a file while the sound goes by, and draws them when it is over.
  final class Sink: SoundSink {
    private struct State: @unchecked Sendable {
      // The gatherer and the file are touched only while the lock is held, and by the one thread that
      // finishes.
      let gatherer: PeakGatherer
      let peaks: WaveformStage.PeakFile
    }

    private struct Progress: Codable {
      let points: DraftPrefix
      let gatherer: String
    }

    let firstFrame: Frames
    private let state: Mutex<State>
    private let flusher: @Sendable () throws(SpoolError) -> Void
    private let stage: WaveformStage
    private let format: AudioFormat
    private let context: SinkContext

    init(_ stage: WaveformStage, _ format: AudioFormat, _ context: SinkContext) throws(SpoolError) {
      self.stage = stage
      self.format = format
      self.context = context
      let stretch = Frames(stage.framesPerPoint)
      let gatherer = PeakGatherer(format: format, stretch: stretch)
      let status = context.work.resuming.flatMap {
        try? Findings.decode(Progress.self, from: $0.state)
      }
      let bytes = status.flatMap { Data(base64Encoded: $0.gatherer) }.map(Array.init)
      let isUsable =
        bytes.map { (try? gatherer.restore(ProcessorSnapshot(bytes: $0))) != nil } ?? false
      let peaks = try WaveformStage.PeakFile(
        context.work, channelCount: format.channelCount,
        resuming: isUsable ? status?.points : nil)
      // Without the recorded points, the gatherer's own state is useless.
      let isResumed = peaks.isResumed && isUsable
      let state = State(
        gatherer: isResumed ? gatherer : PeakGatherer(format: format, stretch: stretch),
        peaks: peaks)
      firstFrame = state.gatherer.frames
      flusher = peaks.flusher
      self.state = Mutex(state)
    }

    func take(_ block: SharedBuffer) throws(SpoolError) {
      try state.withLock { (state) throws(SpoolError) in
        var peaks: [Peak] = []
        state.gatherer.gather(block.buffer, into: &peaks)
        try state.peaks.append(peaks)
      }
    }

    func progress() -> ListenerProgress? {
      let (snapshot, frames, points) = state.withLock {
        ($0.gatherer.snapshot, $0.gatherer.frames, $0.peaks.prefix())
      }
      let status = Progress(
        points: points, gatherer: Data(snapshot.bytes).base64EncodedString())
      return (try? Findings.json(status)).map { ListenerProgress(needsFrom: frames, state: $0) }
    }

    func flush() throws(SpoolError) { try flusher() }

    func finish() throws(SpoolError) -> PassOutcome.Result {
      try state.withLock { (state) throws(SpoolError) in
        var last: [Peak] = []
        state.gatherer.finish(into: &last)
        try state.peaks.append(last)
        return try files(state.peaks, frames: state.gatherer.frames)
      }
    }

    private func files(
      _ peaks: WaveformStage.PeakFile, frames: Frames
    ) throws(SpoolError) -> PassOutcome.Result {
      var result = PassOutcome.Result()
      for level in stage.levels {
        if stage.formats.contains(.dat) {
          result.artifacts[WaveformStage.Format.dat.port(level)] = try binary(level, of: peaks)
        }
        if stage.formats.contains(.json) {
          result.artifacts[WaveformStage.Format.json.port(level)] = try text(
            level, of: peaks, frames)
        }
      }
      guard stage.formats.contains(.svg) || stage.formats.contains(.png) else { return result }
      let frame = ChartFrame(
        width: stage.size.width, height: stage.size.height, laneCount: format.channelCount,
        duration: frames.duration(at: format.sampleRate))
      let channels = try WaveformPicture.columns(
        of: peaks, framesPerPoint: stage.framesPerPoint, frames: frames,
        channelCount: format.channelCount, atMost: Int(frame.width))
      let drawing = WaveformPicture(channels, in: frame).drawing(stage.size)
      if stage.formats.contains(.svg) {
        result.artifacts[WaveformStage.Format.svg.port] = try context.store.keepSVG(drawing)
      }
      if stage.formats.contains(.png) {
        result.artifacts[WaveformStage.Format.png.port] = try context.store.keepPNG(Raster(drawing))
      }
      return result
    }

    /// One level in the binary form.
    private func binary(
      _ level: WaveformStage.Level, of peaks: WaveformStage.PeakFile
    ) throws(SpoolError) -> Artifact {
      let data = data(level, of: peaks)
      var file = try VisualFile(in: context.store)
      try file.add { $0 += data.binaryHead }
      try peaks.forEachRun(joining: level.factor) { (_, peaks) throws(SpoolError) in
        try file.add { bytes in
          for peak in peaks { data.appendBinary(peak, to: &bytes) }
        }
      }
      return try file.seal()
    }

    /// One level in the text form.
    private func text(
      _ level: WaveformStage.Level, of peaks: WaveformStage.PeakFile, _ frames: Frames
    ) throws(SpoolError) -> Artifact {
      let data = data(level, of: peaks)
      var file = try VisualFile(in: context.store)
      try file.add(data.textHead)
      try peaks.forEachRun(joining: level.factor) { (first, peaks) throws(SpoolError) in
        try file.add { bytes in
          for (index, peak) in peaks.enumerated() {
            if first + index > 0 { bytes.append(UInt8(ascii: ",")) }
            bytes.append(digitsOf: data.scaled(peak.lowest))
            bytes.append(UInt8(ascii: ","))
            bytes.append(digitsOf: data.scaled(peak.highest))
          }
        }
      }
      try file.add(data.textMiddle)
      try peaks.forEachRun(joining: level.factor) { (first, peaks) throws(SpoolError) in
        try file.add { bytes in
          for (index, peak) in peaks.enumerated() {
            let start = (first + index / format.channelCount) * level.framesPerPoint
            let count = min(level.framesPerPoint, frames.count - start)
            if first + index > 0 { bytes.append(UInt8(ascii: ",")) }
            bytes.append(digitsOf: data.scaled(peak.rms(of: count)))
          }
        }
      }
      try file.add(data.textEnd)
      return try file.seal()
    }

    private func data(_ level: WaveformStage.Level, of peaks: WaveformStage.PeakFile)
      -> WaveformData
    {
      WaveformData(
        format: format, framesPerPoint: level.framesPerPoint,
        pointCount: (peaks.pointCount + level.factor - 1) / level.factor, bits: stage.bits)
    }
  }
}

/// A waveform as a picture: for each channel the extent of its samples, and over it their root mean
/// square, between full scale and full scale. Marks in decibels stand where amplitudes are.
struct WaveformPicture {
  /// What a column of a channel shows, as amplitudes.
  struct Column {
    let lowest: Double
    let highest: Double
    let rms: Double
  }

  private let frame: ChartFrame
  private let channels: [[Column]]

  /// Levels that are marked where there is room, in dBFS.
  private static let levels = [0.0, -6, -12, -20]
  /// Pixels between two labels, at least.
  private static let labelDistance = 15.0

  /// A picture of columns that lie in `frame`.
  init(_ channels: [[Column]], in frame: ChartFrame) {
    self.channels = channels
    self.frame = frame
  }

  /// The columns of each channel, from the left to the right; as many in each, at most `limit`. Of
  /// sound with fewer points than that there is one for each point. Reads the peaks once.
  static func columns(
    of peaks: WaveformStage.PeakFile, framesPerPoint: Int, frames: Frames, channelCount: Int,
    atMost limit: Int
  ) throws(SpoolError) -> [[Column]] {
    let points = peaks.pointCount
    let count = min(limit, points)
    var channels = Array(repeating: [Column](), count: channelCount)
    var joined = Array(repeating: Peak.none, count: channelCount)
    var start = 0
    try peaks.forEachRun(joining: 1) { (first, peaks) in
      for point in 0..<peaks.count / channelCount {
        for channel in 0..<channelCount {
          joined[channel] = joined[channel].union(peaks[point * channelCount + channel])
        }
        let index = first + point
        guard (index + 1) * count / points > index * count / points else { continue }
        let end = min((index + 1) * framesPerPoint, frames.count)
        for (channel, peak) in joined.enumerated() {
          channels[channel].append(
            Column(
              lowest: Double(peak.lowest), highest: Double(peak.highest),
              rms: Double(peak.rms(of: end - start))))
          joined[channel] = .none
        }
        start = end
      }
    }
    return channels
  }

  /// Draws everything.
  func drawing(_ size: PictureSize) -> Drawing {
    var drawing = Drawing(
      width: size.width, height: size.height, background: ChartStyle.background)
    frame.addLanes(to: &drawing)
    for lane in frame.lanes { addLevels(of: lane, to: &drawing) }
    frame.addTime(to: &drawing)
    for (lane, channel) in zip(frame.lanes, channels) {
      add(channel, in: lane, to: &drawing)
    }
    frame.addChannelNames(to: &drawing)
    return drawing
  }

  private func addLevels(of lane: ChartFrame.Lane, to drawing: inout Drawing) {
    let middle = lane.top + lane.height / 2
    var lastLabel = -Double.infinity
    for level in Self.levels {
      let reach = pow(10, level / 20) * (lane.height / 2)
      let upper = middle - reach
      // The lower half has the same labels, as far as they keep their distance from the upper.
      guard upper - lastLabel >= Self.labelDistance, 2 * reach >= Self.labelDistance else { break }
      lastLabel = upper
      let label = level == 0 ? "0 dB" : "\u{2212}\(Int(-level))"
      // A label beside the edge of its lane keeps clear of the next lane's.
      let inset = level == 0 ? 5.0 : 0
      frame.addLabel(label, at: upper + inset, to: &drawing)
      if lane.height >= 60 { frame.addLabel(label, at: middle + reach - inset, to: &drawing) }
      guard level < 0 else { continue }
      for y in [upper, middle + reach] {
        drawing.add(
          .rectangle(
            x: frame.left, y: y.rounded(), width: frame.width, height: 1, ChartStyle.grid))
      }
    }
  }

  private func add(
    _ channel: [Column], in lane: ChartFrame.Lane, to drawing: inout Drawing
  ) {
    guard !channel.isEmpty else { return }
    let middle = lane.top + lane.height / 2
    func y(_ amplitude: Double) -> Double {
      middle - min(max(amplitude, -1), 1) * lane.height / 2
    }
    let step = frame.width / Double(channel.count)
    /// An outline through the middles of all columns, and out to both sides. It is as thick as a
    /// hair even where there is silence.
    func outline(
      _ upper: (Column) -> Double, _ lower: (Column) -> Double
    ) -> [Point] {
      var above: [Point] = []
      var below: [Point] = []
      for (index, column) in channel.enumerated() {
        var xs = [frame.left + (Double(index) + 0.5) * step]
        if index == 0 { xs.insert(frame.left, at: 0) }
        if index == channel.count - 1 { xs.append(frame.left + frame.width) }
        for x in xs {
          above.append(Point(x, y(upper(column)) - 0.35))
          below.append(Point(x, y(lower(column)) + 0.35))
        }
      }
      return above + below.reversed()
    }
    drawing.add(.area(outline(\.highest, \.lowest), ChartStyle.light))
    // What is seen of the mean square never leaves the extent, even where the mean is not zero.
    drawing.add(
      .area(
        outline({ min($0.rms, $0.highest) }, { max(-$0.rms, $0.lowest) }), ChartStyle.strong))
  }
}

extension [UInt8] {
  /// Adds a whole number of at most five decimal digits.
  fileprivate mutating func append(digitsOf value: Int) {
    if value < 0 { append(UInt8(ascii: "-")) }
    let value = UInt32(value.magnitude)
    // Division by a constant is a multiplication.
    if value >= 10_000 { append(digit: value / 10_000) }
    if value >= 1000 { append(digit: value / 1000 % 10) }
    if value >= 100 { append(digit: value / 100 % 10) }
    if value >= 10 { append(digit: value / 10 % 10) }
    append(digit: value % 10)
  }

  private mutating func append(digit: UInt32) {
    append(UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: digit))
  }
}
