import CSpoolPlugin
import Glibc
import JSONText

/// What a native effect is made for, in C's form. Whoever makes it frees it.
@safe struct NativeSetting {
  /// What `create` is given.
  var setting = unsafe spool_setting()
  private var texts: [UnsafeMutablePointer<CChar>] = unsafe []
  private let parameters: UnsafeMutablePointer<spool_parameter>
  private let reason: UnsafeMutablePointer<CChar>
  private static let reasonSize = 1024

  init(_ greeting: WorkerLoop.Greeting) {
    var members: [String: JSONValue] = [:]
    if case .object(let all) = greeting.parameters { members = all }
    unsafe parameters = .allocate(capacity: max(1, members.count))
    unsafe reason = .allocate(capacity: Self.reasonSize)
    unsafe reason.initialize(repeating: 0, count: Self.reasonSize)
    var count = 0
    for (name, value) in members.sorted(by: { $0.key < $1.key }) {
      let (number, text): (Double, String?)
      switch value {
      case .number(let digits): (number, text) = (Double(digits) ?? 0, nil)
      case .boolean(let flag): (number, text) = (flag ? 1 : 0, nil)
      case .text(let words): (number, text) = (0, words)
      default: continue
      }
      let parameter = unsafe spool_parameter(
        name: keep(name), number: number, text: text.flatMap { unsafe UnsafePointer(keep($0)) })
      unsafe (parameters + count).initialize(to: parameter)
      count += 1
    }
    unsafe setting.kind = unsafe UnsafePointer(keep(greeting.kind))
    unsafe setting.folder = unsafe UnsafePointer(keep(greeting.folder))
    unsafe setting.rate = greeting.rate
    unsafe setting.channels = UInt32(greeting.channelCount)
    unsafe setting.block_frames = UInt32(greeting.blockFrames)
    unsafe setting.parameters = unsafe UnsafePointer(parameters)
    unsafe setting.parameter_count = count
    unsafe setting.reason = unsafe reason
    unsafe setting.reason_size = Self.reasonSize
  }

  /// What `create` wrote; nil where it wrote nothing.
  var reasonText: String? {
    unsafe reason[Self.reasonSize - 1] = 0
    let text = unsafe String(cString: reason)
    return text.isEmpty ? nil : text
  }

  /// Ends it.
  func free() {
    unsafe texts.forEach { text in unsafe Glibc.free(text) }
    unsafe parameters.deallocate()
    unsafe reason.deallocate()
  }

  private mutating func keep(_ text: String) -> UnsafeMutablePointer<CChar>? {
    let copy = unsafe strdup(text)
    if let copy = unsafe copy { unsafe texts.append(copy) }
    return unsafe copy
  }
}
