// DSPTests
