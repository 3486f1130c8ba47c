import HTTP
import Hashing
import PipelineEngine
import PipelineModel
import Proof

/// One attempt to get a time stamp: the answer that is there or an authority gives now, checked, kept
/// in the store, and put beside the receipt.
struct StampAttempt {
  let store: any StampRound.Store
  let clock: any RunClock
  let stop: StopRequest

  /// Gets one token, if there is none yet, and puts it into its place. Blocks.
  /// - Parameter patience: how long an answer may take, in seconds.
  func make(
    _ stamp: AwaitedStamp, patience: Double
  ) throws(StampTrouble) -> TimeStamp {
    let certificates: TrustedCertificates
    do throws(ProofError) {
      certificates = try TrustedCertificates(at: stamp.authority.certificates)
    } catch {
      throw StampTrouble(message: Self.words(error), isOfAuthority: true)
    }
    for known in [stamp.reply.map { TimeStampReply($0) }, try? TimeStampReply(at: stamp.token)] {
      // It was checked before, and counts unless other certificates are trusted now. What lies in
      // its place and is still waited for comes from before a backup was restored.
      guard let known,
        let found = try? known.verified(for: stamp.receipt, by: certificates)
      else { continue }
      try place(known, certificates, stamp)
      return found
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
    for (name, bytes) in files.all { try checkPlace(folder(of: stamp.token) + name, bytes) }
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

  /// Makes sure of the place of each before any is written: a token without the rest, or the rest
  /// without the token, would be taken for one that was tampered with.
  private func checkPlace(_ path: String, _ bytes: [UInt8]) throws(StampTrouble) {
    guard store.isForeign(path, to: SHA256.digest(of: bytes)) else { return }
    throw Self.trouble(
      "another file is at \(path), which Spool did not put there or which was changed since; "
        + "the time stamp is kept: move the file away, and spool stamp lays it there")
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
