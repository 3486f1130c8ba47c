-- The runs that may need action, and the later ones of a pipeline, are found without reading all.
CREATE INDEX runs_by_state ON runs (state, started_at);
CREATE INDEX runs_by_pipeline ON runs (pipeline, number);
