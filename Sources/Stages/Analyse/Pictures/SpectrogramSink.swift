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

extension SpectrogramStage {
  /// Gathers the columns of a spectrogram while the sound goes by, and draws them when it is over.
  final class Sink: SoundSink {
    static let port = PortName("png")

    private struct State: @unchecked Sendable {
      // The gatherer and the files are touched only while the lock is held, and by the one thread that
      // finishes.
      let gatherer: SpectrumGatherer
      let columns: ColumnFiles
    }

    private struct Progress: Codable {
      let generation: Int
      let columns: DraftPrefix
      let gatherer: String
    }

    let firstFrame: Frames
    private let state: Mutex<State>
    private let stage: SpectrogramStage
    private let format: AudioFormat
    private let frame: ChartFrame
    private let store: any ArtifactStore

    init(
      _ stage: SpectrogramStage, _ format: AudioFormat, _ context: SinkContext
    ) throws(SpoolError) {
      self.stage = stage
      self.format = format
      store = context.store
      // How long the sound is will be known at its end; how wide the lanes are does not depend on it.
      frame = SpectrogramPicture.frame(stage, format, duration: Seconds(0))
      let layout = SpectrumGatherer.Layout(
        rowCount: max(1, Int(frame.lanes.first?.height ?? 1)), columnLimit: 2 * Int(frame.width),
        scale: stage.scale, top: stage.topFrequency(of: format))
      let transform = try LibraryTransform(length: stage.window)
      func makeGatherer() -> SpectrumGatherer {
        SpectrumGatherer(
          format: format, layout: layout, window: stage.window, transform: transform.transform)
      }
      var gatherer = makeGatherer()
      let columns = ColumnFiles(context.work, columnLength: gatherer.columnLength)
      if let status = context.work.resuming.flatMap({
        try? Findings.decode(Progress.self, from: $0.state)
      }), let bytes = Data(base64Encoded: status.gatherer) {
        let earlier = try columns.resume(
          generation: status.generation, status.columns)
        if let earlier {
          let snapshot = ProcessorSnapshot(bytes: Array(bytes))
          if (try? gatherer.restore(snapshot, columns: earlier)) == nil {
            columns.forget()
            gatherer = makeGatherer()
          }
        }
      }
      firstFrame = gatherer.frames
      state = Mutex(State(gatherer: gatherer, columns: columns))
    }

    func take(_ block: SharedBuffer) throws(SpoolError) {
      try state.withLock { (state) throws(SpoolError) in
        state.gatherer.gather(block.buffer)
        try state.columns.write(state.gatherer.columns, generation: state.gatherer.generation)
      }
    }

    func progress() -> ListenerProgress? {
      state.withLock { state in
        let gatherer = state.gatherer
        let status = Progress(
          generation: gatherer.generation, columns: state.columns.prefix(gatherer.generation),
          gatherer: Data(gatherer.snapshot.bytes).base64EncodedString())
        return (try? Findings.json(status)).map {
          ListenerProgress(needsFrom: gatherer.frames, state: $0)
        }
      }
    }

    func flush() throws(SpoolError) {
      let flushers = state.withLock { $0.columns.flushers }
      for flusher in flushers { try flusher() }
    }

    func finish() throws(SpoolError) -> PassOutcome.Result {
      try state.withLock { (state) throws(SpoolError) in
        state.gatherer.finish()
        let picture = SpectrogramPicture(
          stage, format, columns: state.gatherer.columns,
          columnLength: state.gatherer.columnLength,
          framesPerColumn: state.gatherer.framesPerColumn, frames: state.gatherer.frames)
        var result = PassOutcome.Result()
        result.artifacts[Self.port] = try store.keepPNG(picture.raster())
        return result
      }
    }
  }
}

/// The columns of a spectrogram in files of the work's own: each time that neighbours are joined, a
/// file is started, so that a recorded one keeps its recorded content.
final class ColumnFiles {
  private let work: ListenerWork
  private let columnLength: Int
  private var drafts: [Int: Draft] = [:]

  /// A file under way.
  private final class Draft {
    let artifact: ArtifactDraft
    var floatCount: Int

    init(_ artifact: consuming ArtifactDraft, floatCount: Int) {
      self.artifact = artifact
      self.floatCount = floatCount
    }
  }

  init(_ work: ListenerWork, columnLength: Int) {
    self.work = work
    self.columnLength = columnLength
  }

