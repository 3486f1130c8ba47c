public import PipelineModel

extension PluginSession {
  /// What a session needs besides the plugin.
  public struct Setting {
    /// The program that confines plugins and then becomes them: Spool's own.
    public var launcher: String
    /// Files and folders that the plugin may read.
    public var reads: [String]
    /// Files and folders that it may write.
    public var writes: [String]
    /// Asked several times a second whether to go on.
    public var check: () throws(StageError) -> Void
    /// Told of each `progress` and `note`.
    public var hear: (PluginMessage) throws(StageError) -> Void

    /// A session that nothing disturbs.
    public init(
      launcher: String = "/proc/self/exe", reads: [String] = [], writes: [String] = [],
      check: @escaping () throws(StageError) -> Void = {},
      hear: @escaping (PluginMessage) throws(StageError) -> Void = { _ in }
    ) {
      self.launcher = launcher
      self.reads = reads
      self.writes = writes
      self.check = check
      self.hear = hear
    }
  }
}
