import HTTP
import Hashing
public import PipelineEngine
public import PipelineModel
import Proof

/// Asks authorities for the time stamps that receipts wait for, and puts them beside the receipts.
/// One round at a time is under way in a store, whoever begins it.
public struct StampRound: Sendable {
  /// All that a round needs of a store.
  public typealias Store = StampQueue & FileCustody

  /// An answer takes no longer than this, in seconds.
  public static let answerPatience = 10.0

  private let store: any Store
  private let clock: any RunClock
  private let stop: StopRequest

  /// Works in a store until `stop` ends it.
  public init(_ store: any Store, clock: any RunClock, stop: StopRequest) {
    self.store = store
    self.clock = clock
    self.stop = stop
  }

  /// Tries every stamp that is due once, until time is up. An authority that failed is not asked
  /// again in this round. Blocks.
  /// - Parameters:
  ///   - patience: how long it may take in all, in seconds.
  ///   - isEager: whether those count, too, that are not due yet.
  ///   - report: told of every attempt.
  /// - Returns: false where another round is under way, and nothing was done.
  public func run(
    patience: Double = .infinity, isEager: Bool = false, report: (StampNews) -> Void
  ) throws(StoreError) -> Bool {
    let deadline = clock.elapsed + patience
    var result: Result<Void, StoreError> = .success(())
    let isAlone = try store.whileStamping {
      result = Result { () throws(StoreError) in
        try tryAll(until: deadline, isEager: isEager, report)
      }
    }
    try result.get()
    return isAlone
  }

  private func tryAll(
    until deadline: Double, isEager: Bool, _ report: (StampNews) -> Void
  ) throws(StoreError) {
    let stamps = try store.awaitedStamps()
    var failed: Set<String> = []
    // Where an authority is back, what waits for it does not wait on.
    var reached: Set<String> = []
    for stamp in stamps {
      let url = stamp.authority.url
      if stamp.reply == nil, failed.contains(url) { continue }
      guard isEager || stamp.nextAttempt <= clock.now || reached.contains(url) else { continue }
      let patience = min(Self.answerPatience, deadline - clock.elapsed)
      guard patience > 0, !stop.isRequested else { return }
      do throws(StampTrouble) {
        report(StampNews(stamp: stamp, outcome: .success(try complete(stamp, patience))))
        reached.insert(url)
      } catch {
        // Whoever asked to stop did not try.
        if stop.isRequested { return }
        if error.isOfAuthority { failed.insert(url) }
        try postpone(stamp, among: stamps, error)
        report(StampNews(stamp: stamp, outcome: .failure(error)))
      }
    }
  }

  private func postpone(
    _ stamp: AwaitedStamp, among stamps: [AwaitedStamp], _ trouble: StampTrouble
  ) throws(StoreError) {
    // Each failure of an authority may be another receipt's, and they count together.
    let others = stamps.filter { trouble.isOfAuthority && $0.authority.url == stamp.authority.url }
    let attempts = (others + [stamp]).map(\.attempts).reduce(0, max) + 1
    try store.postpone(
      stamp, after: attempts, because: trouble.message,
      until: clock.now + StampBackoff.pause(after: attempts, chance: clock.jitter()),
      isForAll: trouble.isOfAuthority)
  }

  /// Gets one token, if there is none yet, and puts it into its place.
  private func complete(
    _ stamp: AwaitedStamp, _ patience: Double
  ) throws(StampTrouble) -> TimeStamp {
    let certificates: TrustedCertificates
    do throws(ProofError) {
      certificates = try TrustedCertificates(at: stamp.authority.certificates)
    } catch {
      throw StampTrouble(message: Self.words(error), isOfAuthority: true)
    }
    // One that was kept was checked before; it counts unless other certificates are trusted now.
    if let kept = stamp.reply.map({ TimeStampReply($0) }),
      let known = try? kept.verified(for: stamp.receipt, by: certificates)
    {
      try place(kept, certificates, stamp)
      return known
    }
    let (reply, found) = try ask(stamp, certificates, patience)
    let isAwaited: Bool
    do throws(StoreError) { isAwaited = try store.keep(reply.bytes, for: stamp) } catch {
      throw Self.trouble(error)
    }
    guard isAwaited else {
      throw Self.trouble("the receipt \(stamp.path) was replaced meanwhile")
    }
    try place(reply, certificates, stamp)
    return found
  }

