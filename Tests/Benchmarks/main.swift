if CommandLine.arguments.dropFirst().contains("dsp") {
  runDSPBenchmarks()
} else {
  print("benchmarks")
}
