internal import Glibc
public import PipelineModel

/// Something that custody could not do: what, to what, why, and what to do next.
public struct CustodyError: Error, Hashable, Sendable {
  /// What was being done: `move`.
  public let action: String
  /// What it was being done to, in a form that can be shown.
  public let path: String
  /// Why it failed, in the system's own words where it has some.
  public let reason: String
  /// What the user can do.
  public let advice: String?
  /// Whether all it wants is room on a disk.
  public let isFullDisk: Bool
  /// What kind of trouble with a file of the inbox it is; nil where it lies elsewhere.
  public let kind: InboxError.Kind?

  init(
    _ action: String, _ path: String, reason: String, advice: String? = nil,
    isFullDisk: Bool = false, kind: InboxError.Kind? = nil
  ) {
    self.action = action
    self.path = path
    self.reason = reason
    self.advice = advice
    self.isFullDisk = isFullDisk
    self.kind = kind
  }

  /// A failure of the inbox, as custody's.
  public init(_ error: InboxError) {
    self.init(
      error.action, error.path, reason: error.reason, advice: error.advice, kind: error.kind)
  }

  /// A failure of the store, as custody's.
  public init(_ error: StoreError) {
    self.init(
      error.action, error.path, reason: error.reason, advice: error.advice,
      isFullDisk: error.isFullDisk)
  }

  /// A system call's failure.
  init(_ action: String, _ path: String, _ error: SystemError) {
    let advice =
      error.isFullDisk ? "free some space on the disk that holds it" : error.advice
    self.init(
      action, path, reason: error.words, advice: advice, isFullDisk: error.isFullDisk,
      kind: InboxError(action, path, error).kind)
  }
}

extension CustodyError: CustomStringConvertible {
  /// One line for people.
  public var description: String {
    "cannot \(action) \(path): \(reason)" + (advice.map { " (\($0))" } ?? "")
  }
}

extension SystemError {
  /// Whether a disk, or the user's share of it, is full.
  var isFullDisk: Bool { code == ENOSPC || code == EDQUOT }
}

/// Runs calls that belong to the store, as custody's.
func inStore<Result: ~Copyable>(
  _ work: () throws(StoreError) -> Result
) throws(CustodyError) -> Result {
  do throws(StoreError) {
    return try work()
  } catch {
    throw CustodyError(error)
  }
}

/// Runs calls that belong to the inbox, as custody's.
func inInbox<Result: ~Copyable>(
  _ work: () throws(InboxError) -> Result
) throws(CustodyError) -> Result {
  do throws(InboxError) {
    return try work()
  } catch {
    throw CustodyError(error)
  }
}
