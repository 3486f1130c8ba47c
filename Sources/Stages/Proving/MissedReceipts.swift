public import PipelineModel
import Hashing

/// What the records of runs say against the ledger: every receipt that one of them wrote is in it.
public struct MissedReceipts {
  /// A receipt that is not.
  public struct Missed: Hashable, Sendable {
    /// Where it was written.
    public let path: String
    /// What is wrong, in words.
    public let problem: String
  }

  /// All that are not, the newest first.
  public let all: [Missed]

  /// - Parameter isSound: whether the ledger is as it was signed. Else it is also looked at where it
  ///   says that they were written; one that lies in another folder by now was written once.
  public init(_ records: ReceiptRecords, of runs: [RunRecord], isSound: Bool) {
    let places = Dictionary(
      records.entries.compactMap { entry in entry.leaf.map { ($0, ExactText(entry.path)) } },
      uniquingKeysWith: { $1 })
    var told: Set<Digest> = []
    var all: [Missed] = []
    for run in runs {
      for file in run.published {
        guard let leaf = file.leaf, !told.contains(leaf) else { continue }
        let place = places[leaf]
        if isSound ? place != nil : place == ExactText(file.path) { continue }
        told.insert(leaf)
        let problem =
          if place != nil {
            "the run \(run.id) wrote it here, and the ledger has another path"
          } else if records.entries.isEmpty {
            "the ledger of receipts is empty, and the run \(run.id) wrote one here"
          } else {
            "the run \(run.id) wrote a receipt here that the ledger does not have"
          }
        all.append(Missed(path: file.path, problem: problem))
      }
    }
    self.all = all
  }
}