  /// Makes durable everything that may have been recorded. Files of earlier joinings have nothing
  /// left to be written, and cost nothing.
  var flushers: [@Sendable () throws(SpoolError) -> Void] {
    drafts.sorted { $0.key < $1.key }.map { $0.value.artifact.flusher }
  }

  /// What was written since the joining of this number, for a journal entry that refers to it.
  func prefix(_ generation: Int) -> DraftPrefix {
    drafts[generation]?.artifact.prefix() ?? DraftPrefix(byteCount: 0)
  }

  /// The columns that an earlier process wrote between two joinings; nil where they are not there,
  /// or not as they were recorded.
  func resume(generation: Int, _ noted: DraftPrefix) throws(SpoolError) -> [Float]? {
    let floatCount = noted.byteCount / 4
    guard (0..<48).contains(generation), floatCount.isMultiple(of: columnLength) else { return nil }
    guard let draft = try work.claim.resumeDraft(name(generation), .file, noted) else { return nil }
    var floats = [Float](repeating: 0, count: floatCount)
    if floatCount > 0 { try FileReader(draft.path).read(into: &floats, count: floatCount) }
    drafts = [generation: Draft(draft, floatCount: floatCount)]
    return floats
  }

  /// What was resumed is of no use: everything starts from the beginning.
  func forget() { drafts = [:] }

  /// Writes what is new of all columns since the last joining.
  func write(_ columns: [Float], generation: Int) throws(SpoolError) {
    if drafts[generation] == nil {
      drafts[generation] = Draft(
        try work.claim.makeDraft(name(generation), .file), floatCount: 0)
    }
    guard let draft = drafts[generation], draft.floatCount < columns.count else { return }
    let news = columns.span.extracting(draft.floatCount..<columns.count)
    try unsafe draft.artifact.append(news.bytes)
    draft.floatCount = columns.count
  }

  private func name(_ generation: Int) -> String { "\(work.name).columns-\(generation)" }
}

/// A spectrogram as a picture: a lane for each channel, frequencies on the left, the meaning of the
/// colours on the right.
struct SpectrogramPicture {
  private let stage: SpectrogramStage
  private let format: AudioFormat
  private let columns: [Float]
  private let columnLength: Int
  private let framesPerColumn: Int
  private let frames: Frames

  /// A picture of the columns that a `SpectrumGatherer` gave.
  init(
    _ stage: SpectrogramStage, _ format: AudioFormat, columns: [Float], columnLength: Int,
    framesPerColumn: Int, frames: Frames
  ) {
    self.stage = stage
    self.format = format
    self.columns = columns
    self.columnLength = columnLength
    self.framesPerColumn = framesPerColumn
    self.frames = frames
  }

  /// Where the lanes lie.
  static func frame(
    _ stage: SpectrogramStage, _ format: AudioFormat, duration: Seconds
  ) -> ChartFrame {
    ChartFrame(
      width: stage.size.width, height: stage.size.height, laneCount: format.channelCount,
      duration: duration, left: 66, right: 84)
  }

  /// Draws everything.
  func raster() -> Raster {
    let frame = Self.frame(stage, format, duration: frames.duration(at: format.sampleRate))
    var raster = Raster(
      width: stage.size.width, height: stage.size.height, filledWith: ChartStyle.background)
    for (channel, lane) in frame.lanes.enumerated() {
      paint(channel, in: lane, of: frame, on: &raster)
    }
    var drawing = Drawing(
      width: stage.size.width, height: stage.size.height, background: ChartStyle.background)
    frame.addTime(to: &drawing, hasLines: false)
    for lane in frame.lanes { addFrequencies(lane, frame, to: &drawing) }
    frame.addChannelNames(to: &drawing, colour: HeatColours.onDark)
    addLegend(frame, to: &drawing)
    raster.draw(drawing.shapes)
    return raster
  }

  private func level(_ power: Float) -> Double {
    power > 0 ? 1 + 10 * log10(Double(power)) / stage.range.value : 0
  }

  /// Fills a lane pixel by pixel: each shows the mean of the columns that lie in it.
  private func paint(
    _ channel: Int, in lane: ChartFrame.Lane, of frame: ChartFrame, on raster: inout Raster
  ) {
    let count = columns.count / columnLength
    let rows = Int(lane.height)
    let (left, top, width) = (Int(frame.left), Int(lane.top), Int(frame.width))
    // The last column may reach beyond the sound's end.
    let perPixel = Double(frames.count) / Double(framesPerColumn) / Double(width)
    for x in 0..<width {
      let first = min(Int(Double(x) * perPixel), count - 1)
      let end = min(max(first + 1, Int(Double(x + 1) * perPixel)), count)
      for row in 0..<rows {
        var power: Float = 0
        for column in max(first, 0)..<max(end, 0) {
          power += columns[column * columnLength + channel * rows + row]
        }
        raster[left + x, top + rows - 1 - row] = HeatColours.colour(
          level(power / Float(max(end - first, 1))))
      }
    }
  }

