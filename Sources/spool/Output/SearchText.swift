import Glibc
import PipelineModel
import Store

/// Hits as lines: for people, and as JSON.
struct SearchText {
  private let hits: [SearchHit]
  private let marks: (begin: String, end: String)

  init(_ hits: [SearchHit], _ console: Console) {
    self.hits = hits
    let isPlain = !(Environment.variables["NO_COLOR"] ?? "").isEmpty
    marks = console.isTerminal && !isPlain ? ("\u{1B}[1m", "\u{1B}[0m") : ("[", "]")
  }

  /// A line each: number, recording, time, what is said.
  var lines: [String] {
    let names = hits.map { Format.visible($0.name) }
    let times = hits.map { hit in
      hit.start.map { (hit.isApproximate ? "~" : "") + Self.time($0) } ?? "–"
    }
    let nameWidth = names.map(\.count).max() ?? 0
    let timeWidth = times.map(\.count).max() ?? 0
    let numberWidth = String(hits.count).count
    return hits.indices.map { index in
      Format.padLeft(String(index + 1), numberWidth) + "  "
        + Format.pad(names[index], nameWidth) + "  " + Format.padLeft(times[index], timeWidth)
        + "  " + snippet(hits[index])
    }
  }

  /// `0:12.3`, `1:02:03.4`: begun tenths do not count.
  static func time(_ seconds: Double) -> String {
    let tenths = Int(max(0, seconds) * 10 + 1e-6)
    return Format.position(Double(tenths / 10)) + ".\(tenths % 10)"
  }

  private func snippet(_ hit: SearchHit) -> String {
    hit.pieces.map { piece in
      let text = Format.visible(piece.text)
      return piece.isHit ? marks.begin + text + marks.end : text
    }.joined(separator: " ")
  }

  /// An object each.
  var json: [String] {
    zip(hits.indices, hits).map { index, hit in
      JSONText.of(
        Line(
          hit: index + 1, recording: hit.path, name: hit.name, startTime: hit.start,
          endTime: hit.end, isApproximate: hit.isApproximate ? true : nil, words: hit.words,
          snippet: hit.pieces.map { $0.isHit ? "[\($0.text)]" : $0.text }.joined(separator: " "),
          pipeline: hit.pipeline, step: hit.step, run: hit.run, toldAt: hit.time))
    }
  }

  private struct Line: Encodable {
    let hit: Int
    let recording: String
    let name: String
    let startTime: Double?
    let endTime: Double?
    let isApproximate: Bool?
    let words: String
    let snippet: String
    let pipeline: String
    let step: String
    let run: String
    let toldAt: Double
  }
}
