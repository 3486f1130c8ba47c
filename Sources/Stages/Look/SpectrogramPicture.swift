import AudioModel
import DSP
import Glibc
import Pictures

/// A spectrogram as a picture: a lane for each channel, frequencies on the left, the meaning of the
/// colours on the right.
struct SpectrogramPicture {
  private let form: SpectrogramForm
  private let format: AudioFormat
  private let columns: [Float]
  private let columnLength: Int
  private let framesPerColumn: Int
  private let frames: Frames

  /// A picture of the columns that a `SpectrumGatherer` gave.
  init(
    _ form: SpectrogramForm, _ format: AudioFormat, columns: [Float], columnLength: Int,
    framesPerColumn: Int, frames: Frames
  ) {
    self.form = form
    self.format = format
    self.columns = columns
    self.columnLength = columnLength
    self.framesPerColumn = framesPerColumn
    self.frames = frames
  }

  /// Where the lanes lie.
  static func frame(
    _ form: SpectrogramForm, _ format: AudioFormat, duration: Seconds
  ) -> ChartFrame {
    ChartFrame(
      width: form.size.width, height: form.size.height, laneCount: format.channelCount,
      duration: duration, left: 66, right: 84)
  }

  /// The frequency at the top of each lane.
  static func top(_ form: SpectrogramForm, _ format: AudioFormat) -> Hertz {
    let half = format.sampleRate.value / 2
    return Hertz(min(form.top?.value ?? half, half))
  }

  /// Draws everything.
  func raster() -> Raster {
    let frame = Self.frame(form, format, duration: frames.duration(at: format.sampleRate))
    var raster = Raster(
      width: form.size.width, height: form.size.height, filledWith: ChartStyle.background)
    for (channel, lane) in frame.lanes.enumerated() {
      paint(channel, in: lane, of: frame, on: &raster)
    }
    var drawing = Drawing(
      width: form.size.width, height: form.size.height, background: ChartStyle.background)
    frame.addTime(to: &drawing, hasLines: false)
    for lane in frame.lanes { addFrequencies(lane, frame, to: &drawing) }
    frame.addChannelNames(to: &drawing, colour: HeatColours.onDark)
    addLegend(frame, to: &drawing)
    raster.draw(drawing.shapes)
    return raster
  }

  private func level(_ power: Float) -> Double {
    power > 0 ? 1 + 10 * log10(Double(power)) / form.range.value : 0
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
    let top = Self.top(form, format)
    var lastLabel = Double.infinity
    for frequency in marks(upTo: top.value) {
      let y = lane.top + lane.height * (1 - form.scale.height(of: Hertz(frequency), top: top))
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
    if form.scale == .linear {
      let steps = [50.0, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000]
      return Array(stride(from: 0, through: top, by: steps.first { top / $0 <= 10 } ?? 100_000))
    }
    // Below the first the ear's scale is as good as even, and its octaves are narrow.
    let first = form.scale == .mel ? 200.0 : 50
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
    let step = form.range.value > 60 ? 20.0 : 10
    for level in stride(from: 0, through: form.range.value, by: step) {
      let y = first.top + height * level / form.range.value
      let text = min(max(y, first.top + 5), frame.bottom - 5)
      let label = level == 0 ? "0 dB" : "\u{2212}\(Int(level))"
      drawing.add(
        .text(
          label, at: Point(x + 18, text + ChartStyle.labelDrop), size: ChartStyle.labelSize, .start,
          ChartStyle.label))
    }
  }
}
