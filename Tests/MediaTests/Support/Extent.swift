import Foundation
import Media
import TestSupport

extension ScratchFolder {
  /// What a file with these bytes holds of what it declares.
  func extent(_ bytes: Data) throws -> ContainerExtent {
    let path = file("x")
    try bytes.write(to: URL(fileURLWithPath: path))
    return ContainerExtent(ofFileAt: path)
  }
}

func isIncomplete(_ extent: ContainerExtent) -> Bool {
  if case .incomplete = extent { true } else { false }
}