  private func ask(
    _ stamp: AwaitedStamp, _ certificates: TrustedCertificates, _ patience: Double
  ) throws(StampTrouble) -> (TimeStampReply, TimeStamp) {
    let request = TimeStampRequest(for: stamp.receipt)
    var post = HTTPPost(
      request.bytes, of: TimeStampRequest.contentType, to: stamp.authority.url)
    post.limit = TimeStampReply.maximumByteCount
    post.patience = patience
    let answer: HTTPPost.Answer
    do throws(HTTPError) {
      answer = try post.send { !stop.isRequested }
    } catch {
      throw StampTrouble(
        message: "cannot reach \(stamp.authority.url): \(error.reason)", isOfAuthority: true)
    }
    guard answer.status == 200 else {
      throw StampTrouble(
        message: "\(stamp.authority.url) answers with the status \(answer.status)",
        isOfAuthority: true)
    }
    let reply = TimeStampReply(answer.body)
    do throws(ProofError) {
      return (reply, try reply.accepted(for: request, by: certificates, at: clock.now))
    } catch {
      throw StampTrouble(
        message: "the answer of \(stamp.authority.url) is refused: \(error.reason ?? "")",
        isOfAuthority: true)
    }
  }

  /// Writes certificates and token beside the receipt, the token last, and strikes what waited.
  private func place(
    _ reply: TimeStampReply, _ certificates: TrustedCertificates, _ stamp: AwaitedStamp
  ) throws(StampTrouble) {
    do throws(StoreError) {
      guard try store.digest(ofFile: stamp.path) == stamp.receipt else {
        throw StoreError(
          "add a time stamp to", path: stamp.path,
          reason: "it is not what it was when it was written")
      }
    } catch {
      throw Self.trouble(error)
    }
    let files = TimeStampFiles(
      reply, certificates, token: stamp.token.split(separator: "/").last.map(String.init) ?? "")
    do throws(StageError) {
      for (name, bytes) in files.all {
        let isToken = stamp.token.hasSuffix("/" + name)
        try publish(
          bytes,
          isToken
            ? StampDesk.content(of: stamp.receipt, by: stamp.authority.url)
            : SHA256.digest(of: bytes),
          at: folder(of: stamp.token) + name)
      }
    } catch {
      throw Self.trouble(error.message + (error.reason.map { ": \($0)" } ?? ""))
    }
    do throws(StoreError) { try store.settle(stamp) } catch { throw Self.trouble(error) }
  }

  /// With the slash at its end.
  private func folder(of path: String) -> String {
    String(path.prefix(through: path.lastIndex(of: "/") ?? path.startIndex))
  }

  private func publish(
    _ bytes: [UInt8], _ content: Digest, at path: String
  ) throws(StageError) {
    do throws(StoreError) {
      if try store.isPublished(content, at: path) { return }
    } catch {
      throw StageError(error)
    }
    _ = try store.publish(content, at: path, of: nil, isReplacing: false) {
      (temporary) throws(StageError) in try ReceiptDesk.write(bytes, to: temporary)
    }
  }

  private static func trouble(_ message: String) -> StampTrouble {
    StampTrouble(message: message, isOfAuthority: false)
  }

  private static func trouble(_ error: StoreError) -> StampTrouble {
    trouble("cannot \(error.action) \(error.path): \(error.reason)")
  }

  private static func words(_ error: ProofError) -> String {
    error.message + (error.reason.map { ": \($0)" } ?? "")
  }
}
