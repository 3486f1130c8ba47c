import PipelineModel
import Proof
import Stages

/// A time stamp that came or is waited for, as `--json` shows it.
struct StampLine: Encodable {
  private let event: String
  private let receipt: String
  private let authority: String
  private let token: String
  private var time: String?
  private var signer: String?
  private var since: Double?
  private var attempts: Int?
  private var nextAttempt: Double?
  private var trouble: String?

  /// One that came.
  init(_ stamp: AwaitedStamp, _ found: TimeStamp) {
    self.init("stamped", stamp)
    time = found.timeText
    signer = found.authority
  }

  /// One that is waited for.
  init(waiting stamp: AwaitedStamp) {
    self.init("waiting-for-stamp", stamp)
    since = stamp.since
    attempts = stamp.attempts
    nextAttempt = stamp.nextAttempt
    trouble = stamp.trouble
  }

  private init(_ event: String, _ stamp: AwaitedStamp) {
    self.event = event
    receipt = stamp.path
    authority = stamp.authority.url
    token = stamp.token
  }
}
