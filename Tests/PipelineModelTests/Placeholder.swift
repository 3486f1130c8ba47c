// PipelineModelTests
