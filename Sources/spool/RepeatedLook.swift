import Glibc
import Proof

/// A look at receipts and at the ledger, repeated for what seems wrong while another process works in the
/// store: receipts come and change between the look at the one and the look at the other.
struct RepeatedLook {
  private static let greatestCount = 5
  /// Microseconds between two looks.
  private static let pause: UInt32 = 200_000

  private let folder: String
  private let ledger: LedgerView
  private let receipts: [VerifiedReceipt]
  private let isBusy: Bool
  private let reload: () throws(Workbench.Refusal) -> LedgerView?

  /// - Parameters:
  ///   - folder: where the receipts were looked for.
  ///   - receipts: as they were found in themselves.
  ///   - isBusy: whether another process worked in the store before they were looked for.
  ///   - reload: gives the ledger as it is by then.
  init(
    below folder: String, _ ledger: LedgerView, _ receipts: [VerifiedReceipt], isBusy: Bool,
    reload: @escaping () throws(Workbench.Refusal) -> LedgerView?
  ) {
    self.folder = folder
    self.ledger = ledger
    self.receipts = receipts
    self.isBusy = isBusy
    self.reload = reload
  }

  /// Looks until nothing seems wrong, nobody else works in the store, or it was looked often enough.
  /// - Parameter check: checks receipts in themselves; nil where that was ended.
  func settle(
    _ check: (LedgerView, [String]) -> [VerifiedReceipt]?
  ) throws(Workbench.Refusal) -> (ledger: LedgerView, receipts: [VerifiedReceipt])? {
    var ledger = ledger
    var judged = judge(receipts, by: ledger, beside: [])
    // Only a look that nobody's work began before is the last word; what is missed and lies there came
    // between the look at the folder and the one at the ledger.
    var isBusy = isBusy
    for _ in 1..<Self.greatestCount where !judged.allSatisfy(\.isSound) {
      guard isBusy || judged.contains(where: Self.hasCome) else { break }
      usleep(Self.pause)
      isBusy = !ledger.others.isEmpty
      let sound = judged.filter(\.isSound)
      let wrong = judged.filter { !$0.isSound }.map(\.path)
      guard let again = check(ledger, wrong.filter(Self.isThere)) else { return nil }
      guard let fresh = try reload() else { break }
      ledger = fresh
      judged = judge(again, by: ledger, beside: sound)
    }
    // What came since the last look is there, and was not looked at.
    if isBusy { judged.removeAll(where: Self.hasCome) }
    return (ledger, judged)
  }

  private static func hasCome(_ receipt: VerifiedReceipt) -> Bool {
    receipt.isMissing && isThere(receipt.path)
  }

  private static func isThere(_ path: String) -> Bool {
    var status = stat()
    return unsafe lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
  }

  private func judge(
    _ receipts: [VerifiedReceipt], by ledger: LedgerView, beside sound: [VerifiedReceipt]
  ) -> [VerifiedReceipt] {
    let looked = ledger.look(for: receipts)
    // The first look keeps the order in which they were found.
    let ordered = sound.isEmpty ? looked : (sound + looked).sorted { $0.path < $1.path }
    return ordered + ledger.missing(below: folder, among: ordered)
  }
}
