// PipelineEngine
