import Audio
import Glibc
import PipelineModel
import Platform

extension ArtifactStore {
  /// Keeps a curve as comma-separated values, a line a step, each with the time at its end.
  func keepCSV(_ curve: LoudnessCurve) throws(SpoolError) -> Artifact {
    var file = try VisualFile(in: self)
    try file.add("seconds,momentary_lufs,short_term_lufs\n")
    for (index, (momentary, shortTerm)) in zip(curve.momentary, curve.shortTerm).enumerated() {
      let seconds = Figure.text(Double(index + 1) * curve.step.value, places: 3)
      try file.add("\(seconds),\(Figure.text(momentary)),\(Figure.text(shortTerm))\n")
    }
    return try file.seal()
  }

  /// Keeps a curve as JSON: the summary's figures, and an array for each kind of loudness.
  func keepJSON(_ curve: LoudnessCurve) throws(SpoolError) -> Artifact {
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
private enum Figure {
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
