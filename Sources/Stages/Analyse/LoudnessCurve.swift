import Audio
import Glibc
import Media
import PipelineModel
import Platform
import SoundEngine

/// `loudness-curve`: loudness over time, as figures and as a picture.
private struct LoudnessCurveStage: DeclaredStage, VisualStage {
  struct Parameters: Codable, Sendable {
    let formats: [LoudnessCurveFormat]?
    let width: Int
    let height: Int
    let name: String
  }

  static let descriptor = StageDescriptor(
    kind: "loudness-curve", revision: 2,
    summary: "Write momentary and short-term loudness over time, and draw them",
    discussion: """
      Every 100 ms the momentary loudness of the last 400 ms and the short-term loudness of the \
      last 3 s after EBU R 128 (EBU Tech 3341), in LUFS, ungated. A window that the sound has not \
      filled yet, and one of nothing but zeros, has no figure: an empty field in CSV, null in \
      JSON. The pictures span -60 to 0 LUFS, with the integrated loudness as a thin line. The \
      sound passes on to the stages below unchanged.
      """,
    flow: .streaming(.sound, .sink),
    inputs: [Port(.sound, .sound, "the sound to measure")],
    outputs: LoudnessCurveFormat.allCases.map {
      Port($0.port, .file, "the .\($0.rawValue) file, where it is asked for")
    },
    parameters: [
      ParameterDescriptor(
        "formats",
        .list(of: .choice(LoudnessCurveFormat.allCases.map(\.rawValue)), count: 1...4), .optional,
        "the files to write; without it all of them")
    ] + PictureSize.parameters() + [PictureSize.name],
    shorthand: "formats")

  static var libraries: [String: String] { MediaLibraries.versions }

  private let formats: [LoudnessCurveFormat]
  private let size: PictureSize
  let name: String

  init(_ parameters: Parameters) {
    formats = LoudnessCurveFormat.allCases.filter { parameters.formats?.contains($0) ?? true }
    size = PictureSize(width: parameters.width, height: parameters.height)
    name = parameters.name
  }

  var outputs: [VisualOutput] {
    formats.map { VisualOutput(port: $0.port, ending: ".loudness.\($0.rawValue)") }
  }

  func makeSink(for stream: SoundOutline, in context: SinkContext) -> any SoundSink {
    let format = stream.format
    return MeterSink({ LoudnessMeter(format: format, includesPeaks: false) }, in: context) {
      [self, store = context.store] (loudness) throws(SpoolError) in
      try files(of: LoudnessCurve(loudness.history, sampleRate: format.sampleRate), in: store)
    }
  }

  private func files(
    of curve: LoudnessCurve, in store: any ArtifactStore
  ) throws(SpoolError) -> [PortName: Artifact] {
    lazy var drawing = LoudnessCurvePicture(curve, size).drawing
    var files: [PortName: Artifact] = [:]
    for format in formats {
      files[format.port] =
        switch format {
        case .csv: try store.keepCSV(curve)
        case .json: try store.keepJSON(curve)
        case .svg: try store.keepSVG(drawing)
        case .png: try store.keepPNG(Raster(drawing))
        }
    }
    return files
  }

  func cost(of stream: SoundOutline) -> SinkCost {
    let steps = Int(10 * (stream.duration?.value ?? 0)) + 1
    var byteCount = 0
    for format in formats {
      switch format {
      case .csv: byteCount += 24 * steps
      case .json: byteCount += 14 * steps
      case .svg: byteCount += 60 * size.width
      case .png: byteCount += size.width * size.height / 4
      }
    }
    return SinkCost(byteCount: byteCount, publishedByteCount: byteCount, coreSeconds: 0.0004)
  }
}

extension StageRegistration {
  static let loudnessCurve = StageRegistration(LoudnessCurveStage.self)
}

/// The files that `loudness-curve` can write.
enum LoudnessCurveFormat: String, Codable, CaseIterable, Sendable {
  case csv
  case json
  case svg
  case png

  var port: PortName { PortName(rawValue) }
}

/// A loudness curve as a picture: the momentary loudness in a light colour, the short-term loudness
/// over it in a dark one, and the integrated loudness as a line across.
struct LoudnessCurvePicture {
  private let curve: LoudnessCurve
  private let size: PictureSize
  private let frame: ChartFrame

  /// What the picture spans, in LUFS; what is quieter lies on its lower edge.
  private static let span = -60.0...0

  /// A picture of this size.
  init(_ curve: LoudnessCurve, _ size: PictureSize) {
    self.curve = curve
    self.size = size
    frame = ChartFrame(
      width: size.width, height: size.height, laneCount: 1,
      duration: Seconds(Double(curve.momentary.count) * curve.step.value), left: 66)
  }

  /// Draws everything.
  var drawing: Drawing {
    var drawing = Drawing(
      width: size.width, height: size.height, background: ChartStyle.background)
    frame.addLanes(to: &drawing)
    addLevels(to: &drawing)
    frame.addTime(to: &drawing)
    for line in lines(curve.momentary) {
      drawing.add(.line(line, width: 1.4, ChartStyle.light))
    }
    for line in lines(curve.shortTerm) {
      drawing.add(.line(line, width: 2.2, ChartStyle.strong))
    }
    if let integrated = curve.integrated {
      drawing.add(
        .rectangle(
          x: frame.left, y: y(integrated) - 0.5, width: frame.width, height: 1, ChartStyle.accent))
    }
    addLegend(to: &drawing)
    return drawing
  }

