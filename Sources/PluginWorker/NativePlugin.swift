/// Native plugins, as the process knows them that hosts one.
public enum NativePlugin {
  /// Serves one session with the plugin in a library.
  /// - Returns: the exit code.
  public static func serve(library path: String) -> Int32 {
    WorkerLoop.serve { (greeting) throws(EffectError) in
      try NativeEffect(NativeLibrary(path), greeting)
    }
  }
}
