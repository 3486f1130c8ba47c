import Glibc
import Proof

/// Checks receipts and the log repeatedly while another process uses the store, since receipts may
/// change between the two reads.
struct RetryingCheck {
  private static let greatestCount = 5
  /// Microseconds between two checks.
  private static let pause: UInt32 = 200_000

  private let folder: String
  private let log: LogView
  private let receipts: [VerifiedReceipt]
  private let isBusy: Bool
  private let reload: () throws(CommandContext.Refusal) -> LogView?

  /// - Parameters:
  ///   - folder: the folder that was searched for receipts.
  ///   - receipts: the results of checking them individually.
  ///   - isBusy: whether another process used the store before the search.
  ///   - reload: reads the log again.
  init(
    below folder: String, _ log: LogView, _ receipts: [VerifiedReceipt], isBusy: Bool,
    reload: @escaping () throws(CommandContext.Refusal) -> LogView?
  ) {
    self.folder = folder
    self.log = log
    self.receipts = receipts
    self.isBusy = isBusy
    self.reload = reload
  }

  /// Repeats until nothing is wrong, no other process uses the store, or a limit is reached.
  /// - Parameter check: checks receipts individually; nil if that was cancelled.
  func settle(
    _ check: (LogView, [String]) -> [VerifiedReceipt]?
  ) throws(CommandContext.Refusal) -> (log: LogView, receipts: [VerifiedReceipt])? {
    var log = log
    var judged = judge(receipts, by: log, beside: [])
    // Only a check without concurrent work is final. A receipt that exists but was missed was
    // written between the two reads.
    var isBusy = isBusy
    for _ in 1..<Self.greatestCount where !judged.allSatisfy(\.isSound) {
      guard isBusy || judged.contains(where: Self.hasCome) else { break }
      usleep(Self.pause)
      isBusy = !log.others.isEmpty
      let sound = judged.filter(\.isSound)
      let wrong = judged.filter { !$0.isSound }.map(\.path)
      guard let again = check(log, wrong.filter(Self.isThere)) else { return nil }
      guard let fresh = try reload() else { break }
      log = fresh
      judged = judge(again, by: log, beside: sound)
    }
    // Receipts that appeared since are not judged.
    if isBusy { judged.removeAll(where: Self.hasCome) }
    return (log, judged)
  }

  private static func hasCome(_ receipt: VerifiedReceipt) -> Bool {
    receipt.isMissing && isThere(receipt.path)
  }

  private static func isThere(_ path: String) -> Bool {
    var status = stat()
    return unsafe lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
  }

  private func judge(
    _ receipts: [VerifiedReceipt], by log: LogView, beside sound: [VerifiedReceipt]
  ) -> [VerifiedReceipt] {
    let looked = log.look(for: receipts)
    // The first check keeps the order of the search.
    let ordered = sound.isEmpty ? looked : (sound + looked).sorted { $0.path < $1.path }
    return ordered + log.missing(below: folder, among: ordered)
  }
}