  private func y(_ loudness: LUFS) -> Double {
    guard let lane = frame.lanes.first else { return 0 }
    let value = min(max(loudness.value, Self.span.lowerBound), Self.span.upperBound)
    return lane.top + (Self.span.upperBound - value) / (Self.span.upperBound - Self.span.lowerBound)
      * lane.height
  }

  private func addLevels(to drawing: inout Drawing) {
    let height = frame.lanes.first?.height ?? 0
    let step = height >= 150 ? 10.0 : 20
    for level in stride(from: Self.span.upperBound, through: Self.span.lowerBound, by: -step) {
      let y = y(LUFS(level))
      let isEdge = level == Self.span.upperBound || level == Self.span.lowerBound
      let label = level == 0 ? "0 LUFS" : "\u{2212}\(Int(-level))"
      frame.addLabel(label, at: level == 0 ? y + 5 : isEdge ? y - 5 : y, to: &drawing)
      if !isEdge {
        drawing.add(
          .rectangle(
            x: frame.left, y: y.rounded(), width: frame.width, height: 1, ChartStyle.grid))
      }
    }
  }

  /// The curve in pieces, between windows that have no figure. Of sound with more figures than
  /// pixels, each pixel shows the least and the greatest.
  private func lines(_ figures: [LUFS?]) -> [[Point]] {
    let perPixel = max(1, figures.count / Int(frame.width))
    var lines: [[Point]] = []
    var line: [Point] = []
    for start in stride(from: 0, to: figures.count, by: perPixel) {
      let some = figures[start..<min(start + perPixel, figures.count)].compactMap { $0 }
      guard let least = some.min(), let greatest = some.max() else {
        if !line.isEmpty { lines.append(line) }
        line = []
        continue
      }
      let x = frame.x(at: Double(start + 1) * curve.step.value)
      line.append(Point(x, y(greatest)))
      if perPixel > 1 { line.append(Point(x, y(least))) }
    }
    return line.isEmpty ? lines : lines + [line]
  }

  private func addLegend(to drawing: inout Drawing) {
    guard let lane = frame.lanes.first else { return }
    var entries: [(String, Colour)] = [
      ("momentary", ChartStyle.light), ("short-term", ChartStyle.strong),
    ]
    if let integrated = curve.integrated {
      let tenths = Int((integrated.value * 10).rounded())
      let sign = tenths < 0 ? "\u{2212}" : ""
      entries.append(
        (
          "integrated \(sign)\(tenths.magnitude / 10).\(tenths.magnitude % 10) LUFS",
          ChartStyle.accent
        ))
    }
    var x = frame.left + 12
    let y = lane.top + 18
    for (words, colour) in entries {
      drawing.add(.line([Point(x, y - 4.5), Point(x + 18, y - 4.5)], width: 2.4, colour))
      drawing.add(
        .text(words, at: Point(x + 25, y), size: ChartStyle.labelSize, .start, ChartStyle.label))
      x += 25 + 7.6 * Double(words.count) + 22
    }
  }
}

extension ArtifactStore {
  /// Keeps a curve as comma-separated values, a line a step, each with the time at its end.
  fileprivate func keepCSV(_ curve: LoudnessCurve) throws(SpoolError) -> Artifact {
    var file = try VisualFile(in: self)
    try file.add("seconds,momentary_lufs,short_term_lufs\n")
    for (index, (momentary, shortTerm)) in zip(curve.momentary, curve.shortTerm).enumerated() {
      let seconds = Figure.text(Double(index + 1) * curve.step.value, places: 3)
      try file.add("\(seconds),\(Figure.text(momentary)),\(Figure.text(shortTerm))\n")
    }
    return try file.seal()
  }

  /// Keeps a curve as JSON: the summary's figures, and an array for each kind of loudness.
  fileprivate func keepJSON(_ curve: LoudnessCurve) throws(SpoolError) -> Artifact {
    func value(_ loudness: LUFS?) -> String { loudness.map { Figure.text($0) } ?? "null" }
    var file = try VisualFile(in: self)
    try file.add("{\"stepSeconds\":\(curve.step.value)")
    try file.add(",\"integratedLoudness\":\(value(curve.integrated))")
    let range = curve.range.map { Figure.text($0.value, places: 2) } ?? "null"
    try file.add(",\"loudnessRange\":\(range)")
    try file.add(",\"maximumMomentary\":\(value(curve.maximumMomentary))")
    try file.add(",\"maximumShortTerm\":\(value(curve.maximumShortTerm))")
    for (name, figures) in [("momentary", curve.momentary), ("shortTerm", curve.shortTerm)] {
      try file.add(",\"\(name)\":[")
      for (index, figure) in figures.enumerated() {
        try file.add(index == 0 ? value(figure) : "," + value(figure))
      }
      try file.add("]")
    }
    try file.add("}\n")
    return try file.seal()
  }
}

/// Figures with a fixed number of decimals.
enum Figure {
  static func text(_ loudness: LUFS?) -> String { loudness.map { text($0.value, places: 2) } ?? "" }

  static func text(_ loudness: LUFS) -> String { text(loudness.value, places: 2) }

  static func text(_ value: Double, places: Int) -> String {
    let factor = pow(10, Double(places))
    let scaled = Int((value * factor).rounded())
    let (whole, rest) = scaled.magnitude.quotientAndRemainder(dividingBy: UInt(factor))
    let decimals = String(repeating: "0", count: max(0, places - "\(rest)".count)) + "\(rest)"
    return (scaled < 0 ? "-" : "") + "\(whole)." + decimals
  }
}
