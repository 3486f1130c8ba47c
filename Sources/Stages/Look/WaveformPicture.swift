import AudioModel
import Glibc
import Pictures

/// A waveform as a picture: for each channel the extent of its samples, and over it their root mean
/// square, between full scale and full scale. Marks in decibels stand where amplitudes are.
struct WaveformPicture {
  private let frame: ChartFrame
  private let columns: WaveformColumns

  /// Levels that are marked where there is room, in dBFS.
  private static let levels = [0.0, -6, -12, -20]
  /// Pixels between two labels, at least.
  private static let labelDistance = 15.0

  /// A picture of columns that lie in `frame`.
  init(_ columns: WaveformColumns, in frame: ChartFrame) {
    self.columns = columns
    self.frame = frame
  }

  /// Draws everything.
  func drawing(_ size: PictureSize) -> Drawing {
    var drawing = Drawing(
      width: size.width, height: size.height, background: ChartStyle.background)
    frame.addLanes(to: &drawing)
    for lane in frame.lanes { addLevels(of: lane, to: &drawing) }
    frame.addTime(to: &drawing)
    for (lane, channel) in zip(frame.lanes, columns.channels) {
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
    _ channel: [WaveformColumns.Column], in lane: ChartFrame.Lane, to drawing: inout Drawing
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
      _ upper: (WaveformColumns.Column) -> Double, _ lower: (WaveformColumns.Column) -> Double
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
