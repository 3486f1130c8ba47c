package import Platform

/// How fast files are sent.
extension DeliveryQueue {
  /// When what is on its way will be there, as far as can be told.
  package struct Expectation: Hashable, Sendable {
    /// Of all destinations that are sent to.
    package internal(set) var bytesPerSecond: Double
    /// When the last of them has everything, in seconds since 1970.
    package internal(set) var end: Double
  }

  /// Seconds that a rate is the mean of.
  private static let rateWindow = 600.0
  /// The files that a rate is the mean of, at most.
  private static let rateFileLimit = 1000

  /// The bytes per second that a destination gets while something is sent to it, over the last ten minutes;
  /// nil if these are too few to tell. Pauses between files do not count. O(files that it has confirmed).
  package func rate(of destination: String) throws(SpoolError) -> Double? {
    let now = now
    let rows = try database.run(
      """
      SELECT json_extract(facts, '$.\(QueuedDelivery.File.began)'),
        iif(state = 'uploading', ?1, confirmed_at),
        iif(state = 'uploading', sent_byte_count, byte_count)
      FROM deliveries
      WHERE destination = ?2
        AND (state = 'uploading' OR state = 'delivered' AND confirmed_at > ?1 - \(Self.rateWindow))
      ORDER BY 2 DESC LIMIT \(Self.rateFileLimit)
      """, [.real(now), .text(destination)], to: Self.reading)
    var spans: [(start: Double, end: Double)] = []
    var bytes = 0.0
    for row in rows {
      let words = row[0].text?.split(separator: " ") ?? []
      guard words.count == 2, let start = Double(words[0]), let before = Double(words[1]),
        let end = row[1].real, let count = row[2].integer, start < end
      else { continue }
      spans.append((start, end))
      bytes += max(0, Double(count) - before)
    }
    // Several are sent at once.
    var (seconds, last) = (0.0, -Double.infinity)
    for span in spans.sorted(by: { $0.start < $1.start }) where span.end > last {
      seconds += span.end - max(span.start, last)
      last = span.end
    }
    return bytes > 0 && seconds > 1 ? bytes / seconds : nil
  }

  /// When destinations will have what recordings require of them; only those of which that can be told.
  /// O(files that wait).
  package func expectations() throws(SpoolError) -> [RecordingKey: Expectation] {
    let rows = try database.run(
      """
      SELECT id, destination, max(0, byte_count - sent_byte_count) FROM deliveries
      WHERE state IN ('waiting', 'uploading') ORDER BY destination, id
      """, to: Self.reading)
    if rows.isEmpty { return [:] }
    let states = try destinations()
    let now = now
    // What is to be sent up to a file, by destination and by number, and at which rate.
    var rests: [String: (rate: Double, total: Double)] = [:]
    var ends: [Int64: (destination: String, seconds: Double)] = [:]
    for row in rows {
      guard let id = row[0].integer, let name = row[1].text, let rest = row[2].integer else {
        continue
      }
      if rests[name] == nil {
        let isOpen = states[name].map { !$0.isPaused && ($0.heldUntil ?? 0) <= now } ?? true
        rests[name] = (isOpen ? try rate(of: name) ?? 0 : 0, 0)
      }
      guard var known = rests[name], known.rate > 0 else { continue }
      known.total += Double(rest)
      rests[name] = known
      ends[id] = (name, known.total / known.rate)
    }
    if ends.isEmpty { return [:] }
    let owners = try database.run(
      """
      SELECT owner, max(id) FROM delivery_owners JOIN deliveries ON id = delivery
      WHERE owner >= ?1 AND owner < ?1 || 'g' AND state IN ('waiting', 'uploading')
      GROUP BY owner, destination
      """, [.text(DeliveryOwner.recordingMark)], to: Self.reading)
    var unknown: Set<RecordingKey> = []
    var found: [RecordingKey: Expectation] = [:]
    for row in owners {
      guard case .recording(let key)? = row[0].text.flatMap(DeliveryOwner.init),
        let id = row[1].integer
      else { continue }
      guard let (name, seconds) = ends[id], let rate = rests[name]?.rate else {
        unknown.insert(key)
        continue
      }
      var expectation = found[key] ?? Expectation(bytesPerSecond: 0, end: 0)
      expectation.bytesPerSecond += rate
      expectation.end = max(expectation.end, now + seconds)
      found[key] = expectation
    }
    return found.filter { !unknown.contains($0.key) }
  }

  /// What a destination has confirmed since a time, in seconds since 1970. O(files that it has confirmed).
  package func confirmed(
    at destination: String, since time: Double
  ) throws(SpoolError) -> (count: Int, byteCount: Int) {
    let row = try database.run(
      """
      SELECT count(*), sum(byte_count) FROM deliveries
      WHERE destination = ? AND state = 'delivered' AND confirmed_at >= ?
      """, [.text(destination), .real(time)], to: Self.reading
    ).first
    return (Int(row?[0].integer ?? 0), Int(row?[1].integer ?? 0))
  }
}
