import Glibc
import PipelineEngine
import PipelineModel
import Platform

/// Figures and untrusted text for the terminal.
enum Format {
  /// `3 min 20 s`, `20.3 s`, `0.04 s`.
  static func duration(_ seconds: Double) -> String {
    switch seconds {
    case ..<0.0995: "\(decimal(seconds, places: 2)) s"
    case ..<59.95: "\(decimal(seconds, places: 1)) s"
    case ..<3599.5:
      "\(Int(seconds.rounded()) / 60) min \(Int(seconds.rounded()) % 60) s"
    default:
      "\(Int((seconds / 60).rounded()) / 60) h \(Int((seconds / 60).rounded()) % 60) min"
    }
  }

  /// A position in a recording, rounded down: `7:12`, `1:02:03`.
  static func position(_ seconds: Double) -> String {
    let whole = Int(max(0, seconds.isFinite ? seconds : 0))
    let (hours, minutes) = (whole / 3600, whole / 60 % 60)
    return (hours > 0 ? "\(hours):\(zeros(minutes, 2))" : "\(minutes)") + ":\(zeros(whole % 60, 2))"
  }

  /// A position or a length to a tenth of a second: `7:12.4`.
  static func exactPosition(_ seconds: Double) -> String {
    let tenths = Int((max(0, seconds.isFinite ? seconds : 0) * 10).rounded())
    return position(Double(tenths / 10)) + ".\(tenths % 10)"
  }

  /// `412 × real time`.
  static func speed(media: Double, wall: Double) -> String {
    let ratio = wall > 0 ? media / wall : 0
    return "\(decimal(ratio, places: ratio < 10 ? 1 : 0)) × real time"
  }

  /// `hashing tape.wav  12 % of 1.4 GB`.
  static func hashing(_ path: String, _ done: Int, of total: Int) -> String {
    let name = visible(path.pathNames.last ?? path)
    let share = total > 0 ? min(100, Int(Double(done) / Double(total) * 100)) : 100
    return "hashing \(name)  \(share) % of \(ByteCount(total))"
  }

  static func decimal(_ value: Double, places: Int) -> String {
    guard value.isFinite, abs(value) < 1e12 else { return "–" }
    guard places > 0 else { return String(Int(value.rounded())) }
    let scale = pow(10, Double(places))
    let scaled = Int((value * scale).rounded())
    let padded = zeros(abs(scaled), places + 1)
    let split = padded.index(padded.endIndex, offsetBy: -places)
    return (scaled < 0 ? "-" : "") + padded[..<split] + "." + padded[split...]
  }

  /// A line with control characters and bidirectional overrides made harmless: file names and
  /// plugins' messages are untrusted.
  static func visible(_ text: String) -> String {
    var shown = String.UnicodeScalarView()
    for scalar in text.unicodeScalars { shown.append(scalar.isSteering ? "\u{FFFD}" : scalar) }
    return String(shown)
  }

  /// Several lines, each made harmless.
  static func visible(lines: [String]) -> String {
    lines.map { visible($0) }.joined(separator: "\n")
  }

  /// Replaces remaining control characters in text or JSON by JSON escapes such as `\\u202E`, which
  /// are equivalent in JSON and visible in text. Keeps the console's own colours. O(n).
  static func harmless(_ text: String) -> String {
    let isPlain = text.utf8.allSatisfy { (0x20..<0x7F).contains($0) || $0 == 0x0A || $0 == 0x09 }
    guard !isPlain else { return text }
    var shown = String.UnicodeScalarView()
    var rest = text.unicodeScalars[...]
    while let scalar = rest.first {
      let colour =
        scalar == "\u{1B}" ? Console.colours.first { Substring(rest).hasPrefix($0) } : nil
      if let colour {
        shown.append(contentsOf: colour.unicodeScalars)
        rest.removeFirst(colour.unicodeScalars.count)
        continue
      }
      if scalar.isSteering, scalar != "\n", scalar != "\t" {
        let digits = String(scalar.value, radix: 16, uppercase: true)
        let zeros = String(repeating: "0", count: max(0, 4 - digits.count))
        shown.append(contentsOf: "\\u\(zeros)\(digits)".unicodeScalars)
      } else {
        shown.append(scalar)
      }
      rest.removeFirst()
    }
    return String(shown)
  }

  /// A number that is not negative, with zeros on the left: `007`.
  static func zeros(_ number: Int, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
  }

  /// Pads on the right.
  static func pad(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - text.count))
  }

  /// Pads on the left.
  static func padLeft(_ text: String, _ width: Int) -> String {
    String(repeating: " ", count: max(0, width - text.count)) + text
  }

  /// Without the spaces at its end.
  static func trimmed(_ text: String) -> String {
    String(text[..<(text.lastIndex { $0 != " " }.map(text.index(after:)) ?? text.startIndex)])
  }

  /// A bar of `width` cells.
  static func bar(_ fraction: Double, width: Int) -> String {
    let eighths = Int((min(max(fraction, 0), 1) * Double(width * 8)).rounded())
    let partial = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"][eighths % 8]
    let filled = String(repeating: "█", count: eighths / 8) + partial
    return pad(filled, width)
  }

  /// A local time: `2026-11-21 14:22:05`.
  static func time(_ time: DateTime) -> String { self.time(time.seconds) }

  /// A local time: `2026-11-21 14:22:05`.
  static func time(_ secondsSince1970: Double) -> String {
    var time = time_t(secondsSince1970)
    var parts = unsafe tm()
    unsafe localtime_r(&time, &parts)
    func two(_ number: Int32) -> String { zeros(Int(number), 2) }
    return unsafe "\(parts.tm_year + 1900)-\(two(parts.tm_mon + 1))-\(two(parts.tm_mday)) "
      + "\(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec))"
  }
}

/// Numbers in words.
enum Count {
  /// `1 run`, `2 runs`, `3 passes`.
  static func of(_ number: Int, _ noun: String) -> String {
    "\(number) \(noun)\(number == 1 ? "" : noun.hasSuffix("s") || noun.hasSuffix("ch") ? "es" : "s")"
  }

  /// `12,040`.
  static func grouped(_ number: Int) -> String {
    let digits = Array(String(abs(number)))
    let groups = stride(from: digits.count % 3 - 3, to: digits.count, by: 3).map { start in
      String(digits[max(0, start)..<min(start + 3, digits.count)])
    }
    return (number < 0 ? "-" : "") + groups.filter { !$0.isEmpty }.joined(separator: ",")
  }

  /// `1st`, `2nd`, `3rd`, `11th`.
  static func ordinal(_ number: Int) -> String {
    let isTeen = (11...13).contains(number % 100)
    switch number % 10 {
    case 1 where !isTeen: return "\(number)st"
    case 2 where !isTeen: return "\(number)nd"
    case 3 where !isTeen: return "\(number)rd"
    default: return "\(number)th"
    }
  }
}

/// The time that work takes, as text.
extension Format {
  static func estimate(_ work: WorkEstimate) -> String {
    estimate(work.seconds, besides: work.unknownSteps.map(\.name))
  }

  /// `about 3 min besides recognize, whose speed is not known yet`.
  static func estimate(_ seconds: Double, besides unknown: [String]) -> String {
    "about \(duration(seconds))"
      + (unknown.isEmpty
        ? "" : " besides \(unknown.joined(separator: ", ")), whose speed is not known yet")
  }
}
