extension Unicode.Scalar {
  /// Whether it shows nothing of its own and may change how the text around it is shown: control
  /// characters, which terminals obey, separators of lines, and marks that turn the direction of
  /// writing (Bidi_Control of Unicode). What joins letters and emoji is none of these.
  public var isSteering: Bool {
    switch properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator: true
    default: properties.isBidiControl
    }
  }
}
