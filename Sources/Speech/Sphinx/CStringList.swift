import Glibc

/// Texts as C programs take their arguments; they live as long as the list does, because
/// libsphinxbase keeps the pointers.
@safe struct CStringList: ~Copyable {
  let count: Int
  let pointers: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>

  init(_ texts: [String]) {
    count = texts.count
    unsafe pointers = .allocate(capacity: texts.count + 1)
    for (index, text) in texts.enumerated() {
      unsafe pointers.advanced(by: index).initialize(to: strdup(text))
    }
    unsafe pointers.advanced(by: texts.count).initialize(to: nil)
  }

  deinit {
    for index in 0..<count { unsafe free(pointers[index]) }
    unsafe pointers.deallocate()
  }
}
