/// Working memory that a kernel keeps for its life: zeroed plain numbers, aligned to 64 bytes and
/// freed with their owner.
@safe struct Scratch<Element: BitwiseCopyable>: ~Copyable {
  /// The first element; valid while this value lives.
  @unsafe let start: UnsafeMutablePointer<Element>
  let count: Int

  /// Allocates `count` elements, all `value`.
  init(repeating value: Element, count: Int) {
    let raw = UnsafeMutableRawPointer.allocate(
      byteCount: max(count, 1) * MemoryLayout<Element>.stride, alignment: 64)
    unsafe start = raw.bindMemory(to: Element.self, capacity: max(count, 1))
    unsafe start.initialize(repeating: value, count: max(count, 1))
    self.count = count
  }

  deinit { unsafe start.deallocate() }

  subscript(index: Int) -> Element {
    get {
      precondition(index >= 0 && index < count)
      return unsafe start[index]
    }
    nonmutating set {
      precondition(index >= 0 && index < count)
      unsafe start[index] = newValue
    }
  }
}
