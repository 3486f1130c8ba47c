// PipelineFileTests
