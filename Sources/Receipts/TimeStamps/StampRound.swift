import Glibc
package import PipelineEngine
import PipelineModel
package import Platform
package import Proof
package import Store

/// Requests the pending time stamps and writes them beside their receipts. One round at a time per
/// store.
package struct StampRound: Sendable {
  /// Why a time stamp is still pending.
  package struct Trouble: Error, Hashable, Sendable {
    /// One sentence.
    package let message: String
    /// Whether the authority failed, so that retrying at once is pointless.
    package let isOfAuthority: Bool
  }

  /// Receives a stamp as it was before an attempt, and the written time stamp or why there is none.
  package typealias Report = (AwaitedStamp, Result<TimeStamp, Trouble>) -> Void

  /// The timeout of a request, in seconds.
  package static let answerPatience = 10.0

  private let store: DiskStore
  private let clock: any RunClock
  private let stop: StopRequest

  package init(_ store: DiskStore, clock: any RunClock, stop: StopRequest) {
    self.store = store
    self.clock = clock
    self.stop = stop
  }

  /// Tries every due stamp once, within the time limit. A failed authority is skipped for the rest
  /// of the round. Blocks.
  /// - Parameters:
  /// - patience: the time limit in seconds.
  /// - isEager: whether stamps that are not due yet are tried too.
  /// - report: called after every attempt.
  /// - Returns: false, without an attempt, if another round is running.
  package func run(
    patience: Double = .infinity, isEager: Bool = false, report: Report
  ) throws(SpoolError) -> Bool {
    let deadline = clock.elapsed + patience
    var result: Result<Void, SpoolError> = .success(())
    let isAlone = try store.stamps.whileStamping {
      result = Result { () throws(SpoolError) in
        try tryAll(until: deadline, isEager: isEager, report)
      }
    }
    try result.get()
    return isAlone
  }

  /// As `run`, but waits, within the time limit, while another process does its own round.
  package func runAfterOthers(
    patience: Double = .infinity, isEager: Bool = false, report: Report
  ) throws(SpoolError) {
    let deadline = clock.elapsed + patience
    while let next = try store.stamps.nextAttempt(), isEager || next <= clock.now {
      let rest = deadline - clock.elapsed
      if try run(patience: rest, isEager: isEager, report: report) { return }
      guard clock.elapsed < deadline, !stop.isRequested else { return }
      usleep(50_000)
    }
  }

  private func tryAll(
    until deadline: Double, isEager: Bool, _ report: Report
  ) throws(SpoolError) {
    let stamps = try store.stamps.awaited()
    var failed: Set<String> = []
    // Once an authority responds, its other stamps are due at once.
    var reached: Set<String> = []
    for stamp in stamps {
      let url = stamp.authority.url
      if stamp.reply == nil, failed.contains(url) { continue }
      guard
        isEager || stamp.nextAttempt <= clock.now
          || stamp.reply == nil && reached.contains(url)
      else { continue }
      let patience = min(Self.answerPatience, deadline - clock.elapsed)
      guard patience > 0, !stop.isRequested else { return }
      do throws(Trouble) {
        report(stamp, .success(try make(stamp, patience: patience)))
        reached.insert(url)
      } catch {
        // A cancelled attempt does not count.
        if stop.isRequested { return }
        if error.isOfAuthority { failed.insert(url) }
        try postpone(stamp, among: stamps, error)
        report(stamp, .failure(error))
      }
    }
  }

  private func postpone(
    _ stamp: AwaitedStamp, among stamps: [AwaitedStamp], _ trouble: Trouble
  ) throws(SpoolError) {
    // Failures of an authority count for all receipts together.
    let others = stamps.filter { trouble.isOfAuthority && $0.authority.url == stamp.authority.url }
    let before = (others + [stamp]).map(\.attempts).reduce(0, max)
    // A retry within a pause meets the same outage and does not lengthen the pause.
    let underWay = others.filter { $0.attempts > 0 && $0.nextAttempt > clock.now }
      .map(\.nextAttempt).max()
    let attempts = underWay == nil ? before + 1 : before
    try store.stamps.postpone(
      stamp, after: attempts, because: trouble.message,
      until: underWay
        ?? clock.now + Self.pause(after: attempts, chance: clock.jitter()),
      isForAll: trouble.isOfAuthority)
  }

  /// The pause after the first attempt, and the longest one, in seconds.
  private static let pauses = 60.0...6 * 3600

  /// The pause after the `attempt`th attempt, from 1, in seconds: it doubles each time.
  /// - Parameter chance: random, from 0 to 1; shortens the pause by up to a tenth, so that
  ///   simultaneous failures are not retried together.
  static func pause(after attempt: Int, chance: Double) -> Double {
    let doubled = Double(1 << min(max(attempt - 1, 0), 30)) * pauses.lowerBound
    return min(pauses.upperBound, doubled) * (1 - 0.1 * chance)
  }
}

