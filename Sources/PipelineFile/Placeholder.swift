// PipelineFile
