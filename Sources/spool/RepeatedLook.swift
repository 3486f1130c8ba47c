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
  private let reload: () throws(Workbench.Refusal) -> LedgerView?

  /// - Parameters:
  ///   - folder: where the receipts were looked for.
  ///   - receipts: as they were found in themselves.
  ///   - reload: gives the ledger as it is by then.
  init(
    below folder: String, _ ledger: LedgerView, _ receipts: [VerifiedReceipt],
    reload: @escaping () throws(Workbench.Refusal) -> LedgerView?
  ) {
    self.folder = folder
    self.ledger = ledger
    self.receipts = receipts
    self.reload = reload
  }

  /// Looks until nothing seems wrong, nobody else works in the store, or it was looked often enough.
  /// - Parameter check: checks receipts in themselves; nil where that was ended.
  func settle(
    _ check: (LedgerView, [String]) -> [VerifiedReceipt]?
  ) throws(Workbench.Refusal) -> (ledger: LedgerView, receipts: [VerifiedReceipt])? {
    var ledger = ledger
    var judged = judge(receipts, by: ledger, beside: [])
    for _ in 1..<Self.greatestCount where !judged.allSatisfy(\.isSound) {
      if ledger.others.isEmpty { break }
      usleep(Self.pause)
      let sound = judged.filter(\.isSound)
      let wrong = judged.filter { !$0.isSound }.map(\.path)
      let there = wrong.filter { unsafe access($0, F_OK) == 0 }
      guard let again = check(ledger, there) else { return nil }
      guard let fresh = try reload() else { break }
      ledger = fresh
      judged = judge(again, by: ledger, beside: sound)
    }
    return (ledger, judged)
  }

  private func judge(
    _ receipts: [VerifiedReceipt], by ledger: LedgerView, beside sound: [VerifiedReceipt]
  ) -> [VerifiedReceipt] {
    let looked = sound.isEmpty ? ledger.look(for: receipts) : sound + ledger.look(for: receipts)
    let ordered = sound.isEmpty ? looked : looked.sorted { $0.path < $1.path }
    return ordered + ledger.missing(below: folder, among: ordered)
  }
}
