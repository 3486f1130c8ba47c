/// An affine transform of the means of densities that brings them nearest to what was heard:
/// maximum likelihood linear regression (Leggetter and Woodland 1995), for diagonal covariances.
///
/// Each row has its own equations, whose unknowns are a constant and a factor for each coefficient:
/// the sum over all densities of count × precision × (1, mean)(1, mean)ᵀ times the row is the sum of
/// precision × features heard × (1, mean).
struct MeanTransform {
  /// The equations of the rows, as sums over densities.
  struct Equations {
    fileprivate static let size = DensityCodebooks.width + 1
    /// By row, the lower triangle of the matrix.
    fileprivate var matrices = Array(
      repeating: [Double](repeating: 0, count: size * (size + 1) / 2),
      count: DensityCodebooks.width)
    fileprivate var sides = Array(
      repeating: [Double](repeating: 0, count: size), count: DensityCodebooks.width)

    init() {}

    /// Adds a density that explains `count` frames, whose features sum up to `sum`.
    mutating func add(
      count: Float, sum: (Int) -> Float, mean: (Int) -> Float, precision: (Int) -> Float
    ) {
      var extended = [Double](repeating: 1, count: Self.size)
      for index in 1..<Self.size { extended[index] = Double(mean(index - 1)) }
      for row in matrices.indices {
        let precision = Double(precision(row))
        let weight = Double(count) * precision
        let heard = Double(sum(row)) * precision
        var place = 0
        for line in 0..<Self.size {
          let factor = weight * extended[line]
          sides[row][line] += heard * extended[line]
          for column in 0...line {
            matrices[row][place] += factor * extended[column]
            place += 1
          }
        }
      }
    }

    /// All of both.
    static func + (a: Equations, b: Equations) -> Equations {
      var sum = a
      for row in sum.matrices.indices {
        for index in sum.matrices[row].indices {
          sum.matrices[row][index] += b.matrices[row][index]
        }
        for index in sum.sides[row].indices { sum.sides[row][index] += b.sides[row][index] }
      }
      return sum
    }
  }

  /// By row, the constant and the factors of the coefficients.
  private let rows: [[Float]]

  /// Solves the equations; nil where they determine nothing.
  ///
  /// Complexity: O(*n*⁴) in the number of coefficients.
  init?(solving equations: Equations) {
    var rows: [[Float]] = []
    for (matrix, side) in zip(equations.matrices, equations.sides) {
      guard let row = Self.solve(matrix, side) else { return nil }
      rows.append(row.map { Float($0) })
    }
    self.rows = rows
  }

  /// Solves a symmetric, positive definite system of equations (Cholesky), of which the lower triangle
  /// is given.
  private static func solve(_ matrix: [Double], _ side: [Double]) -> [Double]? {
    func place(_ row: Int, _ column: Int) -> Int { row * (row + 1) / 2 + column }
    var factor = matrix
    var result = side
    for row in side.indices {
      for column in 0...row {
        var sum = factor[place(row, column)]
        for index in 0..<column { sum -= factor[place(row, index)] * factor[place(column, index)] }
        if row == column {
          guard sum > 0 else { return nil }
          factor[place(row, row)] = sum.squareRoot()
        } else {
          factor[place(row, column)] = sum / factor[place(column, column)]
        }
      }
      for index in 0..<row { result[row] -= factor[place(row, index)] * result[index] }
      result[row] /= factor[place(row, row)]
    }
    for row in side.indices.reversed() {
      for index in row + 1..<side.count { result[row] -= factor[place(index, row)] * result[index] }
      result[row] /= factor[place(row, row)]
    }
    return result
  }

  /// Moves the means of a group of four densities.
  func move(_ group: Int, of densities: inout DensityCodebooks) {
    var means: [SIMD4<Float>] = []
    means.reserveCapacity(rows.count)
    for row in rows {
      var mean = SIMD4<Float>(repeating: row[0])
      for index in rows.indices { mean += row[index + 1] * densities[group, index] }
      means.append(mean)
    }
    for (index, mean) in means.enumerated() { densities[group, index] = mean }
  }
}
