import Audio
import Media

/// The frame of a picture of sound: a lane for each channel, one above the other, with time from
/// left to right below all of them.
struct ChartFrame {
  /// Where a lane lies, in pixels.
  struct Lane {
    let top: Double
    let height: Double
  }

  let left: Double
  let width: Double
  let lanes: [Lane]
  private let duration: Seconds

  /// Divides a picture among so many lanes.
  /// - Parameter right: pixels that stay free on the right side.
  init(
    width: Int, height: Int, laneCount: Int, duration: Seconds, left: Int = 58, right: Int = 16
  ) {
    let (top, bottom) = (12, 30)
    self.left = Double(left)
    self.width = Double(max(width - left - right, 1))
    self.duration = duration
    let space = max(height - top - bottom, 1)
    let gap = laneCount > 1 ? min(8, space / (4 * laneCount)) : 0
    // Whole pixels, so that edges are sharp.
    let one = max(1, (space - gap * (laneCount - 1)) / laneCount)
    lanes = (0..<laneCount).map { Lane(top: Double(top + $0 * (one + gap)), height: Double(one)) }
  }

  /// The bottom of the lowest lane.
  var bottom: Double { lanes.last.map { $0.top + $0.height } ?? 0 }

  /// The place of a time.
  func x(at seconds: Double) -> Double {
    left + (duration.value > 0 ? seconds / duration.value * width : 0)
  }

  /// The lanes' ground.
  func addLanes(to drawing: inout Drawing) {
    for lane in lanes {
      drawing.add(
        .rectangle(x: left, y: lane.top, width: width, height: lane.height, ChartStyle.lane))
    }
  }

  /// Marks of time: faint lines through the lanes, and the times below them.
  func addTime(to drawing: inout Drawing, hasLines: Bool = true) {
    for mark in TimeAxis(seconds: duration.value, width: width).marks {
      let x = x(at: mark.seconds).rounded(.down)
      if hasLines {
        for lane in lanes {
          drawing.add(
            .rectangle(x: x, y: lane.top, width: 1, height: lane.height, ChartStyle.grid))
        }
      }
      drawing.add(.rectangle(x: x, y: bottom, width: 1, height: 4, ChartStyle.label))
      // The last label stays within the picture.
      let isLast = x + 24 > Double(drawing.width)
      drawing.add(
        .text(
          mark.label, at: Point(x, bottom + 18), size: ChartStyle.labelSize,
          isLast ? .end : .middle, ChartStyle.label))
    }
  }

  /// A label on the left side of a lane.
  func addLabel(_ words: String, at y: Double, to drawing: inout Drawing) {
    drawing.add(
      .text(
        words, at: Point(left - 7, y + ChartStyle.labelDrop), size: ChartStyle.labelSize, .end,
        ChartStyle.label))
  }

  /// The channels' names within their lanes: left and right, or numbers.
  func addChannelNames(to drawing: inout Drawing, colour: Colour = ChartStyle.label) {
    guard lanes.count > 1 else { return }
    for (index, lane) in lanes.enumerated() where lane.height >= 14 {
      let name = lanes.count == 2 ? ["L", "R"][index] : "\(index + 1)"
      drawing.add(
        .text(
          name, at: Point(left + 6, lane.top + 13), size: ChartStyle.labelSize, .start, colour))
    }
  }
}

/// How the pictures of sound look: calm, and alike.
enum ChartStyle {
  static let background = Colour(0xfcfcfa)
  static let lane = Colour(0xf2f4f5)
  static let grid = Colour(0xdde2e6)
  static let label = Colour(0x5f6b76)
  /// From the lowest to the highest sample, or what moves fast.
  static let light = Colour(0x93b7d1)
  /// The root mean square, or what moves slowly.
  static let strong = Colour(0x2f6690)
  /// What is to be noticed.
  static let accent = Colour(0xc8553d)

  /// The size of labels, in pixels.
  static let labelSize = 13.0
  /// Half the height of a label's capitals: what lies between a mark and its label's baseline.
  static let labelDrop = 4.5
}

/// The tick marks of a time axis.
struct TimeAxis: Hashable, Sendable {
  struct Mark: Hashable, Sendable {
    /// Seconds from the beginning.
    let seconds: Double
    /// The label: `0.25 s`, `1:30`, `1:02:00`.
    let label: String
  }

  /// The marks, in order.
  let marks: [Mark]

  /// Readable intervals, in seconds.
  private static let steps: [Double] = [
    0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600,
    900, 1800, 3600, 7200, 14_400, 21_600, 43_200, 86_400,
  ]

  /// Marks for `seconds` on `width` pixels, at least `distance` pixels apart.
  init(seconds: Double, width: Double, distance: Double = 90) {
    guard seconds > 0, width > 0 else {
      marks = [Mark(seconds: 0, label: "0:00")]
      return
    }
    let least = seconds * distance / width
    let days = (least / 86_400).rounded(.up) * 86_400
    let step = Self.steps.first { $0 >= least } ?? days
    marks = (0...Int(seconds / step + 1e-9)).map { number in
      let time = Double(number) * step
      return Mark(seconds: time, label: Self.label(time, step: step))
    }
  }

  private static func label(_ seconds: Double, step: Double) -> String {
    guard step >= 1 else {
      let places = step >= 0.1 ? 1 : step >= 0.01 ? 2 : 3
      var number = "\(Int((seconds * [1, 10, 100, 1000][places]).rounded()))"
      while number.count <= places { number = "0" + number }
      return number.dropLast(places) + "." + number.suffix(places) + " s"
    }
    let whole = Int(seconds.rounded())
    func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
    let clock = "\(two(whole % 60))"
    return whole < 3600
      ? "\(whole / 60):\(clock)" : "\(whole / 3600):\(two(whole / 60 % 60)):\(clock)"
  }
}
