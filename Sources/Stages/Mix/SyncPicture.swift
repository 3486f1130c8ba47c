import Audio
import Media

/// How the clocks of recordings run against the reference's: a lane for each, with the lag in
/// milliseconds over the common time, less its mean.
struct SyncPicture {
  private let report: SyncReport
  private let frame: ChartFrame
  private static let (width, laneHeight) = (1200, 160)

  init(_ report: SyncReport) {
    self.report = report
    let others = report.recordings.filter { !$0.clock.isEmpty }
    frame = ChartFrame(
      width: Self.width, height: Self.laneHeight * max(1, others.count) + 42,
      laneCount: max(1, others.count), duration: report.duration, left: 86)
  }

  var drawing: Drawing {
    let others = report.recordings.filter { !$0.clock.isEmpty }
    var drawing = Drawing(
      width: Self.width, height: Self.laneHeight * max(1, others.count) + 42,
      background: ChartStyle.background)
    frame.addLanes(to: &drawing)
    frame.addTime(to: &drawing)
    for (recording, lane) in zip(others, frame.lanes) { add(recording, lane, to: &drawing) }
    return drawing
  }

  private func add(
    _ recording: SyncReport.Recording, _ lane: ChartFrame.Lane, to drawing: inout Drawing
  ) {
    let lags = recording.clock.map { 1000 * ($0[1] - $0[0] - recording.offset.value) }
    let (least, most) = (lags.min() ?? 0, lags.max() ?? 0)
    // A clock that hardly drifts is drawn as a line that hardly rises.
    let span = max(most - least, 1)
    let middle = (least + most) / 2
    func y(_ lag: Double) -> Double {
      lane.top + lane.height / 2 - (lag - middle) / span * (lane.height - 44)
    }
    for lag in [middle - span / 2, middle, middle + span / 2] {
      frame.addLabel("\(Self.text(lag, places: 1)) ms", at: y(lag), to: &drawing)
      drawing.add(
        .rectangle(
          x: frame.left, y: y(lag).rounded(), width: frame.width, height: 1, ChartStyle.grid))
    }
    let points = zip(recording.clock, lags).map { Point(frame.x(at: $0[1]), y($1)) }
    drawing.add(.line(points, width: 2.2, ChartStyle.strong))
    let words =
      "\(recording.title): begins at \(Self.text(recording.offset.value, places: 3)) s, clock "
      + "\(recording.drift < 0 ? "slow" : "fast") by \(Self.text(abs(recording.drift), places: 1)) ppm, "
      + "confidence \(Self.text(recording.confidence, places: 2))"
    drawing.add(
      .text(
        words, at: Point(frame.left + 10, lane.top + 16), size: ChartStyle.labelSize, .start,
        ChartStyle.label))
  }

  /// With a minus that is as wide as a digit.
  private static func text(_ value: Double, places: Int) -> String {
    Figure.text(value, places: places).replacing("-", with: "\u{2212}")
  }
}
