import Audio
import Foundation

/// How much processor time each thread of a program took, as far as it was watched: a thread's
/// last hundredths of a second are missed.
struct ThreadTimes {
  private var ticks: [Int: Int] = [:]
  private var names: [Int: String] = [:]

  /// Notes what the threads of process `id` have taken so far.
  mutating func look(at id: Int32) {
    let folder = "/proc/\(id)/task"
    for entry in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] {
      guard let thread = Int(entry),
        let stat = try? String(contentsOfFile: "\(folder)/\(entry)/stat", encoding: .utf8),
        let open = stat.firstIndex(of: "("), let close = stat.lastIndex(of: ")")
      else { continue }
      // proc(5): user and system time are the 14th and 15th fields, and the name is the second.
      let fields = stat[close...].split(separator: " ")
      guard fields.count > 13, let user = Int(fields[12]), let system = Int(fields[13]) else {
        continue
      }
      names[thread] = String(stat[stat.index(after: open)..<close])
      ticks[thread] = user + system
    }
  }

  /// Processor time by thread name, the most first; threads of one name are added up.
  var byName: [(name: String, time: Seconds)] {
    var sums: [String: Int] = [:]
    for (thread, count) in ticks { sums[names[thread] ?? "?", default: 0] += count }
    return sums.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
      .map { ($0.key, Seconds(Double($0.value) / Double(sysconf(Int32(_SC_CLK_TCK))))) }
  }
}
