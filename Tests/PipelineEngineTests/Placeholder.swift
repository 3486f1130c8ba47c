// PipelineEngineTests
