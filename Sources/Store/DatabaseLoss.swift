/// What is said of a store's database that is lost or damaged: the same words wherever it is noticed.
enum DatabaseLoss {
  /// The cause where there is no file.
  static let gone = "it is gone"
  /// The cause where the file says nothing.
  static let empty = "there is nothing in it"

  /// What happened, in one sentence; `cause` is in SQLite's own words where it has some.
  static func line(_ cause: String) -> String { "the store's database was lost (\(cause))" }

  /// What it is made again from.
  /// - Parameter slot: the backup that it begins with; nil where there is no good one.
  static func source(_ slot: Int?) -> String {
    slot.map { "backup \($0) and the records beside it" } ?? "the records that lie beside it"
  }
}