/// One attempt: the stored reply or a new one is verified, stored, and written beside the receipt.
extension StampRound {
  /// Gets one token, unless there is one, and writes it. Blocks.
  /// - Parameter patience: the timeout in seconds.
  private func make(
    _ stamp: AwaitedStamp, patience: Double
  ) throws(Trouble) -> TimeStamp {
    let certificates: TrustedCertificates
    do throws(SpoolError) {
      certificates = try TrustedCertificates(at: stamp.authority.certificates)
    } catch {
      throw Trouble(message: Self.words(error), isOfAuthority: true)
    }
    for known in [stamp.reply.map { TimeStampReply($0) }, try? TimeStampReply(at: stamp.token)] {
      // It was verified before, and is valid unless the trusted certificates changed. A file in its
      // place that is still pending predates a restored backup.
      guard let known,
        let found = try? known.verified(for: stamp.receipt, by: certificates)
      else { continue }
      try place(known, certificates, stamp)
      return found
    }
    let (reply, found) = try ask(stamp, certificates, patience)
    let isAwaited: Bool
    do throws(SpoolError) { isAwaited = try store.stamps.keep(reply.bytes, for: stamp) } catch {
      throw Self.trouble(error)
    }
    guard isAwaited else { throw Self.trouble("the receipt \(stamp.path) was replaced meanwhile") }
    try place(reply, certificates, stamp)
    return found
  }

  private func ask(
    _ stamp: AwaitedStamp, _ certificates: TrustedCertificates, _ patience: Double
  ) throws(Trouble) -> (TimeStampReply, TimeStamp) {
    let request = TimeStampRequest(for: stamp.receipt)
    var post = HTTPRequest(
      "POST", stamp.authority.url, headers: [("Content-Type", TimeStampRequest.contentType)],
      body: .bytes(request.bytes))
    post.limit = TimeStampReply.maximumByteCount
    var settings = HTTPConnection.Settings()
    settings.connectPatience = patience
    settings.patience = patience
    let answer: HTTPResponse
    do throws(SpoolError) {
      var connection = try HTTPConnection(settings)
      answer = try connection.send(post) { _ in !stop.isRequested }
    } catch {
      let reason = error.cause == .cancelled ? error.message : error.why
      throw Trouble(message: "cannot reach \(stamp.authority.url): \(reason)", isOfAuthority: true)
    }
    guard answer.status == 200 else {
      throw Trouble(
        message: "\(stamp.authority.url) answers with the status \(answer.status)",
        isOfAuthority: true)
    }
    let reply = TimeStampReply(answer.body)
    do throws(SpoolError) {
      return (reply, try reply.accepted(for: request, by: certificates, at: clock.now))
    } catch {
      throw Trouble(
        message: "the answer of \(stamp.authority.url) is refused: \(error.reason ?? "")",
        isOfAuthority: true)
    }
  }

  /// Writes the certificates and then the token beside the receipt, and removes the pending stamp.
  private func place(
    _ reply: TimeStampReply, _ certificates: TrustedCertificates, _ stamp: AwaitedStamp
  ) throws(Trouble) {
    do throws(SpoolError) {
      guard try store.digest(ofFile: stamp.path) == stamp.receipt else {
        throw SpoolError(
          "add a time stamp to", stamp.path,
          reason: "it is not what it was when it was written")
      }
    } catch {
      throw Self.trouble(error)
    }
    let files = reply.files(
      certificates, token: stamp.token.pathNames.last ?? "")
    for (name, bytes) in files { try checkPlace(folder(of: stamp.token) + name, bytes) }
    do throws(SpoolError) {
      for (name, bytes) in files {
        let isToken = stamp.token.hasSuffix("/" + name)
        try publish(
          bytes,
          isToken
            ? ReceiptContext.stampContent(of: stamp.receipt, by: stamp.authority.url)
            : SHA256.digest(of: bytes),
          at: folder(of: stamp.token) + name)
      }
    } catch {
      throw Self.trouble(Self.words(error))
    }
    do throws(SpoolError) { try store.stamps.settle(stamp) } catch { throw Self.trouble(error) }
  }

  /// Checks all places before writing: an incomplete set would look tampered with.
  private func checkPlace(_ path: String, _ bytes: [UInt8]) throws(Trouble) {
    guard store.isForeign(path, to: SHA256.digest(of: bytes)) else { return }
    throw Self.trouble(
      "another file is at \(path), which Spool did not put there or which was changed since; "
        + "the time stamp is kept: move the file away, and \(command: .stamp) lays it there")
  }

  /// With a trailing slash.
  private func folder(of path: String) -> String {
    String(path.prefix(through: path.lastIndex(of: "/") ?? path.startIndex))
  }

  private func publish(
    _ bytes: [UInt8], _ content: Digest, at path: String
  ) throws(SpoolError) {
    if try store.isPublished(content, at: path) { return }
    _ = try store.publish(content, at: path, of: ExportSource(), isReplacing: false) {
      (temporary) throws(SpoolError) in try ReceiptBuilder.write(bytes, to: temporary)
    }
  }

  private static func words(_ error: SpoolError) -> String {
    error.message + (error.reason.map { ": \($0)" } ?? "")
  }

  private static func trouble(_ message: String) -> Trouble {
    Trouble(message: message, isOfAuthority: false)
  }

  private static func trouble(_ error: SpoolError) -> Trouble {
    trouble(words(error))
  }
}