  private func addFrequencies(
    _ lane: ChartFrame.Lane, _ frame: ChartFrame, to drawing: inout Drawing
  ) {
    let top = stage.topFrequency(of: format)
    var lastLabel = Double.infinity
    for frequency in marks(upTo: top.value) {
      let y = lane.top + lane.height * (1 - stage.scale.height(of: Hertz(frequency), top: top))
      guard y >= lane.top, y <= lane.top + lane.height else { continue }
      drawing.add(
        .rectangle(x: frame.left - 4, y: y.rounded() - 1, width: 4, height: 1, ChartStyle.label))
      let text = min(max(y, lane.top + 5), lane.top + lane.height - 5)
      guard lastLabel - text >= 15 else { continue }
      lastLabel = text
      let isThousands = frequency >= 1000
      let number = isThousands ? frequency / 1000 : frequency
      let digits = number == number.rounded() ? "\(Int(number))" : "\(number)"
      frame.addLabel(digits + (isThousands ? " kHz" : " Hz"), at: text, to: &drawing)
    }
  }

  /// Frequencies worth a mark, from the lowest.
  private func marks(upTo top: Double) -> [Double] {
    if stage.scale == .linear {
      let steps = [50.0, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000]
      return Array(stride(from: 0, through: top, by: steps.first { top / $0 <= 10 } ?? 100_000))
    }
    // Below the first the ear's scale is as good as even, and its octaves are narrow.
    let first = stage.scale == .mel ? 200.0 : 50
    return [10.0, 100, 1000, 10_000, 100_000].flatMap { decade in [1, 2, 5].map { $0 * decade } }
      .filter { (first...max(first, top)).contains($0) }
  }

  /// What the colours mean.
  private func addLegend(_ frame: ChartFrame, to drawing: inout Drawing) {
    guard let first = frame.lanes.first else { return }
    let x = frame.left + frame.width + 14
    let height = frame.bottom - first.top
    for y in 0..<Int(height) {
      drawing.add(
        .rectangle(
          x: x, y: first.top + Double(y), width: 12, height: 1,
          HeatColours.colour(1 - (Double(y) + 0.5) / height)))
    }
    let step = stage.range.value > 60 ? 20.0 : 10
    for level in stride(from: 0, through: stage.range.value, by: step) {
      let y = first.top + height * level / stage.range.value
      let text = min(max(y, first.top + 5), frame.bottom - 5)
      let label = level == 0 ? "0 dB" : "\u{2212}\(Int(level))"
      drawing.add(
        .text(
          label, at: Point(x + 18, text + ChartStyle.labelDrop), size: ChartStyle.labelSize, .start,
          ChartStyle.label))
    }
  }
}

/// From silence to full scale: dark blue over violet and orange to a warm white, ever lighter, so
/// that it reads without colours too.
enum HeatColours {
  /// What can be read on silence.
  static let onDark = Colour(0xb8c2d6)

  private static let stops: [Colour] = [
    Colour(0x0c1222), Colour(0x1d2b53), Colour(0x4b3f8f), Colour(0x8e4a94), Colour(0xcc5a78),
    Colour(0xf0835a), Colour(0xfbbd67), Colour(0xfdf3d3),
  ]

  /// Every colour there is, so that painting a pixel is no more than looking it up.
  private static let table: [Colour] = (0...255).map { index in
    let place = Double(index) / 255 * Double(stops.count - 1)
    let below = min(Int(place), stops.count - 2)
    let share = place - Double(below)
    func mix(_ part: (Colour) -> UInt8) -> UInt8 {
      let (a, b) = (Double(part(stops[below])), Double(part(stops[below + 1])))
      return UInt8((a + (b - a) * share).rounded())
    }
    return Colour(red: mix(\.red), green: mix(\.green), blue: mix(\.blue))
  }

  /// The colour of a level from 0, as good as silent, to 1, full scale.
  static func colour(_ level: Double) -> Colour {
    table[Int((min(max(level, 0), 1) * 255).rounded())]
  }
}
